"""The entries of the two arrays of the betting: the rules of a game, and the state of a hand.

Both are flat int64 arrays; each constant names an entry. Where an array has an entry for each seat or street, the
constant, such as ``STACK``, is the index of seat 0 or street 0. The kernels are in `betting_state`. A process that only
reads states imports this module alone, and so starts without numba.
"""

FOLD = 0
CALL = 1

# Entries of the rules array.
NUM_SEATS = 0
NUM_STREETS = 1
IS_LIMIT = 2
MIN_BET = 3
NUM_HOLE_CARDS = 4
NUM_BOARD_CARDS = 5
STACK = 6
BLIND = 16
FIRST_SEAT = 26
RAISE_SIZE = 30
MAX_RAISES = 34
RULES_SIZE = 38

# Entries of the state array.
STREET = 0
ACTOR = 1  # -1 when the hand is over
CAN_FOLD = 2
MIN_RAISE = 3  # lowest and (next entry) highest legal raise-to total; both 0 when no raise is legal
MAX_RAISE = 4
MAX_CONTRIB = 5
NEXT_RAISE = 6  # the lowest raise-to total for a seat with enough chips
NUM_RAISES = 7  # on this street
NUM_ACTIONS = 8  # on this street
NUM_CALLED = 9  # seats with chips left that made the street's last raise, or have checked or called since
NUM_LIVE = 10  # seats that have not folded
NUM_ACTING = 11  # live seats with chips left
ACTING = 12  # the live seats with chips left, as a bit set
CONTRIB = 13
FOLDED = 23
STATE_SIZE = 33

MAX_STREET_ACTIONS = 64  # limit of `universal_poker`: no raise unless every seat can still answer it

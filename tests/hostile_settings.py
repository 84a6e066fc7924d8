"""Settings files that nobody meant to write: valid ones with a value, a line or some bytes changed."""

import random

VALUES = (
    *"-1 0 1 2 3.5 1e308 1e999 nan inf -inf 9223372036854775808 true 1979-05-27 07:32:00".split(),
    "1" + "0" * 400,
    "1" * 5000,
    *"[] {} [1] ['histogram'] [[]] [nan,inf] { \"\"\" '' 'x' 'histogram' 'random' 'AA' 'exact' 'buckets' '2c'".split(),
    *"['call','call'] ['a',1] {a=1} {bet='1p'} 'AsKsQs' 'kuhn' 'leduc' 'universal_poker((' 'call' [[1]]".split(),
    *(r'"\u0000"', r'"\u001b[31m\u0007"', r'"\n"', r'"\ud800"', "'" + "y" * 9000 + "'"),
    *("[" * 100 + "]" * 100, "[" * 5000 + "]" * 5000, "[" * 5000, "{ a = " * 300 + "1" + " }" * 300),
)
LINES = (
    ".".join("a" * 5000) + " = 1",
    "[" + ".".join("b" * 3000) + "]",
    "[[seed]]",
    "[menu]",
    "[flop]",
    "[solve]",
    "unknown = 1",
    "seed = 1\nseed = 2",
    '"" = 1',
    '"\\u001b[31m" = 1',
    "\x00",
    "\x1b[31m",
    "= 3",
)


def hostile_settings(texts, number, *, seed=0):
    """Yield the bytes of `number` files made of valid ones."""
    rng = random.Random(seed)
    for _ in range(number):
        lines = rng.choice(texts).splitlines()
        for _ in range(rng.choice((1, 1, 1, 2, 5))):
            _change_line(lines, rng)
        content = "\n".join(lines).encode()
        if rng.random() < 0.15:
            content = _change_bytes(content, rng)
        yield content


def _change_line(lines, rng):
    place = rng.randrange(len(lines))
    kind = rng.choice(("value", "value", "value", "value", "delete", "repeat", "insert", "swap"))
    if kind == "value":
        settings = [k for k, line in enumerate(lines) if "=" in line and not line.startswith("#")]
        if settings:
            place = rng.choice(settings)
            lines[place] = f"{lines[place].split('=')[0]}= {rng.choice(VALUES)}"
    elif kind == "delete" and len(lines) > 1:
        del lines[place]
    elif kind == "repeat":
        lines.insert(rng.randrange(len(lines) + 1), lines[place])
    elif kind == "insert":
        lines.insert(place, rng.choice(LINES))
    else:
        other = rng.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]


def _change_bytes(content, rng):
    damaged = bytearray(content or b" ")
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(damaged))
        kind = rng.randrange(3)
        if kind == 0:
            damaged[place] = rng.randrange(256)
        elif kind == 1:
            damaged[place:place] = rng.randbytes(rng.randrange(1, 9))
        elif place:
            del damaged[place:]
    return bytes(damaged)

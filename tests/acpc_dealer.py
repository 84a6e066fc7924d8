"""An ACPC dealer for tests, written from the protocol's rules. OpenSpiel, whose states are the ACPC's, deals the hands.

It serves clients on loopback, one port each, moves everybody one seat on after each hand, sends each state to each
client after each action, and keeps a log in the form of the ACPC's dealer.
"""

import re
import socket
import threading

import numpy as np
import pyspiel

from plurispiel.abstraction.holdem.openspiel import OpenSpielGame, load_game


class Dealer(threading.Thread):
    """Deals a match in a thread; `join` waits for its end.

    Parameters
    ----------
    game : str
        The name of the game file for the log.
    num_clients : int
        The first players at the table; the others act at random.
    ends_at : (int, int), optional
        A hand, from which on the connections are closed after this number of actions in a hand.
    spoil : callable, optional
        Changes the lines sent.
    """

    def __init__(self, rules, game, num_hands, num_clients=1, seed=1, ends_at=None, spoil=None):
        super().__init__(daemon=True)
        self.rules, self.num_hands, self.ends_at = rules, num_hands, ends_at
        self.log = [f"# name/game/hands/seed test {game} {num_hands} {seed}"]
        self.troubles = []
        self._spoil = spoil or (lambda line: line)
        self._rng = np.random.default_rng(seed)
        self._game = OpenSpielGame(load_game(rules))
        self._listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(num_clients)]
        self.ports = [listener.getsockname()[1] for listener in self._listeners]
        self.start()

    def run(self):
        self._clients = []
        for listener in self._listeners:
            listener.settimeout(60.0)
            client, _ = listener.accept()
            listener.close()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.settimeout(60.0)
            self._clients.append(client.makefile("rwb"))
            client.close()  # the file stays open
        try:
            for client in self._clients:
                if not re.fullmatch(rb"VERSION:2\.\d+\.\d+\r?\n", line := client.readline()):
                    self.troubles.append(line)
            totals = np.zeros(self.rules.num_seats)
            if all(self._play(number, totals) for number in range(self.num_hands)):
                names = "|".join(f"p{player}" for player in range(len(totals)))
                self.log.append(f"SCORE:{'|'.join(f'{chips:g}' for chips in totals)}:{names}")
        except Exception as error:
            self.troubles.append(error)
        finally:
            for client in self._clients:
                try:
                    client.close()
                except OSError:
                    pass

    def _play(self, number, totals):
        """Play a hand; False if the match ends in its midst."""
        rules = self.rules
        deck = self._rng.permutation(rules.cards)[: rules.num_dealt_cards].tolist()
        players = [(seat + rules.num_seats - number) % rules.num_seats for seat in range(rules.num_seats)]
        actions = []
        while True:
            state = self._game.replay(deck, actions)
            betting, cards = re.search(r"ACPC State: STATE:\d+:(.*):(.*)", str(state)).groups()
            lines = [self._told(state, seat, number, betting, cards) for seat in range(rules.num_seats)]
            for seat, player in enumerate(players):
                if player < len(self._clients):
                    self._clients[player].write(self._spoil(lines[seat]).encode() + b"\r\n")
                    self._clients[player].flush()
            if state.is_terminal():
                break
            if self.ends_at is not None and number >= self.ends_at[0] and len(actions) == self.ends_at[1]:
                return False
            seat = state.current_player()
            actions.append(self._action(state, players[seat], lines[seat]))
        totals[players] += state.returns()
        chips = "|".join(f"{each:.6f}".rstrip("0").rstrip(".") for each in state.returns())
        self.log.append(f"STATE:{number}:{betting}:{cards}:{chips}:{'|'.join(f'p{player}' for player in players)}")
        return True

    def _told(self, state, seat, number, betting, cards):
        """The line for a seat: no foreign cards but those of a showdown."""
        holes, slash, board = cards.partition("/")
        folded = self._folded(betting)
        shows = state.is_terminal() and len(folded) < self.rules.num_seats - 1
        shown = [
            hole if other == seat or (shows and other not in folded) else ""
            for other, hole in enumerate(holes.split("|"))
        ]
        return f"MATCHSTATE:{seat}:{number}:{betting}:{'|'.join(shown)}{slash}{board}"

    def _folded(self, betting):
        """The seats that have folded."""
        state = self._game.replay(list(range(self.rules.num_dealt_cards)), [])
        folded, done = set(), []
        for move in re.findall(r"[fcr]\d*", betting):
            action = {"f": 0, "c": 1}.get(move[0], int(move[1:] or 2))
            if action == 0:
                folded.add(state.current_player())
            done.append(action)
            state = self._game.replay(list(range(self.rules.num_dealt_cards)), done)
        return folded

    def _action(self, state, player, line):
        """Return the answer to a line: of a client, which must be legal, or at random."""
        legal = state.legal_actions()
        if player >= len(self._clients):
            sizes = [action for action in legal if action > 1]
            choices = [action for action in legal if action < 2] * 2 + sizes[:1] + sizes[-1:]
            return int(self._rng.choice(choices))
        answer = self._clients[player].readline().decode()
        begin, _, move = answer.rstrip("\r\n").rpartition(":")
        action = {"f": 0, "c": 1}.get(move) if move in ("f", "c") else int(move[1:] or 2)
        if begin != line or action not in legal:
            self.troubles.append(answer)
            raise pyspiel.SpielError(answer)
        return action

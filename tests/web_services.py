"""Stand-ins for Slumbot and for GTO Wizard's benchmark: real HTTP on loopback, written from the documented forms.

They deal with this package's engine, against an opponent that plays at random, and keep an account of every hand.
"""

import http.server
import json
import ssl
import threading
import time
import uuid

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import card_text
from plurispiel.abstraction.holdem.rules import HUNL

KEY = "secret-key-0123456789"
SLOW = "slow"
CLOSED = "closed"


class Hand:
    """One hand, with its history in the form of the chips of a street."""

    def __init__(self, rng, seat, end_of_street):
        deck = rng.permutation(HUNL.cards)[: HUNL.num_dealt_cards]
        self.deck, self.cards = deck.astype(np.uint8), deck.tolist()
        self.seat, self.rng, self.end_of_street = seat, rng, end_of_street
        self.state = BettingState(HUNL)
        self.history = []
        self.street_chips = [100, 50]
        self.answer_of_opponent()

    @property
    def is_over(self):
        return self.state.is_over

    @property
    def is_showdown(self):
        return self.is_over and not any(self.state.folded)

    @property
    def winnings(self):
        return float(self.state.payoffs(self.deck)[self.seat]) if self.is_over else None

    def holes(self, seat):
        return [card_text(card) for card in self.cards[2 * seat : 2 * seat + 2]]

    @property
    def board(self):
        shown = 5 if self.is_showdown else {0: 0, 1: 3, 2: 4, 3: 5}[self.history.count(self.end_of_street)]
        return [card_text(card) for card in self.cards[4 : 4 + shown]]

    def take(self, move, chips):
        """Take an action of whoever is to act; ValueError if it is not legal."""
        state, actor = self.state, self.state.actor
        street = state.street
        owed = max(self.street_chips) - self.street_chips[actor]
        if move == "b":
            spent_before = state.contributions[actor] - self.street_chips[actor]
            state.apply(spent_before + chips)
            self.street_chips[actor] = chips
        elif (move == "k") == (owed > 0) and move != "f":
            raise ValueError("illegal")
        else:
            state.apply(0 if move == "f" else 1)
            self.street_chips[actor] += 0 if move == "f" else owed
        self.history.append(f"b{chips}" if move == "b" else move)
        if self.is_showdown:
            self.history += [self.end_of_street] * (3 - street)
        elif state.street != street and not state.is_over:
            self.history.append(self.end_of_street)
            self.street_chips = [0, 0]

    def answer_of_opponent(self):
        state = self.state
        while not state.is_over and state.actor != self.seat:
            actor = state.actor
            owed = max(self.street_chips) > self.street_chips[actor]
            moves = ["c", "c", "f"] if owed else ["k", "k"]
            moves += ["b"] if state.max_raise else []
            move = self.rng.choice(moves)
            before = state.contributions[actor] - self.street_chips[actor]
            sizes = [state.min_raise, min(3 * state.min_raise, state.max_raise), state.max_raise]
            self.take(move, int(self.rng.choice(sizes, p=[0.5, 0.4, 0.1])) - before)


class Service(http.server.ThreadingHTTPServer):
    """Serves one of the services in a thread.

    `spoil(number, path, status, data)` may return another status and data of request `number`, `SLOW` or `CLOSED`, and
    None for no change. `before(number, path)` is called before a request is carried out, and may return a status.
    """

    daemon_threads = True
    shows_folded = True

    def __init__(self, seed=1, spoil=None, before=None, certificate=None):
        super().__init__(("127.0.0.1", 0), _Handler)
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.rng = np.random.default_rng(seed)
        self.spoil, self.before = spoil or (lambda *_: None), before or (lambda *_: None)
        self.requests = []
        self.finished = []  # the net chips of every hand that is over, in order
        self.hands = []
        self.troubles = []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def deal(self, end_of_street):
        hand = Hand(self.rng, (len(self.hands) + 1) % 2, end_of_street)
        self.hands.append(hand)
        return self.settle(hand)

    def settle(self, hand):
        if hand.is_over:
            self.finished.append(hand.winnings)
        return hand

    def act(self, hand, move, chips):
        hand.take(move, chips)
        hand.answer_of_opponent()
        return self.settle(hand)

    def handle_error(self, request, client_address):
        """Print nothing: clients may leave."""


class Slumbot(Service):
    def answer(self, method, path, body, headers):
        if method != "POST" or path not in ("/api/new_hand", "/api/act"):
            return 404, {}
        if path == "/api/new_hand":
            old = body.get("token")
            if old is not None and old != self.token:
                return 200, {"error_msg": "Unknown token"}
            hand = self.hand = self.deal("/")
            before = ""
        else:
            hand = self.hand
            if body["token"] != self.token:
                return 200, {"error_msg": "Unknown token"}
            before = "".join(hand.history)
            move, size = body["incr"][0], body["incr"][1:]
            try:
                self.act(hand, move, int(size or 0))
            except ValueError as error:
                return 200, {"error_msg": f"Illegal action: {error}"}
        self.token = str(uuid.UUID(int=len(self.requests)))  # a new one each time
        reply = {"old_action": before, "action": "".join(hand.history), "client_pos": hand.seat}
        reply |= {"hole_cards": hand.holes(hand.seat), "board": hand.board, "token": self.token}
        if hand.is_over:
            reply |= {"bot_hole_cards": hand.holes(1 - hand.seat), "winnings": int(hand.winnings), "won_pot": 0}
        return 200, reply


class GtoWizard(Service):
    names_bot = True

    def answer(self, method, path, body, headers):
        path, _, _ = path.partition("?")
        if headers.get("X-API-KEY") != KEY:
            return 403, {"detail": f"no such key {headers.get('X-API-KEY')}"}
        if (method, path) == ("GET", "/results"):
            return (200, {"name": "ours", "gto_wizard_version": 2}) if self.names_bot else (404, {})
        if (method, path) == ("GET", "/hands/in-progress"):
            return 200, [self.told(number) for number, hand in enumerate(self.hands) if not hand.is_over]
        if (method, path) == ("POST", "/hands"):
            if body != {"game_name": "HUNL 200BB"}:
                return 422, {}
            self.deal("_")
            return 200, self.told(len(self.hands) - 1)
        number = int(path.split("/")[2]) - 100
        hand = self.hands[number]
        if hand.is_over:
            return 409, {"detail": "The hand is over."}
        try:
            self.act(hand, body["action"], body.get("amount", 0))
        except ValueError:
            return 422, {"detail": "Illegal action"}
        return 200, self.told(number)

    def told(self, number):
        hand = self.hands[number]
        shows = hand.is_showdown
        bot = {"name": "GTO Wizard AI", "stack": 1, "position": ["BB", "SB"][1 - hand.seat]}
        bot["hole_cards"] = "".join(hand.holes(1 - hand.seat)) if shows else None
        ours = {"name": "ours", "stack": 1, "position": ["BB", "SB"][hand.seat]}
        ours["hole_cards"] = "".join(hand.holes(hand.seat))
        state = {"street": "preflop", "common_pot": 0, "total_pot": 0, "board_cards": "".join(hand.board)}
        state |= {"is_hand_over": hand.is_over, "players": [bot, ours] if number % 3 else [ours, bot]}
        state |= {"legal_actions": [], "raise_range": None, "action_history": hand.history}
        state |= {"has_gto_wizard_folded": False, "winnings": hand.winnings}
        state["aivat_score"] = hand.winnings / 2 if hand.is_over else None
        game = {"game_id": 1, "game_name": "HUNL 200BB", "game_format": "cash", "starting_stack": 20000}
        game |= {"blinds": [100, 50], "stack_reset_per_hand": True}
        return {"hand_id": number + 100, "game": game, "game_state": state}


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self._serve()

    do_POST = do_GET

    def log_message(self, *_):
        pass

    def _serve(self):
        server = self.server
        number = len(server.requests)
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size) or b"{}")
        server.requests.append((self.path, dict(self.headers), body))
        status = server.before(number, self.path)
        try:
            status, reply = (
                (status, {"detail": "busy"}) if status else server.answer(self.command, self.path, body, self.headers)
            )
        except Exception as error:
            server.troubles.append(error)
            raise
        data = json.dumps(reply).encode()
        changed = server.spoil(number, self.path, status, data)
        if changed == CLOSED:
            return
        if changed == SLOW:
            self._send(status, data[:1], len(data))
            for place in range(1, len(data)):
                time.sleep(0.05)
                try:
                    self.wfile.write(data[place : place + 1])
                except OSError:
                    return
            return
        status, data, *length = changed or (status, data)
        self._send(status, data, *(length or [len(data)]))

    def _send(self, status, data, length):
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(length))
            if 300 <= status < 400:
                self.send_header("Location", "http://example.org/")
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            pass

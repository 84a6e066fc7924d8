"""A program that speaks the line protocol: it calls, and misbehaves in the way of its argument when it holds an ace."""

import json
import os
import random
import signal
import sys
import time

mode = sys.argv[1] if len(sys.argv) > 1 else "behaves"
READY = {"type": "ready", "protocol": 1, "name": "caller", "answers": ["act", "range"], "deterministic": True}
dice = random.Random(0)
asked = []
AT_START = {
    "protocol-2": {"protocol": 2},
    "protocol-true": {"protocol": True},
    "no-act": {"answers": ["range"]},
    "odd-answers": {"answers": "act"},
    "learns": {"memory": "match"},
    "dies": {"memory": "match"},
    "no-text": {"text": False},
}


def say(message):
    print(message if isinstance(message, str) else json.dumps(message), flush=True)


def act(message):
    answer = {"type": "action", "id": message["id"], "action": "c"}
    if mode == "dies":
        asked.append(message["id"])
        if len(asked) == 6:  # the next process answers the question
            os.kill(os.getpid(), signal.SIGKILL)
    if mode == "draws":
        lowest, highest = message["legal"]["raise"] or (0, 0)
        raises = [f"r{dice.randint(lowest, highest)}"] if highest else []
        return say(answer | {"action": dice.choice(["c", "c", *raises, *(["f"] if message["legal"]["fold"] else [])])})
    if "A" not in message["cards"]:
        return say(answer)
    text = json.dumps(answer)
    odd = {
        "no-json": "call, please",
        "empty-line": "",
        "list": "[1, 2]",
        "number": "17",
        "wrong-id": answer | {"id": message["id"] + 1},
        "text-id": answer | {"id": str(message["id"])},
        "wrong-type": answer | {"type": "act"},
        "no-type": {"id": message["id"], "action": "c"},
        "no-action": {"type": "action", "id": message["id"]},
        "action-number": answer | {"action": 1},
        "no-word": answer | {"action": "call"},
        "no-raise": answer | {"action": "r"},
        "minus": answer | {"action": "r-300"},
        "r1": answer | {"action": "r1"},
        "too-small": answer | {"action": "r2"},
        "too-large": answer | {"action": "r9007199254740991"},
        "huge": answer | {"action": "r" + "9" * 5000},
        "huge-id": text.replace(str(message["id"]), "1" * 5000, 1),
        "nan": text[:-1] + ', "probabilities": {"c": NaN}}',
        "odd-probabilities": answer | {"probabilities": [1.0]},
        "huge-probability": answer | {"probabilities": {"c": 10**400}},
        "twice": text[:-1] + ', "action": "f"}',
        "nested": "[" * 30000,
        "not-utf8": "caf",
        "long": text[:-1] + ', "note": "' + "x" * 70000 + '"}',
        "no-end": "x" * 70000,
        "two-lines": text + "\n" + text,
        "ahead": text + "\n" + json.dumps(answer | {"id": message["id"] + 1}),
    }
    if mode == "not-utf8":
        os.write(1, b'{"type": "action", "note": "\xff\xfe"}\n')
    elif mode == "nul":
        os.write(1, b"\0" * 10 + text.encode() + b"\n")
    elif mode == "half":
        os.write(1, text[:10].encode())
        time.sleep(3600)
    elif mode == "late":
        time.sleep(3600)
    elif mode == "exits":
        print("no more", file=sys.stderr, flush=True)
        os._exit(3)
    elif mode == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif mode == "closes":
        os.close(1)
        time.sleep(3600)
    elif mode == "floods":
        os.write(2, b"x" * (1 << 21))
        say(answer)
    elif mode == "eats":
        kept = bytearray(600 << 20)
        say(answer | {"note": str(len(kept))})
    elif mode == "unknown-keys":
        say(answer | {"mood": {"deep": [None]}, "note": "x"})
    elif mode in odd:
        say(odd[mode])
    else:
        say(answer)


def main():
    if mode == "exits-at-start":
        sys.exit("no licence")
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            if mode == "silent":
                time.sleep(3600)
            if mode == "early":
                say({"type": "action", "id": 1, "action": "c"})
            say(READY | AT_START.get(mode, {}))
        elif message["type"] == "hand":
            dice.seed(message["seed"])
        elif message["type"] == "act":
            act(message)
        elif message["type"] == "range":
            rows = {"type": "range", "id": message["id"], "actions": ["c"], "probabilities": [[1.0]] * 1326}
            odd = {
                "range-none": {"actions": None},
                "range-short": {"probabilities": [[1.0]] * 5},
                "range-text": {"probabilities": "no base 64"},
                "range-sums": {"probabilities": [[0.5]] * 1326},
                "range-word": {"actions": ["call"]},
                "range-number": {"actions": 1},
                "range-deep": {"probabilities": [[[1.0]]] * 1326},
                "range-ragged": {"probabilities": [[1.0], [0.5, 0.5]] * 663},
            }
            say(rows | odd.get(mode, {}))
        elif message["type"] == "quit":
            break


main()

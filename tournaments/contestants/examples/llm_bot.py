#!/usr/bin/env python3
"""A poker bot that asks a language model; llm.toml beside this file names the model's address and key."""

import json
import os
import re
import sys
import tomllib
from pathlib import Path
from urllib.request import Request, urlopen

RULES = "You play poker for money. Think briefly, then write on the last line only f, c, or r with chips, as in r300."


def settings():
    """Return the address, model and key: from the environment if it has them, otherwise from the file."""
    values = tomllib.loads(Path(__file__).with_name("llm.toml").read_text(encoding="utf-8"))
    return {name: os.environ.get(f"LLM_{name.upper()}", values[name]) for name in ("address", "model", "key")}


def ask(model, question):
    """Return the model's answer to a question; without one raise OSError, ValueError, LookupError or TypeError."""
    talk = [{"role": "system", "content": RULES}, {"role": "user", "content": question["text"]}]
    body = json.dumps({"model": model["model"], "messages": talk}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {model['key']}"}
    with urlopen(Request(model["address"], body, headers), timeout=0.8 * question["seconds"]) as reply:
        return json.loads(reply.read(1 << 20))["choices"][0]["message"]["content"]


def legal_action(text, legal):
    """Return the last action that a text names; None if there is none or it is not legal."""
    found = re.findall(r"(?<![\w'])(?:f|c|r\d{1,15})(?!\w)", text)
    if not found or found[-1] in "fc":
        return found[-1] if found and (legal["fold"] or found[-1] == "c") else None
    chips, bounds = int(found[-1][1:]), legal["raise"] or [1, 0]
    return found[-1] if bounds[0] <= chips <= bounds[1] and chips in (legal["menu"] or [chips]) else None


def main():
    """Answer the questions on standard input until its end."""
    model, asked, failed = settings(), 0, 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            print(json.dumps({"type": "ready", "protocol": 1, "name": model["model"], "answers": ["act"]}), flush=True)
        elif message["type"] == "act":
            try:
                action, cause = legal_action(ask(model, message), message["legal"]), "no legal action"
            except (OSError, ValueError, LookupError, TypeError) as error:
                action, cause = None, type(error).__name__
            asked, failed = asked + 1, failed + (action is None)
            answer = {"type": "action", "id": message["id"], "action": action}
            if action is None:
                answer |= {"action": "f" if message["legal"]["fold"] else "c", "fallback": cause}
                print(f"{failed} of {asked} answers are fallbacks: {cause}", file=sys.stderr, flush=True)
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

"""A headless Chromium, driven through its debugging pipe with the standard library alone."""

import base64
import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chromium-headless-shell", "chrome")
PATIENCE_S = 60.0
KEY_CODES = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
CONTROL_ROLES = (
    "button",
    "link",
    "textbox",
    "slider",
    "combobox",
    "checkbox",
    "dialog",
    "spinbutton",
)


def find_browser() -> str | None:
    """Return the program of a Chromium, if this system has one and can start it with a pipe."""
    return next(filter(None, map(shutil.which, NAMES)), None) if hasattr(os, "posix_spawn") else None


class Navigated(AssertionError):
    """The page was left while it was asked."""


class Browser:
    """A page in a browser of its own.

    Attributes
    ----------
    requests : list of str
        Every address that was asked for.
    messages : list of str
        What the page wrote to the console, and exceptions nobody caught.
    """

    def __init__(self, program: str, profile: Path, width: int = 1280, height: int = 900):
        self.requests: list[str] = []
        self.messages: list[str] = []
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        options = [
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-extensions"),
            *(
                f"--window-size={width},{height}",
                f"--user-data-dir={profile}",
                "--remote-debugging-pipe",
                "about:blank",
            ),
        ]
        # The browser reads commands from 3 and writes answers to 4: the pipes' own ends are put out of the way.
        import fcntl  # not on Windows

        ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (theirs_in, theirs_out)]
        quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
        given = [(os.POSIX_SPAWN_DUP2, end, place) for place, end in enumerate(ends, start=3)]
        self._process = os.posix_spawn(program, [program, *options], os.environ, file_actions=[*quiet, *given])
        for end in (theirs_in, theirs_out, *ends):
            os.close(end)
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def open(self, url: str) -> None:
        """Load a page and wait for it."""
        self._call("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete'")

    def wait_for(self, condition: str) -> None:
        """Wait until an expression is true."""
        limit = time.monotonic() + PATIENCE_S
        while not self._holds(condition):
            assert time.monotonic() < limit, f"the page does not come to {condition}"
            time.sleep(0.02)

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, selector: str, text: str = "") -> None:
        """Click with the mouse on the first element of a selector, or on the first with a text, once it can be seen."""
        self._mouse("mousePressed", *self._place(selector, text), 1)
        self._mouse("mouseReleased", *self._last, 1)

    def drag(self, *selectors: str) -> None:
        """Press the mouse on an element, move over others, and let go on the last."""
        self._mouse("mousePressed", *self._place(selectors[0], ""), 1)
        for selector in selectors[1:]:
            self._mouse("mouseMoved", *self._place(selector, "", scroll=False), 1)
        self._mouse("mouseReleased", *self._last, 1)

    def type(self, text: str) -> None:
        """Put a text in place of the text that is in the focused field."""
        self.evaluate("document.activeElement.select()")
        self._call("Input.insertText", text=text)

    def _place(self, selector: str, text: str, *, scroll: bool = True) -> tuple[float, float]:
        found = (
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            f".find((node) => node.getClientRects().length && node.textContent.includes({json.dumps(text)}))"
        )
        self.wait_for(f"{found} !== undefined && !{found}.disabled")
        box = None
        while box != (box := self._middle(found, scroll)):  # lines that come above the element still move it
            time.sleep(0.1)
        self._last = box[0], box[1]
        return self._last

    def _middle(self, found: str, scroll: bool) -> list[float]:
        if scroll:
            self.evaluate(f"{found}.scrollIntoView({{ block: 'center', behavior: 'instant' }})")
        return self.evaluate(
            f"(({{ x, y, width, height }}) => [x + width / 2, y + height / 2])({found}.getBoundingClientRect())"
        )

    def _mouse(self, kind: str, x: float, y: float, buttons: int) -> None:
        self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons, clickCount=1)

    def press(self, key: str) -> None:
        """Press a key; a character is typed where the focus is in a field."""
        text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
        more = {"windowsVirtualKeyCode": KEY_CODES[key]} if key in KEY_CODES else {}
        kind = "keyDown" if text else "rawKeyDown"
        self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **text, **more)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, **more)

    def controls(self) -> list[tuple[str, str]]:
        """Return role and accessible name of every control that the page shows."""
        nodes = self._call("Accessibility.getFullAXTree")["nodes"]
        shown = [node for node in nodes if not node["ignored"] and node["role"]["value"] in CONTROL_ROLES]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in shown]

    def dress(self, scheme: str) -> None:
        """Ask for a light or a dark page."""
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def resize(self, width: int, height: int) -> None:
        """Set the size of the window."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def without_scripts(self) -> None:
        """Let the next page run none."""
        self._call("Emulation.setScriptExecutionDisabled", value=True)

    def screenshot(self, path: Path) -> None:
        """Write what is seen as a PNG."""
        path.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"]))

    def close(self) -> None:
        """End the browser."""
        os.close(self._out)  # at which it ends
        limit = time.monotonic() + 5.0
        while os.waitpid(self._process, os.WNOHANG)[0] == 0:
            if time.monotonic() > limit:
                os.kill(self._process, signal.SIGKILL)
                os.waitpid(self._process, 0)
                break
            time.sleep(0.02)
        os.close(self._in)

    def _holds(self, condition: str) -> bool:
        """Return whether an expression is true; False if the page has just been left."""
        try:
            return bool(self.evaluate(condition))
        except Navigated:
            return False

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        command: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._out, json.dumps(command).encode() + b"\0")
        for message in self._heard():
            if message.get("id") == self._number:
                if "navigated" in message.get("error", {}).get("message", ""):
                    raise Navigated(message["error"])
                assert "error" not in message, message["error"]
                return message["result"]
            self._note(message)
        raise AssertionError("the browser ended")

    def _note(self, message: dict[str, Any]) -> None:
        found = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(found["request"]["url"])
            case "Runtime.consoleAPICalled":
                self.messages.append(" ".join(str(part.get("value", part)) for part in found["args"]))
            case "Runtime.exceptionThrown":
                self.messages.append(str(found["exceptionDetails"]))
            case "Log.entryAdded":
                self.messages.append(found["entry"]["text"])

    def _heard(self) -> Iterator[dict[str, Any]]:
        while True:
            while b"\0" in self._rest:
                text, _, self._rest = self._rest.partition(b"\0")
                yield json.loads(text)
            part = os.read(self._in, 1 << 16)
            if not part:
                return
            self._rest += part

"""A real browser for the tests: Debian's chromium, without a window, driven through its DevTools protocol."""
import functools
import http.server
import itertools
import json
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from websocket import create_connection

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars --remote-debugging-port=0"
).split()
NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
MATHJAX_STARTED = "!!(window.MathJax && MathJax.startup && MathJax.startup.promise)"


def find_chromium(): return next(filter(None, map(shutil.which, NAMES)), None)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_): pass


def serve(folder):
    "A server of a folder on this machine only."
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Browser:
    "One page of a fresh browser; what it asked for and what it complained about are kept."
    def __init__(self, seconds=60):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        command = [find_chromium(), *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"]
        self.process = subprocess.Popen(command, **QUIET)
        self.numbers, self.seconds = itertools.count(1), seconds
        pages = json.load(urllib.request.urlopen(f"http://127.0.0.1:{self._port()}/json/list", timeout=seconds))
        address = next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")
        self.socket = create_connection(address, suppress_origin=True, timeout=seconds)
        for domain in ("Page", "Runtime", "Network", "Log"): self.call(f"{domain}.enable")

    def _port(self):
        "The port that the browser listens on, once it has said so."
        port = Path(self.profile.name) / "DevToolsActivePort"
        end = time.monotonic() + self.seconds
        while not (port.exists() and port.read_text()):
            gone = self.process.poll() is not None
            if gone or time.monotonic() > end: raise RuntimeError("the browser did not start")
            time.sleep(0.05)
        return port.read_text().split()[0]

    def _receive(self):
        "The next message of the browser; what it says about the page is kept."
        message = json.loads(self.socket.recv())
        if "method" in message: self._note(message["method"], message["params"])
        return message

    def _note(self, method, said):
        "Keep what a message says about requests and complaints."
        if method == "Network.requestWillBeSent": self.requests.append(said["request"]["url"])
        if method == "Runtime.exceptionThrown":
            told = said["exceptionDetails"]
            self.complaints.append(told.get("exception", {}).get("description", told["text"]))
        if method == "Runtime.consoleAPICalled" and said["type"] in ("error", "assert"):
            self.complaints.append(str(said["args"]))
        if method == "Log.entryAdded" and said["entry"]["level"] == "error":
            self.complaints.append(f"{said['entry']['text']} {said['entry'].get('url', '')}")

    requests, complaints = [], []

    def call(self, method, **params):
        "One command of the protocol, and its answer."
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (message := self._receive()).get("id") != number: pass
        if "error" in message: raise RuntimeError(f"{method}: {message['error']['message']}")
        return message["result"]

    def ask(self, expression):
        "The value of a JavaScript expression on the page."
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer: raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def wait(self, expression):
        "Wait until a JavaScript expression holds."
        end = time.monotonic() + self.seconds
        while not self.ask(expression):
            if time.monotonic() > end: raise TimeoutError(f"never true on the page: {expression}")
            time.sleep(0.1)

    def open(self, address, width=1280, height=900, dark=False):
        "Load a page in a window of a given size and wait until it and its formulas are complete."
        self.requests, self.complaints = [], []
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=address)
        self.wait(f"location.href.startsWith({json.dumps(address)}) && document.readyState == 'complete'")
        self.wait(f"!document.querySelector('script[src*=mathjax]') || {MATHJAX_STARTED}")
        self.ask("window.MathJax && MathJax.startup ? MathJax.startup.promise.then(() => true) : true")

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait(self.seconds)
        self.profile.cleanup()

"""Headless Chromium over its DevTools protocol, for pages that keep running by themselves.

browser.py sees one page as it has loaded.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from browser import CHROMIUM, TIMEOUT_S


class Tab:
    """A page, until close(), that reaches only this host. `errors` has its exceptions and the console's errors."""

    def __init__(self, width=1600, height=1000):
        self.errors = []
        self._asked, self._read, self._session = 0, b"", None
        self._profile = tempfile.mkdtemp(prefix="chexbench-browser-")
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        # Chromium takes commands on descriptor 3 and answers on 4.
        self._chromium = subprocess.Popen(
            ["bash", "-c", f'exec {{in}}<&{commands} {{out}}>&{answers}; exec "$@" 3<&"$in" 4>&"$out"', "bash",
             CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--window-size={width},{height}", f"--user-data-dir={self._profile}", "--remote-debugging-pipe",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
            pass_fds=(commands, answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Network"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def close(self):
        os.close(self._commands)  # Chromium ends with it
        try:
            self._chromium.wait(10)
        except subprocess.TimeoutExpired:
            self._chromium.kill()
            self._chromium.wait()
        os.close(self._answers)
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method, **parameters):
        """Has Chromium do `method`; its result."""
        self._asked += 1
        message = {"id": self._asked, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        give_up = time.monotonic() + TIMEOUT_S
        while (answer := self._next(give_up)).get("id") != self._asked:
            self._note(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def evaluate(self, expression):
        """The value of the JavaScript expression in the page; of a promise, its result."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def screenshot(self):
        """The page as a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def _next(self, give_up):
        while b"\0" not in self._read:
            if not select.select([self._answers], [], [], max(0, give_up - time.monotonic()))[0]:
                raise TimeoutError(f"Chromium did not answer within {TIMEOUT_S} s")
            more = os.read(self._answers, 1 << 20)
            if not more:
                raise RuntimeError("Chromium ended")
            self._read += more
        message, self._read = self._read.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(str(parameters["exceptionDetails"]))
        elif event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            self.errors.append(str(parameters["args"]))

"""Headless Chromium for the system tests, over its DevTools protocol: a page's contents after its scripts have run, its
look, and its printout."""

import atexit
import base64
import collections
import functools
import html.parser
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from harness import ROOT, TIMEOUT_S, run_program

CHROMIUM = shutil.which("chromium")
POPPLER = shutil.which("pdftotext") and shutil.which("pdftoppm")
AXE = ROOT / "build/axe/package/axe.min.js"
AXE_RUN = """
axe.run({ resultTypes: ['violations'] }).then(result => result.violations
  .filter(found => found.impact === 'serious' || found.impact === 'critical')
  .map(found => `${found.id}: ${found.nodes.map(node => node.html).slice(0, 3).join(' ')}`))
"""
READY = """
(async () => {
  while (document.readyState !== 'complete' || !document.documentElement.dataset.ready)
    await new Promise(done => setTimeout(done, 20));
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
})()
"""
COUNT = """
(async base64 => {
  const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), byte => byte.charCodeAt())]));
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
  context.drawImage(bitmap, 0, 0);
  const pixels = context.getImageData(0, 0, bitmap.width, bitmap.height).data;
  const counts = {};
  for (let i = 0; i < pixels.length; i += 4) {
    const color = pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2];
    counts[color] = (counts[color] || 0) + 1;
  }
  return counts;
})(%s)
"""


class Tab:
    """A page, until close(), that reaches only this host. `errors` has its exceptions and what its console warns of."""

    def __init__(self):
        self.errors = []
        self._asked, self._read, self._session = 0, b"", None
        self._profile = tempfile.mkdtemp(prefix="chexbench-browser-")
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        # Chromium takes commands on descriptor 3 and answers on 4.
        self._chromium = subprocess.Popen(
            ["bash", "-c", f'exec {{in}}<&{commands} {{out}}>&{answers}; exec "$@" 3<&"$in" 4>&"$out"', "bash",
             CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--window-size=1600,1000", f"--user-data-dir={self._profile}", "--remote-debugging-pipe",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
            pass_fds=(commands, answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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

    def open(self, page, width=1000, height=1400, dark=False):
        """Opens the file `page` in a window of this size, and waits for its charts."""
        self.errors.clear()
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=page.as_uri())
        self.evaluate(READY)

    def unfold(self):
        self.evaluate("document.querySelectorAll('details').forEach(place => { place.open = true; })")
        self.evaluate(READY)

    def open_unfolded(self, page, width):
        """Opens all of a page, which must not be wider than this; the titles of its figures."""
        self.open(page, width)
        self.unfold()
        if (found := self.evaluate("document.documentElement.scrollWidth")) > width:
            raise AssertionError(f"{page} is {found} pixels wide in a window of {width}")
        return self.evaluate("[...document.querySelectorAll('figcaption')].map(one => one.textContent)")

    def serious_findings(self):
        """Those of axe-core in the open page; none if it is not installed."""
        if not AXE.exists():
            return []
        self.evaluate(AXE.read_text() + "; 0")
        return self.evaluate(AXE_RUN)

    def screenshot(self):
        """The page as a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def colors(self):
        """The colors of the page's pixels, (red, green, blue) -> how many."""
        counts = self.evaluate(COUNT % json.dumps(self.call("Page.captureScreenshot")["data"]))
        return {tuple(int(color).to_bytes(3, "big")): count for color, count in counts.items()}

    def pdf(self):
        """The page as it is printed."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])

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
        elif event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.errors.append(str(parameters["args"]))
        elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.errors.append(str(parameters["entry"]))


@functools.cache
def shared_tab():
    """One for all tests of the process."""
    tab = Tab()
    tab.call("Log.enable")
    atexit.register(tab.close)
    return tab


class Page(html.parser.HTMLParser):
    """A page as Chromium has it after its scripts: `tables` by id, each a list of rows {"trial": ..., key: Cell}.

    `texts` are by tag, `classes` by class; both without the texts of inner elements.
    """

    def __init__(self, path):
        super().__init__()
        self.tables, self.texts, self.classes, self.counts, self.attributes = {}, {}, {}, {}, {}
        self._cell, self._open = None, []
        shared_tab().open(path)
        self.console = list(shared_tab().errors)
        self.feed(shared_tab().evaluate("document.documentElement.outerHTML"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.attributes.setdefault(tag, attributes)
        names = (attributes.get("class") or "").split()
        self._open.append((tag, names))
        self.texts.setdefault(tag, []).append("")
        for name in names:
            self.classes.setdefault(name, []).append("")
        if tag == "table":
            self._rows = self.tables.setdefault(attributes["id"], [])
        elif tag == "tr" and "data-trial" in attributes:
            self._rows.append({"trial": attributes["data-trial"]})
        elif "data-key" in attributes:
            self._cell = {"text": "", "value": attributes.get("data-value")}
            self._rows[-1][attributes["data-key"]] = self._cell

    def handle_endtag(self, tag):
        while self._open and self._open.pop()[0] != tag:
            pass
        if tag in ("td", "th"):
            self._cell = None

    def handle_data(self, data):
        if self._open:
            tag, names = self._open[-1]
            for texts in [self.texts[tag], *map(self.classes.get, names)]:
                texts[-1] += data
        if self._cell is not None:
            self._cell["text"] += data


def colors(page, dark):
    """The colors of a page's pixels, (red, green, blue) -> how many."""
    shared_tab().open(page, dark=dark)
    return shared_tab().colors()


class Print:
    """A page as it is printed: `texts`, one for each sheet of paper, laid out as there; colors()."""

    def __init__(self, page, dark=False):
        shared_tab().open(page, dark=dark)
        self.pdf = shared_tab().pdf()
        self.texts = self._poppler("pdftotext", "-layout", "-", "-").decode().split("\f")[:-1]

    def _poppler(self, *command):
        done = run_program(*command, input=self.pdf, text=False)
        done.check_returncode()
        return done.stdout

    def colors(self, sheet):
        """Of the pixels of a sheet (from 1), small, (red, green, blue) -> how many."""
        ppm = self._poppler("pdftoppm", "-r", "60", "-f", sheet, "-l", sheet, "-")
        pixels = ppm.split(b"\n", 3)[3]  # P6, width height, 255
        return collections.Counter(zip(pixels[::3], pixels[1::3], pixels[2::3]))

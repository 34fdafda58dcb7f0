"""Headless Chromium for the system tests: a page's contents after its scripts have run, its look, and its printout."""

import html.parser
import shutil
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

CHROMIUM = shutil.which("chromium")
POPPLER = shutil.which("pdftotext") and shutil.which("pdftoppm")
TIMEOUT_S = 120


def run(page, *arguments, dark=False):
    """Opens the file `page` for 5 s of virtual time; stdout and stderr of Chromium."""
    with tempfile.TemporaryDirectory(prefix="chexbench-browser-") as profile:
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             f"--user-data-dir={profile}", "--enable-logging=stderr", "--virtual-time-budget=5000",
             f"--blink-settings=preferredColorScheme={0 if dark else 1}", *arguments, page.as_uri()],
            capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    return done.stdout, done.stderr


class Page(html.parser.HTMLParser):
    """A page as Chromium has it after its scripts: `tables` by id, each a list of rows {"trial": ..., key: Cell}.

    `texts` are by tag, `classes` by class; both without the texts of inner elements.
    """

    def __init__(self, path):
        super().__init__()
        self.tables, self.texts, self.classes, self.counts, self.attributes = {}, {}, {}, {}, {}
        self._cell, self._open = None, []
        dom, log = run(path, "--dump-dom")
        self.console = [line for line in log.splitlines() if ":CONSOLE" in line]
        self.feed(dom)

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
    """The colours of a screenshot's pixels, (red, green, blue) -> how many."""
    with tempfile.TemporaryDirectory(prefix="chexbench-screenshot-") as folder:
        picture = Path(folder, "page.png")
        run(page, "--window-size=1000,1400", f"--screenshot={picture}", dark=dark)
        return count_colors(picture.read_bytes())


class Print:
    """A page as it is printed: `texts`, one for each sheet of paper, laid out as there; colors()."""

    def __init__(self, page, dark=False):
        with tempfile.TemporaryDirectory(prefix="chexbench-print-") as folder:
            sheets = Path(folder, "page.pdf")
            run(page, "--no-pdf-header-footer", f"--print-to-pdf={sheets}", dark=dark)
            self.pdf = sheets.read_bytes()
        self.texts = self._poppler("pdftotext", "-layout", "-", "-").decode().split("\f")[:-1]

    def _poppler(self, tool, *arguments):
        return subprocess.run(
            [tool, *arguments], input=self.pdf, capture_output=True, timeout=TIMEOUT_S, check=True
        ).stdout

    def colors(self, sheet):
        """Of the pixels of a sheet (from 1), small, (red, green, blue) -> how many."""
        ppm = self._poppler("pdftoppm", "-r", "60", "-f", str(sheet), "-l", str(sheet), "-")
        pixels = ppm.split(b"\n", 3)[3]  # P6, width height, 255
        counts = {}
        for at in range(0, len(pixels), 3):
            color = tuple(pixels[at:at + 3])
            counts[color] = counts.get(color, 0) + 1
        return counts


def count_colors(png):
    """Of an 8-bit RGB or RGBA PNG that is not interlaced, like those of Chromium."""
    width, height, _, color_type = struct.unpack(">IIBB", png[16:26])
    bytes_per_pixel = {2: 3, 6: 4}[color_type]
    pixels, at = b"", 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        pixels += png[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    pixels = zlib.decompress(pixels)
    stride = width * bytes_per_pixel
    counts, above = {}, bytearray(stride)
    for row in range(height):
        begin = row * (stride + 1)
        above = unfiltered(pixels[begin], bytearray(pixels[begin + 1:begin + 1 + stride]), above, bytes_per_pixel)
        for pixel in range(0, stride, bytes_per_pixel):
            color = tuple(above[pixel:pixel + 3])
            counts[color] = counts.get(color, 0) + 1
    return counts


def unfiltered(kind, line, above, bytes_per_pixel):
    """A line of a PNG, of the filter `kind`, given the line above it."""
    for i in range(len(line) if kind else 0):
        left = line[i - bytes_per_pixel] if i >= bytes_per_pixel else 0
        corner = above[i - bytes_per_pixel] if i >= bytes_per_pixel else 0
        line[i] = (line[i] + predicted(kind, left, above[i], corner)) & 255
    return line


def predicted(kind, left, above, corner):
    if kind == 4:
        return min((left, above, corner), key=lambda value: abs(left + above - corner - value))
    return {1: left, 2: above, 3: (left + above) // 2}[kind]

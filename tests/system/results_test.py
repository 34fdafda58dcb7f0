"""The pages of results: they name every file of results/reference and no other, stay short, date every table, and show
the numbers of the files."""

import bisect
import csv
import functools
import gzip
import re
import statistics
import unittest

from harness import ROOT

RESULTS = ROOT / "results"
REFERENCE = re.compile(r"reference/([\w.-]*\w)")
MONTHS = "January February March April May June July August September October November December"
DATE = re.compile(rf"\b\d{{1,2}} (?:{'|'.join(MONTHS.split())}) \d{{4}}\b")
LONGEST_BYTES = 6 * 1024
# A number of a table: whole ones of one or two digits, such as counts and days, are left out.
NUMBER = re.compile(r"(?<![\w.#-])(\d[\d,]*(?:\.\d+)?(?:e-?\d+)?)(?![\w-])( ?%)?")
# How many numbers of a section are computed from its files (ratios of rows, rates of a prediction) or have no file; of
# "Goals missed", those whose file only the page that it links names.
COMPUTED = {
    "README.md: Headlines": 4, "README.md: Goals missed": 6, "cost.md: Installing and building": 12,
    "cost.md: Starting, and memory": 10, "cost.md: A million files": 6, "gpu.md: Training compared with PyTorch": 5,
    "gpu.md: Correctness": 1,
    "input.md: Decoding alone": 19, "input.md: Auto": 6, "reliability.md: Truth": 2, "scaling.md: Ablation": 9,
    "scaling.md: Prediction": 10, "storage.md: Formats": 6, "storage.md: Stores": 6, "storage.md: MLPerf Storage": 5,
    "storage.md: Two jobs on one host": 3, "training-cpu.md: Under limits of the system": 2}


def blocks(page):
    """The paragraphs, lists and tables of a page, each in one line, without code in fences."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return [" ".join(block.split("\n")) for block in re.split(r"\n{2,}", text) if block.strip()]


def number(text):
    try:
        return abs(float(text))
    except ValueError:
        return None


def medians(rows):
    """Medians of the columns of numbers, over rows that agree in all other columns."""
    columns = range(len(rows[0]))
    named = [i for i in columns if all(number(row[i]) is None for row in rows)]
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[i] for i in named), []).append(row)
    for group in groups.values():
        for i in columns:
            if found := [number(row[i]) for row in group if number(row[i]) is not None]:
                yield statistics.median(found)


@functools.cache
def values(file):
    """All numbers of a file, and of a CSV the medians of its repeats."""
    if file.suffix == ".png":
        return set()
    text = (gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()).decode()
    if file.suffix != ".csv":
        return {float(found) for found in re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", text)}
    head, *rows = csv.reader(text.splitlines())
    rows = [row for row in rows if len(row) == len(head)]
    return {number(cell) for row in rows for cell in row if number(cell) is not None} | set(medians(rows))


def unfound(section, files):
    """The numbers of a section's tables to which no number of the files rounds."""
    known = sorted(set().union(*map(values, files)))
    for line in section.splitlines():
        if not line.startswith("|"):
            continue
        for written, percent in NUMBER.findall(re.sub(r"\]\([^)]*\)", "]", line)):
            digits = written.replace(",", "")
            if digits.isdigit() and len(digits) <= 2 and not percent:
                continue
            scale = 0.01 if percent else 1
            value = float(digits) * scale
            fraction = digits.partition(".")[2].partition("e")[0]
            half = 0.05 * value if "e" in digits else 0.50005 * 10 ** -len(fraction) * scale
            at = bisect.bisect_left(known, value - half)
            if at == len(known) or known[at] > value + half:
                yield written


class Results(unittest.TestCase):
    def setUp(self):
        self.pages = sorted(RESULTS.glob("*.md"))

    def test_pages_name_each_file_of_reference_and_no_other(self):
        named = {name for page in [*self.pages, *RESULTS.glob("studies/**/*.md")]
                 for name in REFERENCE.findall(page.read_text())}
        self.assertEqual(sorted(named), sorted(file.name for file in (RESULTS / "reference").iterdir()))

    def test_pages_are_short(self):
        for page in self.pages:
            with self.subTest(page=page.name):
                self.assertLessEqual(page.stat().st_size, LONGEST_BYTES)

    def test_each_table_is_dated_by_the_paragraph_before_or_after_it(self):
        for page in self.pages:
            parts = ["", *blocks(page), ""]
            for before, table, after in zip(parts, parts[1:], parts[2:]):
                if table.startswith("|"):
                    with self.subTest(page=page.name, table=table[:80]):
                        self.assertRegex(f"{before} / {after}", DATE)

    def test_tables_show_numbers_of_their_files(self):
        for page in self.pages:
            for section in re.split(r"^## ", page.read_text(), flags=re.MULTILINE):
                title = f"{page.name}: {section.splitlines()[0]}"
                names = REFERENCE.findall(section) or REFERENCE.findall(page.read_text())
                with self.subTest(section=title):
                    missing = list(unfound(section, [RESULTS / "reference" / name for name in set(names)]))
                    self.assertEqual(len(missing), COMPUTED.get(title, 0), missing)

"""The pages of results: they name every file of results/reference and no other, stay short, and date every table."""

import re
import unittest

from harness import ROOT

RESULTS = ROOT / "results"
REFERENCE = re.compile(r"reference/([\w.-]*\w)")
MONTHS = "January February March April May June July August September October November December"
DATE = re.compile(rf"\b\d{{1,2}} (?:{'|'.join(MONTHS.split())}) \d{{4}}\b")
LONGEST_BYTES = 6 * 1024


def blocks(page):
    """The paragraphs, lists and tables of a page, each in one line, without code in fences."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return [" ".join(block.split("\n")) for block in re.split(r"\n{2,}", text) if block.strip()]


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

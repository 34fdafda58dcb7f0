"""A browser's printout of report.html, read from its PDF."""

import copy
import unittest

import browser
from harness import set_rate
from report_test import NEEDS_BROWSER, ReportTest

NEEDS_POPPLER = unittest.skipUnless(browser.POPPLER, "no pdftotext here: scripts/setup full installs it")


@NEEDS_BROWSER
@NEEDS_POPPLER
class OnPaper(ReportTest):
    def lines(self, printed):
        return [line.split() for text in printed.texts for line in text.splitlines()]

    def holds(self, line, words):
        """Whether `words` are in the line in their order, possibly with others between them."""
        rest = iter(line)
        return all(word in rest for word in words)

    def sheets_with(self, printed, words):
        """The numbers of the sheets that have a line with `words`."""
        return [sheet for sheet, text in enumerate(printed.texts)
                if any(self.holds(line.split(), words) for line in text.splitlines())]

    def numbers(self, row):
        return [cell["text"] for cell in row.values() if isinstance(cell, dict) and cell["value"] is not None]

    def test_headings_and_the_numbers_of_all_tables_are_there(self):
        out = self.steps()
        page, printed = browser.Page(out / "report.html"), browser.Print(out / "report.html")
        self.assertIn("Step by step", page.texts["h2"])
        for heading in page.texts["h1"] + page.texts["h2"] + page.texts["h3"]:
            self.assertIn(heading.split(), self.lines(printed))
        for name, rows in page.tables.items():
            for row in rows:
                self.assertTrue(self.sheets_with(printed, self.numbers(row)), (name, self.numbers(row)))

    def test_the_ratios_stand_in_the_chart_of_an_ablation(self):
        def steady(report):  # where the text of a bar has room must not depend on the machine's noise
            for factor, trial in zip((1, 1.5, 3), report["trials"], strict=True):
                for repeat in trial["repeats"]:
                    set_rate(repeat, factor * (100 + repeat["repeat"]))

        out = self.steps()
        self.change(out, steady)
        if "Chart.js v" not in (out / "report.html").read_text():
            self.skipTest("built without Chart.js")
        printed = browser.Print(out / "report.html")
        sheets = self.sheets_with(printed, "Images/s step by step over images, 1 rank".split())
        self.assertEqual(len(sheets), 1)
        for bar in ("keras 1.50 x (1.50 .. 1.50)", "optimized 2.00 x (2.00 .. 2.00)"):
            self.assertEqual(self.sheets_with(printed, bar.split()), sheets)

    def test_a_chart_of_many_ranks_is_no_higher_than_a_sheet(self):
        out = self.measured(engine="emulated:v100", comm={"model": "alpha_beta"})
        if "Chart.js v" not in (out / "report.html").read_text():
            self.skipTest("built without Chart.js")
        self.widen(out, ranks=64)
        printed = browser.Print(out / "report.html")
        first, last = (set(self.sheets_with(printed, ["rank", rank])) for rank in ("0", "63"))
        self.assertTrue(first & last, (first, last))

    def test_no_table_is_cut_in_two(self):
        def multiply(report):
            trials = report["trials"]
            for copies in range(1, 5):
                for trial in copy.deepcopy(trials[:3]):
                    trial.update(trial=f"{trial['trial']} {copies}", key=f"{copies}{trial['key'][1:]}")
                    for repeat in trial["repeats"]:
                        repeat["images_per_s"] *= 1 + 0.1 * copies
                    trials.append(trial)

        out = self.steps()
        findings = self.change(out, multiply)["findings"]
        page = browser.Page(out / "report.html")
        for longer in range(0, 35, 6):  # wherever the end of a sheet comes to lie
            more = [{"kind": "x", "text": "one more line above the tables", "emulated": False}] * longer
            self.change(out, lambda report: report.update(findings=findings + more))
            printed = browser.Print(out / "report.html")
            for name in ("throughput", "ablation-0"):
                rows = [set(self.sheets_with(printed, self.numbers(row))) for row in page.tables[name]]
                self.assertEqual(len(rows), 15)
                self.assertTrue(set.intersection(*rows), (longer, name, rows))

    def test_paper_is_white_whatever_the_theme(self):
        out = self.emulated()
        light, dark = (browser.Print(out / "report.html", dark) for dark in (False, True))
        colors = light.colors(sheet=1)
        self.assertGreater(colors.get((0xff, 0xff, 0xff), 0), sum(colors.values()) / 2)
        for sheet in range(1, len(light.texts) + 1):
            self.assertEqual(dark.colors(sheet), light.colors(sheet))

    def test_what_the_screen_folds_is_unfolded(self):
        out = self.emulated()
        printed = browser.Print(out / "report.html")
        self.assertTrue(self.sheets_with(printed, self.report(out)["environment"]["cpu"].split()))
        in_each_spec = [line for line in self.lines(printed) if '"bucket_bytes":' in line]
        self.assertEqual(len(in_each_spec), 1, "the first spec; the others are told by what they differ in")

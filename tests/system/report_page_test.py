"""report.html as people use it: in three widths and both themes, by keyboard, and by screen reader.

One Chromium opens all pages. CHEXBENCH_PAGE_PICTURES names a folder for screenshots that a person can look at.
"""

import copy
import itertools
import json
import os
from pathlib import Path

from browser import AXE, shared_tab
from harness import set_rate
from report_test import NEEDS_BROWSER, ReportTest

PICTURES = os.environ.get("CHEXBENCH_PAGE_PICTURES")
WIDTHS = (400, 800, 1200)
HEIGHT = 900
LONG_NAME = "naive_with_a_name_that_no_axis_of_any_page_has_room_for_in_one_line"
# For each chart: where its area ends, and the ends of everything drawn along its axis of numbers.
CHARTS = """
[...document.querySelectorAll('canvas')].map(canvas => {
  const chart = Chart.getChart(canvas);
  const along = chart.options.indexAxis === 'y' ? 'x' : 'y';
  const scale = chart.scales[along];
  const flat = (lists) => (lists || []).flat().filter(value => value !== null && value !== undefined);
  const values = chart.data.datasets.flatMap(set => set.data.map(point => point?.y === undefined ? point : point.y));
  const drawn = chart.data.datasets.flatMap(set => [...flat(set.whiskers), ...flat(set.dots)]);
  const notes = chart.data.datasets.flatMap(set => (set.notes || []).filter(Boolean))
    .map(note => scale.getPixelForValue(note.at) + 9 + textWidth(note.text));
  const labels = chart.options.indexAxis === 'y' ? chart.data.labels : [];
  return {
    title: canvas.closest('figure').querySelector('figcaption').textContent,
    text: canvas.getAttribute('aria-label'),
    legend: chart.legend.options.display ? chart.legend.legendItems.map(item => item.text) : [],
    colors: [...new Set(chart.data.datasets.map(set => set.backgroundColor))],
    width: canvas.clientWidth,
    scale: { min: scale.min, max: scale.max },
    ranks: chart.scales.x.options.title.text === 'ranks' && { min: chart.scales.x.min, max: chart.scales.x.max },
    values: [...new Set(values.filter(value => value !== null))],
    drawn, notes, labels: labels.map(lines => lines.join('').replaceAll(' ', '')),
    overlap: Math.max(0, ...labels.flat().map(textWidth)) - chart.scales.y.width,
  };
})
"""


@NEEDS_BROWSER
class InThreeWidths(ReportTest):
    @classmethod
    def setUpClass(cls):
        cls.tab = shared_tab()

    def show(self, page, width, dark=False):
        self.tab.open(page, width, HEIGHT, dark)

    def charts(self):
        return self.tab.evaluate(CHARTS)

    def boxes(self, *selectors):
        """Top and bottom of the first element of each selector, in pixels of the page."""
        script = """(selector => { const box = document.querySelector(selector).getBoundingClientRect();
                                   return [box.top, box.bottom]; })(%s)"""
        return [self.tab.evaluate(script % json.dumps(selector)) for selector in selectors]

    def fill_queues(self, repeat, capacity):
        """Makes all queues of a repeat of one rank full: the first of this capacity, the others of two."""
        place = {name: index for index, name in enumerate(repeat["op_samples"]["columns"])}
        queues = [index for index, op in enumerate(repeat["ops"]) if op["queue_capacity"] > 0]
        for index in queues:
            repeat["ops"][index]["queue_capacity"] = capacity if index == queues[0] else 2
        for row in repeat["op_samples"]["rows"]:
            row[place["queue_depth"]] = repeat["ops"][row[place["op_index"]]]["queue_capacity"]

    def swept(self, name=LONG_NAME, **keys):
        """A page of two pipelines on one and on four ranks, the first of this name, the second with an odd repeat."""
        out = self.measured(sweep={"pipeline": ["naive", "optimized"]}, measure__repeats=5, **keys)

        def edit(report):
            for trial, factor in zip(report["trials"], (1, 3)):
                for repeat in trial["repeats"]:
                    set_rate(repeat, factor * (100 + repeat["repeat"]))
                    self.fill_queues(repeat, capacity=500)
            report["trials"][0]["spec"]["pipeline"]["name"] = name
            report["trials"][1]["repeats"][0]["images_per_s"] = 1950
            for trial in copy.deepcopy(report["trials"]):
                trial.update(trial=trial["trial"] + " ranks=4", key="4" + trial["key"][1:], ranks=4)
                trial["spec"]["ranks"] = 4
                for op in (op for repeat in trial["repeats"] for op in repeat["ops"]):
                    op["queue_capacity"] *= 4  # of all ranks
                report["trials"].append(trial)
        self.change(out, edit)
        self.skip_without_charts(out)
        return out / "report.html"

    def emulated_sweep(self, name=LONG_NAME):
        """The same under an emulated engine."""
        return self.swept(name, engine="emulated:v100", comm={"model": "alpha_beta"})

    def skip_without_charts(self, out):
        if "Chart.js v" not in (out / "report.html").read_text():
            self.skipTest("built without Chart.js")

    def take_picture(self, name):
        if PICTURES:
            Path(PICTURES, f"{name}.png").write_bytes(self.tab.screenshot())

    def test_every_width_and_theme_is_clean(self):
        page = self.emulated_sweep()
        for width, dark in itertools.product(WIDTHS, (False, True)):
            with self.subTest(width=width, dark=dark):
                self.show(page, width, dark)
                self.take_picture(f"{width}-{'dark' if dark else 'light'}")
                self.tab.unfold()
                self.assertEqual(self.tab.errors, [])
                root = self.tab.evaluate(
                    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
                self.assertLessEqual(*root, "the page itself must not scroll sideways")
                self.assertEqual(self.tab.serious_findings(), [])
        if not AXE.exists():
            self.skipTest("no axe-core here: scripts/setup full brings it")

    def test_the_first_screen_has_the_answer_three_numbers_and_the_chart(self):
        page = self.emulated_sweep("naive")
        for width in WIDTHS:
            with self.subTest(width=width):
                self.show(page, width)
                self.take_picture(f"first-{width}")
                answer, numbers, chart, findings = self.boxes(".lead", ".numbers", ".main-chart canvas",
                                                              "section.findings")
                # The number of lines in the answer depends on the measurements: a narrow page needs room for them.
                last = {400: numbers[0], 800: chart[0], 1200: chart[1]}[width]
                self.assertLess(answer[0], 150)
                self.assertLess(last, HEIGHT)
                self.assertLess(answer[0], numbers[0])
                self.assertLess(chart[1], findings[0])
        self.assertEqual(self.tab.evaluate("document.querySelectorAll('.numbers .value').length"), 3)

    def test_no_chart_cuts_what_it_draws(self):
        page = self.emulated_sweep()
        for width in WIDTHS:
            self.show(page, width)
            self.tab.unfold()
            charts = self.charts()
            self.assertIn(1950, [value for chart in charts for value in chart["drawn"]])
            for chart in charts:
                with self.subTest(width=width, chart=chart["title"]):
                    for value in chart["drawn"]:
                        self.assertLess(value, chart["scale"]["max"])
                    for end in chart["notes"]:
                        self.assertLessEqual(end, chart["width"])

    def test_labels_keep_every_letter(self):
        page = self.emulated_sweep()
        for width in WIDTHS:
            self.show(page, width)
            bars = [chart for chart in self.charts() if chart["labels"]]
            self.assertTrue(any(LONG_NAME in label for chart in bars for label in chart["labels"]))
            for chart in bars:
                self.assertLess(chart["overlap"], 0, (width, chart["title"]))

    def test_pipelines_have_colours_of_their_own_and_a_legend(self):
        self.show(self.emulated_sweep(), 1200)
        main = self.charts()[0]
        self.assertEqual(main["title"], "Images/s by trial (emulated)")
        self.assertEqual(main["legend"], [LONG_NAME, "optimized"])
        self.assertEqual(len(main["colors"]), 2)

    def test_the_axis_of_ranks_begins_at_the_fewest_that_were_measured(self):
        self.show(self.emulated_sweep(), 1200)
        ranks = [chart["ranks"] for chart in self.charts() if chart["ranks"]]
        self.assertEqual(len(ranks), 1)
        self.assertGreater(ranks[0]["min"], 0.5)
        self.assertLess(ranks[0]["min"], 1)
        self.assertLess(4, ranks[0]["max"])

    def test_a_deep_queue_does_not_flatten_the_others(self):
        page = self.emulated_sweep()
        self.show(page, 1200)
        self.tab.unfold()
        queues = [chart for chart in self.charts() if chart["title"].startswith("Queues:")]
        self.assertEqual(len(queues), 4)
        for chart in queues:
            self.assertEqual(chart["values"], [100], chart["title"])
            self.assertIn("(of 500)", chart["legend"][0])
            self.assertIn("(of 2)", chart["legend"][1])

    def test_engine_none_has_no_parts_of_a_step(self):
        self.show(self.swept(), 1200)
        titles = [chart["title"] for chart in self.charts()]
        self.assertTrue(titles)
        for title in titles:
            self.assertNotIn("Share of the step time", title)
            self.assertNotIn("raining", title)
        shown = self.tab.evaluate("[...document.querySelectorAll('#times td')].map(cell => cell.dataset.key)")
        self.assertNotIn("wait_share", shown)
        self.assertIn("cores_busy_share", shown)

    def test_two_jobs_on_one_host_have_a_chart_and_a_table(self):
        # Enough steps for some batches of either job on any machine.
        out = self.measured(cores_per_rank=1, measure__steps=100, second_job={"cores": "shared"},
                            sweep={"second_job.kind": ["none", "input", "memory"]})
        self.skip_without_charts(out)
        self.show(out / "report.html", 400)
        self.assertEqual(self.tab.errors, [])
        chart = next(chart for chart in self.charts() if "keeps while" in chart["title"])
        self.assertEqual(chart["legend"], ["the trial", "the second job"])
        self.assertEqual(len(chart["values"]), 4)
        shown = self.tab.evaluate("[...document.querySelectorAll('#second-jobs-table tbody tr')]"
                                  ".map(row => row.textContent)")
        self.assertEqual(len(shown), 2)
        self.assertIn("GB/s", shown[1])

    def test_screen_readers_hear_what_charts_and_tables_show(self):
        self.show(self.emulated_sweep(), 800)
        self.assertIn(f"{LONG_NAME}, ranks 1: 102.0 images/s (100.0 to 104.0); optimized, ranks 1: ",
                      self.charts()[0]["text"])
        self.assertEqual(self.tab.evaluate("['main', 'nav', 'header', 'footer'].map("
                                           "name => document.querySelectorAll(name).length)"), [1, 1, 1, 1])
        self.assertEqual(self.tab.evaluate(
            "[...document.querySelectorAll('table')].filter(table => !table.caption?.textContent || "
            "table.querySelectorAll('th:not([scope])').length > 0).map(table => table.id)"), [])
        headings = self.tab.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(place => +place.tagName[1])")
        self.assertEqual(headings[:3], [1, 2, 2])

    def press(self, key, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.tab.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                          text=text)

    def test_the_keyboard_reaches_and_unfolds_everything(self):
        self.show(self.emulated_sweep(), 400)
        self.press("Tab", 9)
        self.assertEqual(self.tab.evaluate("document.activeElement.className"), "skip")
        self.press("Enter", 13, "\r")
        self.assertEqual(self.tab.evaluate("document.activeElement.id"), "main")
        folded = "document.querySelectorAll('main details:not([open])').length"
        before = self.tab.evaluate(folded)
        self.assertGreater(before, 3)
        self.tab.evaluate("document.querySelector('main details:not([open]) > summary').focus()")
        self.press("Enter", 13, "\r")
        self.assertEqual(self.tab.evaluate(folded), before - 1)
        self.tab.unfold()
        wide = ("[...document.querySelectorAll('main *')].filter(place => place.scrollWidth > place.clientWidth && "
                "getComputedStyle(place).overflowX === 'auto').map(place => place.tabIndex)")
        self.assertEqual(set(self.tab.evaluate(wide)), {0}, "wide tables and specs")

    def findings(self):
        """The groups of findings as the page shows them: name, whether it is open, headlines or texts."""
        return self.tab.evaluate("""[...document.querySelectorAll('details.group')].map(group => [
            group.querySelector('h3').textContent, group.open,
            [...group.querySelectorAll('.headline, .text')].map(place => place.textContent)])""")

    def given(self, findings):
        """A page with these findings, given their trials as numbers."""
        out = self.measured(sweep={"pipeline": ["naive", "optimized"]})

        def edit(report):
            names = [trial["trial"] for trial in report["trials"]]
            report["findings"] = [
                {"kind": "x", "text": "Told in full.", "emulated": False, **finding,
                 "trial": names[finding["trial"]] if "trial" in finding else ""} for finding in findings]
        self.change(out, edit)
        return out / "report.html"

    def test_findings_are_grouped_by_trial_and_cause_those_that_cost_most_first(self):
        def finding(headline, worth, kind="prefetch_batches", **more):
            return {"headline": headline, "reason": f"Because of {headline}.", "advice": "",
                    "command": "chexbench --config x.json", "worth_share": worth, "kind": kind, **more}
        page = self.given([finding("cheap", 0, trial=0), finding("waits", 0.4, "starved", trial=1),
                           finding("holds", 0.1, trial=1), finding("decodes", 0.05, "amplification", trial=1),
                           finding("dear", 0.2, trial=0), finding("all", 0.3),
                           *(finding(f"more {i}", 0) for i in range(3))])
        self.show(page, 800)
        self.assertEqual(self.findings(), [
            ["optimized", True, ["waits", "decodes", "holds"]],
            ["The whole run", False, ["all", "more 0", "more 1", "more 2"]],
            ["naive", False, ["dear", "cheap"]]])
        is_open, text = self.tab.evaluate(
            "(place => [place.open, place.textContent])(document.querySelector('li.finding details'))")
        self.assertFalse(is_open)
        for part in ("Because of waits.", "Told in full.", "costs up to 40 % of the time"):
            self.assertIn(part, text)
        commands = self.tab.evaluate("[...document.querySelectorAll('li.finding code')].map(one => one.textContent)")
        self.assertEqual(len(commands), 9)
        self.assertEqual(commands[0], "chexbench --config x.json")

    def test_findings_of_older_reports_have_their_text_and_their_trial(self):
        page = self.given([{"text": "optimized waits."}, {"text": "All of it is wrong.", "grade": "cannot be told"},
                           {"text": "naive decodes."}])
        self.show(page, 800)
        self.assertEqual(self.findings(), [["optimized", True, ["optimized waits."]],
                                           ["The whole run", True, ["All of it is wrong."]],
                                           ["naive", True, ["naive decodes."]]])
        self.assertNotEqual(self.tab.evaluate("document.querySelector('.lead').textContent"), "")

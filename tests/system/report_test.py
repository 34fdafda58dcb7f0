"""chexbench report, and report.html in a real browser: its numbers are those of report.json."""

import copy
import json
import resource
import statistics
import unittest

import browser
from harness import SystemTest, set_rate

NEEDS_BROWSER = unittest.skipUnless(browser.CHROMIUM, "no chromium here: scripts/setup full installs it")
SHARES = ("wait_share", "upload_share", "compute_share", "exposed_communication_share", "update_share", "other_share")


def percent(share):
    return f"{0 if abs(share) < 0.0005 else 100 * share:.1f}"


class ReportTest(SystemTest):
    def emulated(self):
        return self.measured(engine="emulated:v100", comm={"model": "alpha_beta"},
                             sweep={"pipeline": ["naive", "optimized"]}, measure__repeats=5)

    def steps(self):
        """Three pipelines over the same data: the folder of a report with an ablation."""
        return self.measured(sweep={"pipeline": ["naive", "keras", "optimized"]}, measure__repeats=5)

    def change(self, folder, edit):
        """Edits report.json and has the page written again."""
        report = self.report(folder)
        edit(report)
        (folder / "report.json").write_text(json.dumps(report))
        self.succeed("report", folder)
        return self.report(folder)

    def widen(self, folder, ranks):
        """Turns the one rank of report.json's first trial into `ranks`, each waiting longer than the last."""
        def edit(report):
            trial = report["trials"][0]
            trial["ranks"] = trial["spec"]["ranks"] = ranks
            for repeat in trial["repeats"]:
                columns = repeat["steps"]["columns"]
                of_one = repeat["steps"]["rows"]
                repeat["steps"]["rows"] = []
                for rank in range(ranks):
                    for row in copy.deepcopy(of_one):
                        row[columns.index("rank")] = rank
                        row[columns.index("wait_s")] += 0.01 * rank
                        row[columns.index("wall_s")] += 0.01 * rank
                        repeat["steps"]["rows"].append(row)
        return self.change(folder, edit)


class Verb(ReportTest):
    def test_writes_the_page_that_the_run_wrote(self):
        out = self.measured()
        page = (out / "report.html").read_text()
        (out / "report.html").unlink()
        done = self.succeed("report", out)
        self.assertEqual(done.stdout, self.succeed("report", out, "--format", "table").stdout)
        self.assertIn(f"wrote {out}/report.html", done.stderr)
        self.assertEqual((out / "report.html").read_text(), page)

    def test_the_file_is_as_good_as_its_folder(self):
        out = self.measured()
        page = (out / "report.html").read_text()
        (out / "report.html").unlink()
        self.succeed("report", out / "report.json")
        self.assertEqual((out / "report.html").read_text(), page)
        (out / "report.html").unlink()
        self.succeed("report", "report.json", cwd=out)
        self.assertEqual((out / "report.html").read_text(), page)

    def test_prints_the_other_formats(self):
        out = self.measured()
        self.assertEqual(self.succeed("report", out, "--format", "csv").stdout, (out / "trials.csv").read_text())
        self.assertEqual(self.succeed("report", out, "--format", "json").stdout, (out / "report.json").read_text())
        self.assertIn("images/s", self.succeed("report", out, "--format", "table").stdout)
        markdown = self.succeed("report", out, "--format", "markdown").stdout
        self.assertIn("| --- | ---: |", markdown)
        bencher = json.loads(self.succeed("report", out, "--format", "bencher").stdout)
        self.assertEqual(list(bencher), [f"system/{trial['trial']}" for trial in self.report(out)["trials"]])

    def test_the_page_alone_prints_nothing(self):
        out = self.measured()
        (out / "report.html").unlink()
        self.assertEqual(self.succeed("report", out, "--format", "html").stdout, "")
        self.assertTrue((out / "report.html").exists())

    def test_writes_where_it_is_told(self):
        out = self.measured()
        for name, text in (("html", "<!DOCTYPE html>"), ("markdown", "## chexbench: system")):
            target = self.folder / f"elsewhere.{name}"
            self.assertEqual(self.succeed("report", out, "--format", name, "-o", target).stdout, "")
            self.assertTrue(target.read_text().startswith(text))


class BadReports(ReportTest):
    def test_folders_without_a_report(self):
        for folder in (self.folder, self.folder / "gone", self.folder / ("x" * 5000)):
            with self.subTest(folder=str(folder)[:80]):
                self.fail_with(2, "report", folder, says="there is no report.json in it")
        self.fail_with(2, "report", says="DIR")

    def test_an_unknown_format(self):
        self.fail_with(2, "report", self.folder, "--format", "pdf", says="known: html, markdown, table")
        self.fail_with(2, "report", self.folder, "--format", "benchr", says="did you mean 'bencher'?")

    def test_damaged_reports_leave_the_page_as_it_was(self):
        out = self.measured()
        page = (out / "report.html").read_bytes()
        whole = (out / "report.json").read_text()
        report = json.loads(whole)
        no_repeats = {**report["trials"][0], "repeats": []}
        for text, says in ((whole[:len(whole) // 2], ""), ("", ""), ("[]", ""),
                           (json.dumps({**report, "schema_version": 99}), "schema_version is 99"),
                           (json.dumps({**report, "trials": []}), "no measured trial"),
                           (json.dumps({**report, "trials": [no_repeats]}), "")):
            with self.subTest(text[:80]):
                (out / "report.json").write_text(text)
                self.fail_with(3, "report", out, says=[f"{out}/report.json", says])
                self.assertEqual((out / "report.html").read_bytes(), page)

    def test_files_that_cannot_be_written(self):
        out = self.measured()
        self.fail_with(6, "report", out, "-o", self.folder / "gone/page.html", says="gone/page.html")
        self.fail_with(6, "report", out, "-o", self.folder, says=str(self.folder))

    def test_a_full_disk_keeps_the_old_page(self):
        out = self.measured()
        (out / "report.html").write_text("the old page")
        self.fail_with(6, "report", out, says="report.html", restore_signals=False,  # as DiskFull of bad_output_test.py
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        self.assertEqual((out / "report.html").read_text(), "the old page")
        self.assertEqual(list(out.glob("report.html?*")), [])


@NEEDS_BROWSER
class InABrowser(ReportTest):
    def open(self, folder):
        page = browser.Page(folder / "report.html")
        self.assertEqual(page.console, [])
        self.assertEqual(page.attributes["html"].get("data-ready"), "true")
        return page

    def assert_number(self, cell, value, text):
        """The cell keeps the exact number, and shows it rounded."""
        self.assertEqual(float(cell["value"]), value)
        self.assertEqual(cell["text"], text)

    def assert_figures(self, page, report):
        for trial, row in zip(report["trials"], page.tables["throughput"], strict=True):
            figures = trial["figures"]
            value = figures["images_per_s"]
            self.assertEqual(row["trial"], trial["key"])
            self.assert_number(row["images_per_s"], value, f"{value:.{2 if value < 10 else 1}f}")
            for key, index in (("images_per_s_ci95_low", 0), ("images_per_s_ci95_high", 1)):
                if figures["images_per_s_ci95"]:
                    self.assertEqual(float(row[key]["value"]), figures["images_per_s_ci95"][index])
                else:
                    self.assertNotIn(key, row)
            self.assertEqual(float(row["peak_rss_bytes"]["value"]), figures["peak_rss_bytes"])
            self.assertEqual(row["repeats"]["text"], str(len(trial["repeats"])))
        for trial, row in zip(report["trials"], page.tables["times"], strict=True):
            for key in SHARES + ("busy_share",):
                if trial["spec"]["engine"] == "none":  # which does nothing but wait
                    self.assertNotIn(key, row)
                else:
                    self.assert_number(row[key], trial["figures"][key], percent(trial["figures"][key]))

    def test_shows_the_numbers_of_one_trial(self):
        out = self.measured()
        page = self.open(out)
        self.assert_figures(page, self.report(out))
        waits = [wait["share"] for wait in self.report(out)["trials"][0]["figures"]["waits"]]
        self.assertEqual([float(row["share"]["value"]) for row in page.tables["waits"]],
                         [share for share in waits if percent(share) != "0.0"])
        ops = self.report(out)["trials"][0]["repeats"][0]["ops"]
        self.assertEqual([row["op"]["text"] for row in page.tables["queues"]], [op["op"] for op in ops])

    def test_shows_intervals_and_marks_emulated_trials_everywhere(self):
        out = self.emulated()
        page = self.open(out)
        report = self.report(out)
        self.assert_figures(page, report)
        self.assertEqual(sorted(page.classes["headline"]),
                         sorted(finding["headline"] for finding in report["findings"]))
        for name, rows in page.tables.items():
            for row in rows:
                self.assertIn("(emulated)", row["label"]["text"], name)
        for title in page.texts.get("figcaption", []):
            self.assertIn("(emulated)", title)

    def test_shows_what_each_step_of_an_ablation_is_worth(self):
        rates = [[100, 101, 102, 103, 104], [200, 203, 201, 204, 202], [150, 151, 152, 153, 155],
                 [152, 148, 155, 157, 146]]

        def set_rates(report):
            report["trials"].append(copy.deepcopy(report["trials"][2]))
            report["trials"][3].update(trial="the fourth", key="f" * 16)
            for trial, of_trial in zip(report["trials"], rates, strict=True):
                for repeat, rate in zip(trial["repeats"], of_trial, strict=True):
                    set_rate(repeat, rate)

        out = self.steps()
        report = self.change(out, set_rates)
        self.succeed("report", out, "--format", "json", "-o", out / "derived.json")
        page = self.open(out)
        steps = json.loads((out / "derived.json").read_text())["ablations"][0]["steps"]
        rows = page.tables["ablation-0"]
        self.assertEqual([row["label"]["text"] for row in rows],
                         ["naive", "keras", report["trials"][2]["trial"], "the fourth"])
        self.assertEqual([row["worth"]["text"] for row in rows], ["", "gain", "loss", "cannot be told"])
        medians = [statistics.median(of_trial) for of_trial in rates]
        for index, (step, row) in enumerate(zip(steps, rows, strict=True)):
            self.assertEqual(row["trial"], report["trials"][index]["key"])
            self.assertEqual(float(row["images_per_s"]["value"]), medians[index])
            self.assert_ratio(row, "ratio", step, index and medians[index] / medians[index - 1])
            self.assert_ratio(row, "ratio_to_first", step, index and medians[index] / medians[0])
        self.assert_number(rows[1]["added"], 100, "+100.0")
        self.assert_number(rows[2]["added"], -50, "-50.0")

    def assert_ratio(self, row, key, step, expected):
        """The row has the ratio and interval of report.json, or none if none is expected."""
        if not expected:
            self.assertIsNone(step[key])
            self.assertEqual(row[key], {"text": "", "value": None})
            return
        self.assertAlmostEqual(step[key], expected, places=12)
        self.assert_number(row[key], step[key], f"{step[key]:.2f}")
        for bound, value in zip(("low", "high"), step[key + "_ci95"], strict=True):
            self.assert_number(row[f"{key}_{bound}"], value, f"{value:.2f}")

    def test_has_no_ablation_of_two_pipelines(self):
        page = self.open(self.emulated())
        self.assertNotIn("ablation-0", page.tables)
        self.assertNotIn("Step by step", page.texts["h2"])

    def test_tells_what_the_specs_differ_in(self):
        rows = self.open(self.emulated()).tables["specs"]
        self.assertEqual([list(row) for row in rows], [["trial", "label", "pipeline.ops"]] * 2)
        self.assertIn("| map parallel_calls=10 ", rows[0]["pipeline.ops"]["text"])
        self.assertIn("| map_and_batch ", rows[1]["pipeline.ops"]["text"])

    def test_sixteen_ranks_have_a_row_and_a_bar_each(self):
        out = self.measured(engine="emulated:v100", comm={"model": "alpha_beta"})
        report = self.widen(out, ranks=16)
        page = self.open(out)
        rows = page.tables["ranks"]
        self.assertEqual([row["rank"]["text"] for row in rows], [str(rank) for rank in range(16)])
        for rank, row in enumerate(rows):
            waits, walls = self.sums_of(report["trials"][0], rank)
            self.assertAlmostEqual(float(row["wait_share"]["value"]), waits / walls, places=12)
            self.assertAlmostEqual(float(row["wall_s"]["value"]), walls, places=12)

    def sums_of(self, trial, rank):
        """Wait and wall time of a rank, in s."""
        sums = [0, 0]
        for repeat in trial["repeats"]:
            place = {name: index for index, name in enumerate(repeat["steps"]["columns"])}
            for row in repeat["steps"]["rows"]:
                if row[place["rank"]] == rank:
                    sums[0] += row[place["wait_s"]]
                    sums[1] += row[place["wall_s"]]
        return sums

    def test_partial_trials_stand_beside_whole_ones(self):
        def interrupt(report):
            report["interrupted"] = True
            second = copy.deepcopy(report["trials"][0])
            second.update(trial="the second", key="f" * 16, partial=True, repeats=[])
            report["trials"].append(second)
        out = self.measured()
        self.change(out, interrupt)
        page = self.open(out)
        self.assertIn("ended early: these are the measurements up to then", page.texts["p"])
        self.assertEqual([row["repeats"]["text"] for row in page.tables["throughput"]], ["2", "0"])
        self.assertIn("partial", page.tables["throughput"][1]["flags"]["text"])
        self.assertEqual(len(page.tables["times"]), 1)

    def test_text_of_a_report_is_never_code(self):
        attack = "</script><script>console.error('run')</script><img src=x onerror=console.error('run')>"

        def poison(report):
            report["experiment"] = attack
            report["environment"]["host"] = attack
            report["findings"] = [{"kind": "x", "text": attack, "emulated": False},
                                  {"kind": "y", "text": "Who knows?", "emulated": False, "grade": "cannot be told"}]
            report["trials"][0]["trial"] = attack
        out = self.measured()
        self.change(out, poison)
        page = self.open(out)
        self.assertEqual(page.classes["text"], [attack, "Who knows?"])
        self.assertIn("cannot be told", page.classes["grade"])
        self.assertNotIn("img", page.counts)

    def test_charts_are_painted_in_the_colors_of_both_themes(self):
        out = self.emulated()
        self.change(out, lambda report: [set_rate(repeat, 100) for trial in report["trials"]
                                         for repeat in trial["repeats"]])  # bars of one length
        if "Chart.js v" not in (out / "report.html").read_text():
            self.skipTest("built without Chart.js")
        for dark, ground, *bars in ((False, (0xff, 0xff, 0xff), (0x00, 0x72, 0xb2), (0xd5, 0x5e, 0x00)),
                                    (True, (0x14, 0x17, 0x1b), (0x56, 0xb4, 0xe9), (0xf0, 0x76, 0x2b))):
            with self.subTest(dark=dark):
                counts = browser.colors(out / "report.html", dark)
                self.assertGreater(counts.get(ground, 0), 500_000)
                for bar in bars:
                    self.assertGreater(counts.get(bar, 0), 3_000, "the bar of a pipeline")

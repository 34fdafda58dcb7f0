"""scripts/reproduce: what a study measures, predicts and judges, and what a smaller machine or budget leaves out."""

import json
import os
import subprocess
import sys
import unittest

from harness import BINARY, ROOT, SystemTest

sys.path.insert(0, str(ROOT / "scripts/studies"))
import convergence  # noqa: E402
import dell_article  # noqa: E402
import malik  # noqa: E402
import planning  # noqa: E402
import sc19_poster  # noqa: E402
import timeline  # noqa: E402

REPRODUCE = ROOT / "scripts/reproduce"


def reproduce(*arguments):
    return subprocess.run([REPRODUCE, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "CHEXBENCH_BINARY": str(BINARY)})


def row(pipeline, ranks, images_per_s, kind="measured", fmt="png", busy_share=1.0):
    return {"model": "resnet50", "decoder": "opencv", "pipeline": pipeline, "format": fmt, "ranks": ranks,
            "kind": kind, "images_per_s": images_per_s, "low": 0.99 * images_per_s, "high": 1.01 * images_per_s,
            "busy_share": busy_share, "scale_factor": 5.0}


def results(rows, gains=()):
    """Results of rows, and of the ratios of TFRecords to PNGs by ranks: {ranks: (ratio, low, high, grade)}."""
    made = sc19_poster.Results(rows, [])
    for ranks, (ratio, low, high, grade) in dict(gains).items():
        made.ratios["resnet50", "opencv", ranks, "format_ratio"] = {
            "kind": "format_ratio", "ratio": ratio, "ratio_ci95": [low, high], "grade": grade}
    return made


class Claims(unittest.TestCase):
    def test_scaling_is_judged_by_the_interval_and_called_linear_on_all_ranks_only(self):
        for ranks, rate, optimized, naive in ((16, 6000, sc19_poster.HOLDS, sc19_poster.FAILS),
                                              (4, 1500, sc19_poster.UNKNOWN, sc19_poster.UNKNOWN),
                                              (4, 900, sc19_poster.FAILS, sc19_poster.HOLDS),
                                              (4, 1385, sc19_poster.UNKNOWN, sc19_poster.UNKNOWN)):
            for pipeline, is_linear, expected in (("optimized", True, optimized), ("naive", False, naive)):
                made = results([row(pipeline, 1, 384), row(pipeline, ranks, rate)])
                self.assertEqual(sc19_poster.scaling_claim(made, "resnet50", pipeline, is_linear)[1], expected, rate)

    def test_a_prediction_judges_nothing(self):
        made = results([row("optimized", 1, 384), row("optimized", 16, 6100, kind="predicted")])
        claim, verdict, evidence = sc19_poster.scaling_claim(made, "resnet50", "optimized", True)
        self.assertEqual(verdict, sc19_poster.UNKNOWN)
        self.assertIn("not measured on more than one rank", evidence)

    def test_a_gain_is_judged_by_its_interval_unless_the_machine_was_too_busy(self):
        for gain, expected in (((1.10, 1.09, 1.14, "told apart"), sc19_poster.HOLDS),
                               ((1.01, 1.00, 1.03, "cannot be told"), sc19_poster.FAILS),
                               ((1.06, 1.01, 1.20, "told apart"), sc19_poster.UNKNOWN),
                               ((1.01, 1.00, 1.03, "machine too busy"), sc19_poster.UNKNOWN)):
            made = results([row("optimized", 2, 700)], {2: gain})
            self.assertEqual(sc19_poster.gain_claim(made, "resnet50")[1], expected, gain)

    def test_every_measured_row_must_be_busy(self):
        for share, expected in ((0.99, sc19_poster.HOLDS), (0.8, sc19_poster.FAILS)):
            made = results([row("optimized", 1, 384), row("optimized", 2, 700, busy_share=share)])
            self.assertEqual(sc19_poster.busy_claim(made, "resnet50")[1], expected)


class DellArticle(unittest.TestCase):
    def overlap(self, ratio, interval, grade="told apart", wait=0.6, busy=0.4):
        figures = {"wait_share": wait, "busy_share": busy}
        ratio = {"kind": "pipeline_ratio", "trial": "pipelined (emulated)", "ratio": ratio, "ratio_ci95": interval,
                 "grade": grade}
        return dell_article.overlap_claim({"trials": [{"figures": figures}], "findings": [ratio]})[1]

    def test_pipelining_must_hide_the_smaller_part_of_a_step(self):
        self.assertEqual(self.overlap(1.66, [1.6, 1.7]), dell_article.HOLDS)  # 1 / 0.6
        self.assertEqual(self.overlap(1.02, [1.0, 1.05]), dell_article.FAILS)
        self.assertEqual(self.overlap(1.5, [1.2, 1.8]), dell_article.UNKNOWN)
        self.assertEqual(self.overlap(1.66, [1.6, 1.7], "machine too busy"), dell_article.UNKNOWN)
        self.assertEqual(self.overlap(1.66, None), dell_article.UNKNOWN)

    def test_published_rates_are_held_against_measured_ones_alone(self):
        published = [{"ranks": 1, "value": 185.0}, {"ranks": 2, "value": 315.0}]
        for rate, kind, expected in ((320, "measured", dell_article.HOLDS), (370, "measured", dell_article.FAILS),
                                     (320, "predicted", dell_article.UNKNOWN)):
            made = results([row("optimized", 2, rate, kind)])
            self.assertEqual(dell_article.published_claim(made, published)[1], expected)

    def test_a_time_line_begins_with_the_first_measured_step(self):
        def event(name, row, ts, dur, cat=None):
            return {"ph": "X", "name": name, "row": row, "ts": ts, "dur": dur, "cat": cat}
        events = [event("batch", "main", 0, 40), event("pipelined", "steps", 100, 90, "trial"),
                  event("batch", "prefetch", 90, 30)]
        for number in range(6):
            events += [event(f"step {number}", "steps", 100 + 10 * number, 10, "step"),
                       event("wait", "steps", 100 + 10 * number, 4, "step"),
                       event("compute", "steps", 104 + 10 * number, 6, "step")]
        spans = timeline.spans(events, "pipelined")
        self.assertEqual([(span["begin_s"], round(span["end_s"], 9)) for span in spans if span["lane"] == "prepare"],
                         [(0, 20e-6)])
        self.assertEqual(len([span for span in spans if span["lane"] == "train"]), timeline.STEPS)
        self.assertEqual(max(span["end_s"] for span in spans), 40e-6)


class Malik(unittest.TestCase):
    def test_a_prediction_stands_beside_a_source_that_is_as_fast_on_one_gpu(self):
        training = {"device": "k80", "model": "alexnet", "batch_size": 512}
        predicted = [{**training, "update": "ring", "ranks": ranks, "images_per_s": 656.0 * ranks} for ranks in (1, 4)]
        published = [{**training, "program": program, "ranks": ranks, "images_per_s": rate}
                     for program, ranks, rate in (("A", 1, 650.0), ("A", 4, 2000.0), ("B", 1, 1000.0), ("B", 4, 4000.0),
                                                  ("C", 4, 2600.0))]
        compared = malik.misfits(predicted, published)
        self.assertEqual([(row["program"], row["ranks"], round(row["ratio"], 3)) for row in compared],
                         [("A", 1, 1.009), ("A", 4, 1.312)])

    def test_what_no_profile_has_is_a_hole(self):
        known, holes = malik.trainings()
        self.assertIn(("p100", "alexnet", 512), known)
        self.assertEqual(len(known) + len(holes), len(malik.DEVICES) * len(malik.MODELS) * len(malik.BATCH_SIZES))


class Convergence(unittest.TestCase):
    def verdict(self, losses):
        rows = [{"ranks": ranks, "repeat": repeat, "epoch": epoch, "training_loss": loss + 0.01 * repeat}
                for ranks, loss in losses.items() for repeat in range(3) for epoch in (1, 2)]
        return convergence.judge(rows)[1]

    def test_the_loss_must_fall_sooner_on_fewer_ranks_in_every_repeat(self):
        self.assertEqual(self.verdict({1: 0.1, 2: 0.2, 4: 0.3}), convergence.HOLDS)
        self.assertEqual(self.verdict({1: 0.3, 2: 0.2, 4: 0.1}), convergence.FAILS)
        self.assertEqual(self.verdict({1: 0.1, 2: 0.11, 4: 0.3}), convergence.UNKNOWN)
        self.assertEqual(convergence.judge([])[1], convergence.UNKNOWN)


class Planning(unittest.TestCase):
    def groups(self):
        return [planning.Group("a", "opencv", 1, 3, seconds=100), planning.Group("a", "opencv", 16, 1, seconds=900),
                planning.Group("b", "opencv", 2, 3, seconds=150)]

    def test_the_first_that_fit_are_measured(self):
        groups = self.groups()
        planning.choose(groups, 300, lambda group: 1e6)
        self.assertEqual([bool(group.left_out) for group in groups], [False, True, False])
        self.assertIn("15 minutes, more than the budget leaves", groups[1].left_out)

    def test_what_does_not_fit_into_memory_is_left_out(self):
        groups = self.groups()
        planning.choose(groups, 3000, lambda group: planning.available_bytes() / 10)
        self.assertEqual([bool(group.left_out) for group in groups], [False, True, False])
        self.assertIn("GB of memory", groups[1].left_out)


class Reproduce(SystemTest):
    def test_a_study_without_time_predicts_all_and_goes_on_with_more(self):
        data = self.folder / "data"
        self.succeed("data", "synth", data, "--images", "16", "--size", "128")
        self.succeed("data", "convert", data, "--split", "all")
        arguments = ("sc19-poster", "--data", data, "--output", self.folder / "out", "--budget", "0.01")
        done = reproduce(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        folder = self.folder / "out/sc19-poster"
        self.assertEqual({row["kind"] for row in self.rows(folder, "figure1.csv")}, {"predicted"})
        published = [row for row in self.rows(folder, "figure4.csv") if row["kind"] == "published"]
        self.assertEqual([row["gain_percent"] for row in published], ["8.39", "13.1"])
        self.assertIn("cannot be told", done.stdout)
        for name in ("README.md", "index.html"):
            text = (folder / name).read_text()
            self.assertIn("more than the budget leaves", text)
            self.assertIn("Converting to TFRecords is not always worth it", text)
        # What was measured is used again; what was cut off is measured again.
        kept = folder / "runs/input-resnet50-fast/report.json"
        cut = folder / "runs/input-resnet50-opencv/report.json"
        before = kept.stat().st_mtime_ns
        report = json.loads(cut.read_text())
        cut.write_text(json.dumps({**report, "interrupted": True}))
        self.assertEqual(reproduce(*arguments).returncode, 0)
        self.assertEqual(kept.stat().st_mtime_ns, before)
        self.assertFalse(json.loads(cut.read_text())["interrupted"])

    def test_dells_article_without_time_has_its_time_lines_and_its_ablation(self):
        data = self.folder / "data"
        self.succeed("data", "synth", data, "--images", "16", "--size", "128")
        self.succeed("data", "convert", data, "--split", "all")
        done = reproduce("dell-article", "--data", data, "--output", self.folder / "out", "--budget", "0.01")
        self.assertEqual(done.returncode, 0, done.stderr)
        folder = self.folder / "out/dell-article"
        for name, lanes in (("figure1.csv", {"prepare", "train", "wait"}), ("figure2.csv", {"prepare", "train"})):
            self.assertLessEqual(lanes, {row["lane"] for row in self.rows(folder, name)})
        self.assertEqual({row["kind"] for row in self.rows(folder, "figure3.csv")}, {"predicted", "published"})
        self.assertEqual([row["step"] for row in self.rows(folder, "figure4.csv")][::6], ["naive", "optimized"])
        self.assertIn("Mapping ranks by socket is best", (folder / "README.md").read_text())
        self.assertIn("more than the budget leaves", (folder / "README.md").read_text())

    def test_what_cannot_be_is_said(self):
        for arguments, code, says in ((["sc20"], 2, "invalid choice: 'sc20'"),
                                      (["sc19-poster", "--budget", "-1"], 2, "invalid minutes value: '-1'"),
                                      (["sc19-poster", "--data", self.folder / "none"], 3, "none")):
            done = reproduce(*arguments, "--output", self.folder / "out")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(says, done.stderr)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()

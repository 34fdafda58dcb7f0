"""scripts/plot.py draws each figure, and says what a run lacks."""

import csv
import subprocess
import sys
import unittest

from harness import ROOT, SystemTest

PLOT = ROOT / "scripts/plot.py"
COLUMNS = ["trial", "pipeline", "format", "engine", "ranks", "batch_size", "images_per_s", "images_per_s_ci95_low",
           "images_per_s_ci95_high", "wait_share", "upload_share", "compute_share", "exposed_communication_share",
           "update_share", "other_share", "emulated"]
ENDS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


def trial(pipeline, fmt, ranks, images_per_s, engine="none", **columns):
    row = {"trial": f"{pipeline} {fmt} ranks={ranks}", "pipeline": pipeline, "format": fmt, "engine": engine,
           "ranks": ranks, "batch_size": 16, "images_per_s": images_per_s, "images_per_s_ci95_low": 0.97 * images_per_s,
           "images_per_s_ci95_high": 1.02 * images_per_s, "wait_share": 0.5, "upload_share": 0, "compute_share": 0.3,
           "exposed_communication_share": 0.1, "update_share": 0.06, "other_share": 0.04,
           "emulated": str(engine.startswith("emulated")).lower()}
    return {**row, **columns}


TRIALS = [trial(pipeline, fmt, ranks, 100 * rate * ranks ** power, engine)
          for pipeline, power in (("naive", 0.1), ("optimized", 0.98)) for fmt, rate in (("png", 5), ("tfrecord", 6))
          for engine in ("none", "emulated:v100") for ranks in (1, 2, 4)]


def python_with_matplotlib():
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            if subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode == 0:
                return python
        except OSError:
            continue
    return None


PYTHON = python_with_matplotlib()


class Plot(SystemTest):
    def run_with(self, trials, name="run", columns=COLUMNS):
        """The folder of a run that measured these trials."""
        folder = self.folder / name
        folder.mkdir()
        with open(folder / "trials.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, columns, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(trials)
        return folder

    def plot(self, *runs, figure="throughput", output="figure.svg"):
        path = self.folder / output
        done = subprocess.run(
            [PYTHON or sys.executable, str(PLOT), *map(str, runs), "--figure", figure, "--output", str(path)],
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done, path

    def drawn(self, *runs, **options):
        done, path = self.plot(*runs, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return path.read_bytes()

    def refused(self, code, says, *runs, **options):
        done, path = self.plot(*runs, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        for text in says if isinstance(says, tuple) else (says,):
            self.assertIn(text, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertFalse(path.exists())


@unittest.skipUnless(PYTHON, "no matplotlib")
class Figures(Plot):
    def test_each_figure_is_drawn_as_each_kind_of_file(self):
        run = self.run_with(TRIALS)
        for figure in ("throughput", "scaling", "formats", "time"):
            for ending, begin in ENDS.items():
                with self.subTest(figure=figure, ending=ending):
                    image = self.drawn(run, figure=figure, output=figure + ending)
                    self.assertTrue(image.startswith(begin))
                    self.assertGreater(len(image), 5000)

    def test_a_figure_holds_its_numbers_and_names(self):
        texts = {"throughput": ["naive tfrecord input alone ranks 2", ">1,945<", "images/s"],
                 "scaling": ["optimized png emulated:v100", ">ideal<", "hollow and dashed: emulated accelerator"],
                 "formats": [">1.20 x<", "naive input alone ranks 1"],
                 "time": [">50 %<", ">30 %<", "waiting for a batch", "communication not hidden"]}
        run = self.run_with(TRIALS)
        for figure, wanted in texts.items():
            text = self.drawn(run, figure=figure, output=figure + ".svg").decode()
            for words in wanted:
                self.assertTrue(words in text, f"{words} in {figure}")

    def test_emulated_trials_are_hatched_and_named_and_others_are_not(self):
        for engine in ("none", "emulated:v100"):
            run = self.run_with([trial("naive", "png", 1, 10, engine), trial("optimized", "png", 1, 20, engine)],
                                name=engine.replace(":", "-"))
            text = self.drawn(run).decode()
            for mark in ("naive (emulated)", "hatched: emulated accelerator (emulated:v100)", "<pattern"):
                self.assertEqual(mark in text, engine != "none", mark)

    def test_the_same_run_gives_the_same_file(self):
        run = self.run_with(TRIALS)
        for ending in ENDS:
            self.assertEqual(self.drawn(run, output="a" + ending), self.drawn(run, output="b" + ending))

    def test_several_runs_stand_in_one_figure_by_the_names_of_their_folders(self):
        runs = [
            self.run_with([trial("naive", "png", 1, rate)], name=name) for name, rate in (("before", 10), ("after", 20))
        ]
        text = self.drawn(runs[0], runs[1] / "trials.csv").decode()
        self.assertTrue(">before<" in text and ">after<" in text)

    def test_a_trial_without_intervals_is_drawn_and_one_without_a_result_is_not(self):
        run = self.run_with([trial("naive", "png", 1, 10, images_per_s_ci95_low="", images_per_s_ci95_high=""),
                             {**trial("optimized", "png", 1, 20), "images_per_s": ""}])
        text = self.drawn(run).decode()
        self.assertFalse("optimized" in text)

    def test_a_figure_for_which_nothing_was_measured_says_what_to_sweep(self):
        run = self.run_with([trial("naive", "png", 1, 10)])
        self.refused(3, "more than one number of ranks", run, figure="scaling")
        self.refused(3, "data.format", run, figure="formats")

    def test_trials_that_nothing_tells_apart_are_not_mixed_up(self):
        run = self.run_with([trial("naive", "png", ranks, rate) for ranks, rate in ((1, 10), (2, 20), (2, 30))])
        self.refused(3, "measured twice at ranks 2", run, figure="scaling")

    def test_a_file_that_cannot_be_written_is_named(self):
        self.refused(6, ("no-such-folder", "No such file"), self.run_with(TRIALS), output="no-such-folder/figure.png")


class BadRuns(Plot):
    def test_missing_columns_are_named(self):
        run = self.run_with(TRIALS, columns=[name for name in COLUMNS if name not in ("update_share", "upload_share")])
        self.refused(3, ("trials.csv lacks the columns upload_share, update_share",), run, figure="time")

    def test_a_run_that_is_not_there_is_named(self):
        self.refused(3, ("nowhere/trials.csv", "No such file"), self.folder / "nowhere" / "trials.csv")

    def test_a_run_without_results_is_an_error(self):
        self.refused(3, "no trial", self.run_with([]))

    @unittest.skipUnless(PYTHON, "no matplotlib")
    def test_a_field_that_is_no_number_is_named(self):
        self.refused(3, ("images_per_s is 'fast'", "naive png ranks=1"),
                     self.run_with([{**trial("naive", "png", 1, 10), "images_per_s": "fast"}]))

    def test_an_unknown_ending_or_figure_is_a_usage_error(self):
        run = self.run_with(TRIALS)
        self.refused(2, ".png, .svg or .pdf", run, output="figure.gif")
        self.refused(2, "invalid choice", run, figure="pie")


if __name__ == "__main__":
    unittest.main()

"""scripts/plot.py draws each figure and any column, marks unmeasured values, and reports what a run lacks."""

import os
import re
import sys
import unittest

from plots import (COLUMNS, ENDS, EPOCHS, FEW_TRIALS, MEASURED, OPS, PLOT, PUBLISHED, PYTHON, RELIABILITY, ROC, STEPS,
                   TRIALS, UPDATES, Plot, trial)

OF_TRIALS = ("throughput", "scaling", "efficiency", "formats", "storage", "time", "utilization", "update")


@unittest.skipUnless(PYTHON, "no matplotlib")
class Figures(Plot):
    def test_each_figure_is_drawn_as_each_kind_of_file(self):
        run = self.run_with([*FEW_TRIALS, *UPDATES], epochs=EPOCHS, roc=ROC, reliability=RELIABILITY)
        for figure in (*OF_TRIALS, "learning", "roc", "reliability", "prediction"):
            with self.subTest(figure=figure):
                code, errors, path = self.plot(run, figure=figure, output=figure)
                self.assertEqual((code, errors), (0, ""))
                for ending in (".svg", ".png"):
                    image = path.with_suffix(ending).read_bytes()
                    self.assertTrue(image.startswith(ENDS[ending]))
                    self.assertGreater(len(image), 5000)
        self.assertTrue(self.drawn(run / "trials.csv", output="figure.pdf").startswith(ENDS[".pdf"]))

    def test_a_figure_holds_its_numbers_and_names(self):
        texts = {"throughput": ["naive tfrecord input alone ranks 2", "1,945", "images/s"],
                 "scaling": ["optimized images emulated:v100", "ideal", "hollow and dashed: emulated accelerator"],
                 "efficiency": ["optimized images emulated:v100", "ideal", "images/s / (ranks x images/s of one rank)"],
                 "formats": ["1.20 x", "naive input alone ranks 1"],
                 "storage": ["naive input alone ranks 1", "images tfrecord", "1,945"],
                 "time": ["50 %", "30 %", "waiting for a batch", "communication not hidden"],
                 "utilization": ["36 %", "busy", "waiting for a batch"]}
        run = self.run_with(TRIALS)
        for figure, wanted in texts.items():
            with self.subTest(figure=figure):
                self.holds(wanted, run, figure=figure)

    def test_intervals_are_drawn_as_error_bars(self):
        for figure, column in (("throughput", "images_per_s"), ("efficiency", "scaling_efficiency")):
            bounds = {f"{column}_ci95_low": "", f"{column}_ci95_high": ""}
            with_bounds = self.run_with(FEW_TRIALS, name=f"{figure}-with")
            without = self.run_with([{**row, **bounds} for row in FEW_TRIALS], name=f"{figure}-without")
            for run, expected in ((with_bounds, True), (without, False)):
                self.assertEqual("LineCollection" in self.words(run, figure=figure)[1], expected, run)

    def test_emulated_trials_are_hatched_and_named_and_others_are_not(self):
        for engine in ("none", "emulated:v100"):
            run = self.run_with([trial("naive", "images", 1, 10, engine), trial("optimized", "images", 1, 20, engine)],
                                name=engine.replace(":", "-"))
            words, text = self.words(run)
            for mark in ("naive (emulated)", "hatched: emulated accelerator (emulated:v100)"):
                self.assertEqual(mark in words, engine != "none", mark)
            self.assertEqual("<pattern" in text, engine != "none")

    def test_a_scale_model_is_named_with_its_scale(self):
        run = self.run_with([trial("optimized", "images", ranks, 10 * ranks, "emulated:v100", scale_factor=5)
                             for ranks in (1, 2)])
        for options in ({"figure": "throughput"}, {"figure": "scaling"}, {"figure": "prediction"},
                        {"y": "peak_rss_bytes", "x": "ranks"}):
            self.holds("measured by a scale model (1 : 5)", run, **options)
        self.holds("(scale model, 1 : 5)", run)

    def test_the_same_run_gives_the_same_file(self):
        run = self.run_with(FEW_TRIALS)
        self.ends_with(0, PYTHON, "-B", PLOT, run, "--figure", "throughput", "--output", self.folder / "a")
        for ending in (".svg", ".png"):
            self.assertEqual((self.folder / f"a{ending}").read_bytes(), self.drawn(run, output="b" + ending))
        self.assertEqual(self.drawn(run, output="c.pdf"), self.drawn(run, output="d.pdf"))

    def test_several_runs_stand_in_one_figure_by_the_names_of_their_folders(self):
        runs = [
            self.run_with([trial("naive", "images", 1, rate)], name=name)
            for name, rate in (("before", 10), ("after", 20))
        ]
        self.holds(["before", "after"], runs[0], runs[1] / "trials.csv")

    def test_a_trial_without_intervals_is_drawn_and_one_without_a_result_is_not(self):
        run = self.run_with([trial("naive", "images", 1, 10, images_per_s_ci95_low="", images_per_s_ci95_high=""),
                             {**trial("optimized", "images", 1, 20), "images_per_s": ""}])
        self.assertNotIn("optimized", self.words(run)[0])

    def test_stores_stand_below_the_rate_of_ready_made_batches(self):
        stored = [trial("optimized", fmt, 1, 50, data_root=root) for root in ("/data/nih", "s3://xrays/nih")
                  for fmt in ("images", "tfrecord")]
        runs = [self.run_with(stored, name="stores"), self.run_with([trial("none", "ready", 1, 99)], name="top")]
        self.holds(["/data/nih", "s3://xrays/nih", "ready images tfrecord", "the ceiling"], *runs, figure="storage")
        self.assertNotIn("ready", self.words(runs[0], figure="storage")[0])
        self.refused(3, "give a run that reads a data set", runs[1], figure="storage", output="none.svg")

    def test_runs_of_older_versions_have_todays_words(self):
        stored = [trial("optimized", fmt, 1, 50) for fmt in ("png", "tfrecord")]
        runs = [self.run_with(stored, name="stores"), self.run_with([trial("none", "synthetic", 1, 99)], name="top")]
        self.holds(["ready images tfrecord", "the ceiling"], *runs, figure="storage")

    def test_busy_shares_stand_beside_other_measures_of_them(self):
        self.assertNotIn("NVML", self.words(self.run_with(FEW_TRIALS), figure="utilization")[0])
        run = self.run_with([trial("naive", "images", 1, 10, "cuda", gpu_utilization=0.8, au_share=0.7)], name="gpu")
        self.holds(["NVML's utilization", "MLPerf Storage's AU"], run, figure="utilization")

    def test_the_input_alone_does_not_train(self):
        run = self.run_with([row for row in TRIALS if row["engine"] == "none"])
        words, _ = self.words(run)
        self.assertIn("Throughput of the input alone", words)
        for figure in ("time", "utilization"):
            self.refused(3, "engine none, which does nothing but wait", run, figure=figure, output=f"{figure}.svg")
        self.assertNotIn("input alone", self.words(self.run_with(TRIALS, name="both"), figure="time")[0])

    def test_bars_have_the_colours_of_their_pipelines(self):
        run = self.run_with([trial(pipeline, "images", 1, 10) for pipeline in ("naive", "optimized")])
        words, picture = self.words(run)
        self.assertEqual(words.count("optimized"), 2, "at its bar and in the legend")
        for colour in ("#0072b2", "#e69f00"):
            self.assertIn(colour, picture)

    def test_an_axis_of_ranks_begins_at_the_fewest(self):
        _, picture = self.words(self.run_with(TRIALS), figure="scaling")
        ticks = [float(x) for x in re.findall(r'id="xtick_\d+">.*?<use [^>]*x="([0-9.]+)"', picture, re.DOTALL)]
        left, right = (float(x) for x in re.search(
            r'id="axes_1">.*?d="M ([0-9.]+) [0-9.]+ *\n?L ([0-9.]+) ', picture, re.DOTALL).groups())
        self.assertGreater(ticks[-1] - ticks[0], 0.8 * (right - left))

    def test_update_schemes_are_compared_by_ranks(self):
        self.holds(["ring", "parameter_server", "ideal"], self.run_with(UPDATES), figure="update")

    def test_tradeoff_names_the_learning_rates_and_joins_the_best_of_each_batch_size(self):
        rows = [trial("optimized", "images", 1, rate, "onednn", trial=f"{batch} {learning_rate}", batch_size=batch,
                      mean_auroc=auroc, mean_auroc_ci95_low=auroc - 0.02, mean_auroc_ci95_high=auroc + 0.02,
                      **{"training.learning_rate": learning_rate})
                for batch, rate in ((16, 100), (64, 140))
                for learning_rate, auroc in ((0.001, 0.9 - batch / 1000), (0.003, 0.88 - batch / 1000))]
        run = self.run_with(rows)
        self.holds(["batch 16", "batch 64", "0.003", "the best of each", "95 % intervals over patients"], run,
                   figure="tradeoff")
        untrained = self.run_with([{**row, "mean_auroc": ""} for row in rows], name="untrained")
        self.refused(3, "fewer than two trials have a mean AUROC", untrained, figure="tradeoff", output="none.svg")

    def test_learning_shows_medians_over_repeats_and_intervals_of_one(self):
        run = self.run_with([trial("optimized", "images", 1, 10)], name="two", epochs=EPOCHS)
        self.holds(["training", "validation", "medians over repeats"], run, figure="learning")
        run = self.run_with([trial("optimized", "images", 1, 10)], name="one", epochs=EPOCHS[:3])
        self.holds("95 % intervals over patients", run, figure="learning")

    def test_curves_have_a_panel_for_each_finding_and_bands(self):
        run = self.run_with([trial("optimized", "images", 1, 10)], name="two", roc=ROC)
        self.holds(["Mass", "Edema", "sensitivity", "guessing", "medians over repeats"], run, figure="roc")
        evaluation = self.folder / "evaluated"
        self.table(evaluation / "roc.csv", [{key: row[key] for key in row if key not in ("trial", "repeat", "epoch")}
                                            for row in ROC[:51]])
        self.holds(["Mass", "evaluated", "95 % intervals over patients"], evaluation, figure="roc")
        self.table(evaluation / "reliability.csv", RELIABILITY)
        self.holds(["Mass", "share that has it", "mean what they say"], evaluation, figure="reliability")

    def test_a_figure_for_which_nothing_was_measured_says_what_to_sweep(self):
        run = self.run_with([trial("naive", "images", 1, 10, scaling_efficiency="")])
        for figure, says in (("scaling", "more than one number of ranks"), ("formats", "data.format"),
                             ("efficiency", "sweep \"ranks\""), ("update", "sweep \"comm.update\""),
                             ("learning", "training.epochs"), ("roc", "chexbench evaluate"),
                             ("prediction", "--predicted FILE")):
            self.refused(3, says, run, figure=figure)

    def test_trials_that_nothing_tells_apart_are_not_mixed_up(self):
        run = self.run_with([trial("naive", "images", ranks, rate) for ranks, rate in ((1, 10), (2, 20), (2, 30))])
        self.refused(3, "measured twice at ranks 2", run, figure="scaling")

    def test_swept_keys_tell_trials_apart(self):
        run = self.run_with([trial("naive", "images", ranks, 10, **{"pipeline.map.parallel_calls": calls})
                             for calls in (1, 8) for ranks in (1, 2)])
        self.holds(["parallel_calls 1", "parallel_calls 8"], run, figure="scaling")

    def test_a_file_that_cannot_be_written_is_named(self):
        self.refused(6, ("no-such-folder", "No such file"), self.run_with(TRIALS), output="no-such-folder/figure.png")


@unittest.skipUnless(PYTHON, "no matplotlib")
class Prediction(Plot):
    def test_kinds_are_told_apart_in_the_legend(self):
        run = self.run_with([trial("naive", "images", ranks, 80 * ranks, engine, engine_device=device)
                             for engine, device in (("emulated:v100", "emulated NVIDIA Tesla V100 SXM2 16 GB"),
                                                    ("cuda", "NVIDIA H100"), ("none", "")) for ranks in (1, 2)],
                            columns=[*COLUMNS, "engine_device"])
        published = self.table(self.folder / "published.csv", PUBLISHED)
        words, _ = self.words(run, figure="prediction", predicted=self.predicted(), published=published)
        for one in ("NVIDIA Tesla V100 SXM2 16 GB naive", "NVIDIA H100 naive", "measured, emulated accelerator",
                    "measured", "predicted", "published: resnet50", "half filled: emulated accelerator",
                    "2 published rows of other arms are not shown", "images/s"):
            self.assertIn(one, words)
        self.assertNotIn("alexnet", words)
        self.assertNotIn("input alone", words)

    def test_a_csv_predicts_as_well_and_its_kinds_count(self):
        rows = [{"arm": f"{model} on v100", "accelerator": "v100", "model": model, "image_size": 256, "ranks": ranks,
                 "images_per_s": 10 * ranks, "kind": kind}
                for model in ("resnet50", "alexnet") for ranks, kind in ((1, "measured"), (2, "predicted"))]
        self.holds(["resnet50", "alexnet", "measured", "predicted"], figure="prediction",
                   predicted=self.table(self.folder / "predicted.csv", rows))

    def test_two_values_of_one_arm_are_not_mixed_up(self):
        self.refused(3, "has two values on 1 ranks, both predicted", figure="prediction",
                     predicted=[self.predicted(), self.predicted()])

    def test_files_that_do_not_fit_are_named(self):
        for name, content, says in (
                ("a.json", "{}", ("a.json", "chexbench predict --format json")),
                ("b.csv", "ranks,image_per_s\n1,2\n", ("lacks the column images_per_s", "nearest is 'image_per_s'")),
                ("c.csv", "ranks,images_per_s,kind\n1,2,predict\n", ("row 1: kind is 'predict'", "'predicted'")),
                ("d.csv", "ranks,images_per_s\n0,2\n", ("row 1: ranks is 0", "above 0")),
                ("e.csv", "ranks,images_per_s\n1,\n", "no row with images_per_s"),
                ("f.csv", "ranks,images_per_s\n1,2,3\n", "row 1 has more fields"),
                ("none.csv", None, ("none.csv", "No such file"))):
            path = self.folder / name
            if content is not None:
                path.write_text(content)
            self.refused(3, says, figure="prediction", predicted=path)


@unittest.skipUnless(PYTHON, "no matplotlib")
class Columns(Plot):
    def measured(self):
        return self.run_with(MEASURED, steps=STEPS, ops=OPS, epochs=EPOCHS)

    def test_any_column_is_drawn_over_any_other_one_of_its_table(self):
        run = self.measured()
        for options, wanted in (({"y": "peak_rss_bytes", "x": "ranks"}, ["peak rss (bytes)", "from trials.csv"]),
                                ({"y": "images_per_s", "x": "pipeline"}, ["images/s", "naive", "hatched: emulated"]),
                                ({"y": "wall_s", "x": "step"}, ["wall (s)", "quartiles", "hollow and dashed"]),
                                ({"y": "busy_cpu_s", "x": "op"}, ["busy cpu (s)", "read", "map", "from ops.csv"]),
                                ({"y": "mean_auroc", "x": "epoch"}, ["from epochs.csv", "medians of up to 2 rows"])):
            with self.subTest(**options):
                self.holds(wanted, run, **options)

    def test_a_series_may_be_a_column_of_the_trial(self):
        run = self.measured()
        self.holds(["naive (emulated)", "optimized (emulated)"], run, y="wall_s", x="step", series="pipeline")
        self.holds(["naive rank 1", "ranks 2"], run, y="wall_s", x="step", series=["pipeline", "rank", "ranks"])
        self.holds("ranks (one accelerator each)", run, y="wall_s", x="ranks")

    def test_the_table_can_be_chosen(self):
        self.holds("from steps.csv", self.measured(), y="repeat", x="rank", table="steps")

    def test_a_csv_alone_is_drawn_and_what_is_predicted_is_named_so(self):
        rows = [{"model": model, "ranks": ranks, "images_per_s": ranks, "predicted": "true"}
                for model in ("resnet50", "alexnet") for ranks in (1, 2)]
        alone = self.table(self.folder / "alone/predicted.csv", rows)
        self.holds(["from predicted.csv", "resnet50 (predicted)"], alone, y="images_per_s", x="ranks")
        self.refused(3, "in predicted.csv; the nearest is 'ranks'", alone, y="images_per_s", x="rank",
                     output="none.svg")

    def test_the_names_of_files_are_those_of_the_columns(self):
        done = self.ends_with(0, PYTHON, "-B", PLOT, self.measured(), "--y", "wall_s", "--x", "step", cwd=self.folder)
        self.assertEqual(done.stdout.split(), ["wall_s-by-step.svg", "wall_s-by-step.png"])
        self.assertTrue((self.folder / "wall_s-by-step.png").exists())


class BadRuns(Plot):
    """Errors before anything is drawn, and so without matplotlib."""

    def test_missing_columns_are_named(self):
        run = self.run_with(TRIALS, columns=[name for name in COLUMNS if name not in ("update_share", "upload_share")])
        self.refused(3, ("trials.csv lacks the columns upload_share, update_share",), run, figure="time")

    def test_an_unknown_column_is_named_with_the_nearest_one(self):
        run = self.run_with(MEASURED, steps=STEPS)
        for options, says in (({"y": "image_per_s", "x": "ranks"}, "'image_per_s' in trials.csv, steps.csv; the "
                               "nearest is 'images_per_s' of trials.csv"),
                              ({"y": "wall", "x": "step"}, "nearest is 'wall_s' of steps.csv"),
                              ({"y": "wall_s", "x": "steps"}, "nearest is 'step' of steps.csv"),
                              ({"y": "wall_s", "x": "step", "series": "pipelin"}, "nearest is 'pipeline'"),
                              ({"y": "wall_s", "x": "step", "table": "step"}, "nearest is steps.csv"),
                              ({"y": "images_per_s", "x": "step"}, ("'images_per_s' is in trials.csv",
                                                                    "'step' is in steps.csv")),
                              ({"y": "wall_s", "x": "ranks", "table": "trials"}, "no column 'wall_s' in trials.csv")):
            self.refused(3, says, run, **options)

    def test_a_column_without_numbers_is_refused(self):
        run = self.run_with(MEASURED, steps=STEPS)
        self.refused(3, ("'pipeline' of trials.csv holds words, such as 'naive'", "--series"), run, y="pipeline",
                     x="ranks")
        self.refused(3, "'loss' is empty in each row of steps.csv", run, y="loss", x="step")
        other = self.run_with(MEASURED[:1], name="other", steps=STEPS[-1:])
        self.refused(3, "'pipeline' is empty in each row of steps.csv that has 'wall_s'", other, y="wall_s",
                     x="pipeline")

    def test_a_run_that_is_not_there_is_named(self):
        self.refused(3, ("nowhere/trials.csv", "No such file"), self.folder / "nowhere" / "trials.csv")
        self.refused(3, ("nowhere/trials.csv", "No such file"), self.folder / "nowhere/trials.csv", y="ranks", x="step")

        self.refused(3, ("nowhere.csv", "No such file"), self.folder / "nowhere.csv")
        (self.folder / "empty").mkdir()
        self.refused(3, ("empty/trials.csv", "No such file"), self.run_with(MEASURED), self.folder / "empty",
                     y="images_per_s", x="ranks")

    def test_a_run_without_results_is_an_error(self):
        run = self.run_with([])
        self.refused(3, "no trial", run)
        self.refused(3, "no row", run, y="images_per_s", x="ranks")

    def test_an_empty_file_is_called_so(self):
        run = self.run_with(MEASURED)
        self.table(run / "epochs.csv", EPOCHS, ["trial", "epoch"])
        self.refused(3, "epochs.csv lacks the columns repeat, elapsed_s, training_loss", run, figure="learning")
        (run / "epochs.csv").write_text("")
        self.refused(3, "epochs.csv is empty", run, figure="learning")
        self.refused(3, "epochs.csv is empty", run, y="epoch", x="ranks", table="epochs")
        (run / "trials.csv").write_text("")
        self.refused(3, "trials.csv is empty", run)
        self.refused(3, "trials.csv is empty", run, y="images_per_s", x="ranks")

    @unittest.skipUnless(PYTHON, "no matplotlib")
    def test_a_field_that_is_no_number_is_named(self):
        for text in ("fast", "nan"):
            self.refused(3, (f"images_per_s is '{text}'", "naive images ranks=1"),
                         self.run_with([{**trial("naive", "images", 1, 10), "images_per_s": text}]))

    def test_what_contradicts_itself_is_a_usage_error(self):
        run = self.run_with(TRIALS)
        self.refused(2, ".png, .svg or .pdf", run, output="figure.gif")
        self.refused(2, "invalid choice", run, figure="pie")
        self.refused(2, "chooses its columns by itself", run, figure="time", x="ranks")
        self.refused(2, "or --y and --x", run, y="images_per_s")
        self.refused(2, "give a RUN")
        self.refused(2, "for --figure prediction", run, predicted="x.json")

    def test_without_matplotlib_it_says_how_to_get_it(self):
        (self.folder / "matplotlib.py").write_text("raise ImportError\n")
        done = self.ends_with(2, sys.executable, "-B", PLOT, self.run_with(TRIALS), "--figure", "time", cwd=self.folder,
                              env={**os.environ, "PYTHONPATH": str(self.folder)})
        self.assertIn("apt-get install python3-matplotlib", done.stderr)

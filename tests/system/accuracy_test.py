"""Trainings over epochs: they learn, validate, keep checkpoints, and continue from them bit for bit."""

import os
import re
import resource
import shutil
import unittest

from epochs import EpochsTest, read_checkpoint
from harness import BINARY, HAS_ONEDNN, measured, run


@unittest.skipUnless(HAS_ONEDNN, "trains on the CPU")
class Accuracy(EpochsTest):
    def test_reports_what_each_epoch_learned(self):
        out = self.folder / "out"
        epochs = self.train(self.training(training__target_auroc=0.51, training__epochs=3), out)
        self.assertEqual([epoch["epoch"] for epoch in epochs], [1, 2, 3])
        self.assertLess(epochs[-1]["training_loss"], epochs[0]["training_loss"])
        self.assertGreater(epochs[-1]["elapsed_s"], epochs[0]["elapsed_s"])
        for epoch in epochs:
            self.assertEqual(len(epoch["findings"]["rows"]), 14)
            self.assertTrue(0 < epoch["validation_images"] < 100)
            if epoch["mean_auroc_ci95"] is not None:  # a finding of few patients leaves it open
                low, high = epoch["mean_auroc_ci95"]
                self.assertTrue(0 <= low <= epoch["mean_auroc"] <= high <= 1)
        row = self.rows(out)[0]
        self.assertEqual(row["epochs"], "3")
        self.assertEqual(float(row["mean_auroc"]), max(epoch["mean_auroc"] for epoch in epochs))
        self.assertEqual(len(self.rows(out, "epochs.csv")), 3)
        self.assertEqual(len(self.rows(out, "aurocs.csv")), 3 * 14)
        self.assertIn("What was learned", (out / "report.html").read_text())

    def test_learns_the_same_from_files_and_shards_whatever_the_pipeline(self):
        """keras reads files and shards in one order, so only the source of the images differs."""
        self.images = shutil.copytree(self.images, self.folder / "set")
        self.succeed("data", "convert", self.images)
        losses = {}
        for pipeline in ("keras", "optimized"):
            for data_format in ("images", "tfrecord"):
                spec = self.training(pipeline=pipeline, data__format=data_format)
                epochs = self.train(spec, self.folder / f"{pipeline}-{data_format}")
                losses[pipeline, data_format] = epochs[-1]["validation_loss"]
                self.assertEqual(epochs[-1]["validation_images"], epochs[0]["validation_images"])
        self.assertLess(max(losses.values()) - min(losses.values()), 0.25 * min(losses.values()), losses)

    def test_an_interrupted_training_goes_on_to_the_bit(self):
        self.check_resume(ranks=None)

    @unittest.skipUnless(len(os.sched_getaffinity(0)) > 1, "needs two cores")
    def test_going_on_with_other_cores_is_told(self):
        spec, out = self.training(training__epochs=4), self.folder / "out"
        self.interrupt_behind_first_epoch(spec, out, ranks=None)
        cores = len(os.sched_getaffinity(0))
        first_core = min(os.sched_getaffinity(0))
        done = self.ends_with(0, "taskset", "-c", first_core, BINARY, "--config", spec, "--resume", out)
        self.assertIn(f"last.safetensors was trained on {cores} cores a rank, and this run has 1", done.stderr)

    def test_the_time_is_forecast_over_all_epochs(self):
        def forecast_s(epochs):
            spec = self.training(training__epochs=epochs, measure__repeats=1)
            plan = self.succeed("--config", spec, "--dry-run").stdout
            self.assertIn("counted: whole trainings", plan)
            hours, minutes, seconds = re.search(
                r"time: (?:about|at least) (?:(\d+) h )?(?:(\d+) min|(\d+) s) for 1 repeat", plan).groups()
            return 3600 * int(hours or 0) + 60 * int(minutes or 0) + int(seconds or 0)
        self.assertGreater(forecast_s(100000), 20 * max(1, forecast_s(2)))
        going_on = self.training(training__checkpoint="some.safetensors")
        self.assertIn("time: no forecast", self.succeed("--config", going_on, "--dry-run").stdout)

    def test_so_does_one_on_two_ranks(self):
        self.check_resume(ranks=2)

    def test_goes_on_from_a_checkpoint_on_another_number_of_ranks(self):
        first = self.train(self.training(), self.folder / "first")
        spec = self.training(training__epochs=3, training__checkpoint=str(self.last(self.folder / "first")))
        epochs = self.train(spec, self.folder / "second", ranks=2)
        self.assertEqual([epoch["epoch"] for epoch in epochs], [1, 2, 3])
        self.assertEqual(epochs[1]["validation_loss"], first[1]["validation_loss"])
        self.assertLess(epochs[2]["training_loss"], first[0]["training_loss"])

    def test_checkpoints_have_the_names_and_types_that_pytorch_looks_for(self):
        out = self.shared_run(self.training(training__epochs=1))
        _, last, _ = read_checkpoint(self.last(out))
        _, best, _ = read_checkpoint(self.last(out).with_name("best.safetensors"))
        self.assertEqual(best["classifier.1.weight"]["shape"], [14, 1280])
        self.assertEqual(best["features.0.1.num_batches_tracked"],
                         best["features.0.1.num_batches_tracked"] | {"dtype": "I64", "shape": []})
        self.assertIn("features.0.1.running_var", best)
        self.assertEqual(
            set(last) - set(best),
            {f"{moment}.{name}" for name in best for moment in ("exp_avg", "exp_avg_sq")
             if not name.endswith(("_mean", "_var", "_tracked"))},
        )
        weights = str(self.last(out).with_name("best.safetensors"))
        self.train(self.training(training__epochs=1, model__weights=weights), self.folder / "from-weights")

    def fails(self, code, *words, **keys):
        done = run("--config", self.training(**keys), "--output", self.folder / "failed")
        self.assertEqual(done.returncode, code, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_refuses_a_checkpoint_that_does_not_fit(self):
        last = self.last(self.shared_run(self.training(training__epochs=1)))
        self.fails(3, "written by a training of network mobilenet_v2, and model.name is resnet50",
                   model__name="resnet50", training__checkpoint=str(last))
        self.fails(3, "optimizer adam", training__optimizer="sgd", training__checkpoint=str(last))
        self.fails(
            2, "training.epochs is 1, and", "has already trained 1", training__epochs=1, training__checkpoint=str(last)
        )
        self.fails(3, "no tensor 'exp_avg", training__checkpoint=str(last.with_name("best.safetensors")))
        cut = self.folder / "cut.safetensors"
        cut.write_bytes(last.read_bytes()[:-100])
        self.fails(3, "cut.safetensors", "beyond", training__checkpoint=str(cut))
        self.fails(3, "nowhere.safetensors", "No such file", training__checkpoint="nowhere.safetensors")

    def test_does_not_go_on_as_another_training(self):
        out = self.folder / "out"
        self.interrupt_behind_first_epoch(self.training(training__epochs=4, pipeline="optimized"), out, None)
        spec = self.training(training__epochs=4, pipeline="optimized", training__learning_rate=0.1)
        self.fail_with(
            2, "--config", spec, "--resume", out, says=["belongs to a training by another spec", "training.checkpoint"]
        )

    def lose_the_journal(self, ranks):
        """The state after a kill between the last checkpoint and the journal's line: folder, spec, and the run's
        report."""
        spec = self.training(training__epochs=1)
        out = self.shared_run(spec, f"out{ranks}", ranks)
        (out / "journal.jsonl").write_text("")
        return out, spec, self.report(out)

    def test_one_that_ended_before_it_was_written_down_is_not_trained_again(self):
        for ranks in (None, 2):
            with self.subTest(ranks=ranks):
                out, spec, report = self.lose_the_journal(ranks)
                last = self.last(out).read_bytes()
                done = self.succeed("--config", spec, "--resume", out, ranks=ranks)
                self.assertIn("takes the finished training", done.stderr)
                self.assertEqual(self.report(out)["trials"][0]["repeats"], report["trials"][0]["repeats"])
                self.assertEqual(self.last(out).read_bytes(), last)
                self.assertEqual((out / "journal.jsonl").read_text().count("\n"), 1)

    def test_one_whose_measurements_are_lost_is_trained_anew(self):
        for ranks in (None, 2):
            with self.subTest(ranks=ranks):
                out, spec, report = self.lose_the_journal(ranks)
                self.last(out).with_name("repeat.json").unlink()
                done = self.succeed("--config", spec, "--resume", out, ranks=ranks)
                self.assertIn("training again", done.stderr)
                expected = report["trials"][0]["repeats"][0]["epochs"][0]
                self.assertEqual(self.epochs_of(out)[0]["validation_loss"], expected["validation_loss"])

    def test_a_record_of_another_training_beside_the_checkpoint_is_left_alone(self):
        out, spec, _ = self.lose_the_journal(None)
        beside = self.last(out).with_name("repeat.json")
        beside.write_text(re.sub(r'"key":"[0-9a-f]*"', '"key":"0123456789abcdef"', beside.read_text()))
        self.assertIn("training again", self.succeed("--config", spec, "--resume", out).stderr)
        (out / "journal.jsonl").write_text("")
        beside.write_text(beside.read_text()[:-20] + "\n")
        self.fail_with(3, "--config", spec, "--resume", out, says="repeat.json")

    @measured
    def test_what_lies_between_epochs_belongs_to_no_step(self):
        # 280 MB of weights and moments are written after each epoch; batches are ready-made.
        spec = self.training(training__epochs=3, model={"name": "resnet50", "image_size": 32}, pipeline="optimized")
        self.train(spec, self.folder / "out")
        steps = self.rows(self.folder / "out", "steps.csv")
        self.assertLess(max(float(step["wait_s"]) for step in steps), 0.05)

    def test_one_that_diverges_says_so_and_keeps_no_best(self):
        spec = self.training(training={"batch_size": 8, "epochs": 1, "optimizer": "sgd", "learning_rate": 1e4})
        done = self.succeed("--config", spec, "--output", self.folder / "out")
        self.assertIn("the network has diverged", done.stderr)
        self.assertFalse(self.last(self.folder / "out").with_name("best.safetensors").exists())

    def test_a_loss_beyond_all_bounds_is_written_and_read(self):
        spec = self.training(training={"batch_size": 8, "epochs": 1, "learning_rate": 1e15})
        self.succeed("--config", spec, "--output", self.folder / "out")
        self.succeed("report", self.folder / "out", "--format", "csv")

    def test_refuses_sets_that_are_too_small(self):
        self.fails(3, "fewer than the 4000 of one step", training__batch_size=4000)

    def test_a_full_disk_leaves_the_last_good_checkpoint(self):
        out = self.folder / "out"
        spec = self.training(training__epochs=3)
        self.interrupt_behind_first_epoch(spec, out, None)
        before = self.last(out).read_bytes()
        limit = len(before) // 2
        self.fail_with(6, "--config", spec, "--resume", out, says="last.safetensors",
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(self.last(out).read_bytes(), before)
        self.succeed("--config", spec, "--resume", out)
        self.assertEqual(len(self.epochs_of(out)), 3)

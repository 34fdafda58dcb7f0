"""The event files of trainings over epochs, read by TensorBoard itself."""

import json
import math
import os
import unittest

from epochs import EpochsTest
from harness import HAS_ONEDNN, ROOT, SystemTest, python_with

PACKAGE = ROOT / "build/tensorboard"
PEER = ROOT / "tests/system/tensorboard_peer.py"
PYTHON = python_with("numpy") if PACKAGE.exists() else None
PATHS = ":".join(str(PACKAGE / name) for name in ("package", "protobuf", "absl"))
ENVIRONMENT = {**os.environ, "PYTHONPATH": PATHS, "PYTHONDONTWRITEBYTECODE": "1"}
BY_EPOCH = {"loss/training": "training_loss", "loss/validation": "validation_loss", "learning_rate": "learning_rate",
            "auroc/mean": "mean_auroc"}


class Trainings(EpochsTest):
    def shown(self, out):
        """TensorBoard's data of `tensorboard --logdir OUT/tensorboard`: run -> tag -> [[step, value, time]]."""
        return json.loads(self.ends_with(0, PYTHON, PEER, out / "tensorboard", env=ENVIRONMENT).stdout)

    def check_epochs(self, curves, epochs):
        """The curves by epoch equal the report's values for these epochs."""
        for tag, key in BY_EPOCH.items():
            expected = [(epoch["epoch"], epoch[key]) for epoch in epochs if epoch[key] is not None]
            self.assertEqual([step for step, _, _ in curves.get(tag, [])], [step for step, _ in expected], tag)
            for (_, value, _), (_, wanted) in zip(curves.get(tag, []), expected):
                self.assertTrue(math.isclose(value, wanted, rel_tol=1e-6), (tag, value, wanted))
        scores = {}
        for epoch in epochs:
            columns = epoch["findings"]["columns"]
            for row in epoch["findings"]["rows"]:
                score = dict(zip(columns, row))
                if score["auroc"] is not None:
                    scores.setdefault(f"auroc_by_finding/{score['finding']}", []).append(epoch["epoch"])
        shown = {tag: [step for step, _, _ in points] for tag, points in curves.items()
                 if tag.startswith("auroc_by_finding/")}
        self.assertEqual(shown, scores)


@unittest.skipUnless(PYTHON, "needs the Python package tensorboard, with NumPy: scripts/setup full brings it")
@unittest.skipUnless(HAS_ONEDNN, "trains on the CPU")
class TensorBoard(Trainings):
    def test_it_shows_what_the_report_has(self):
        out = self.folder / "out"
        epochs = self.train(self.training(training__epochs=3), out)
        shown = self.shown(out)
        (run,) = [name for name in shown if not name.endswith("/steps")]
        self.assertEqual(sorted(shown), [run, f"{run}/steps"])
        self.check_epochs(shown[run], epochs)
        for _, rate, _ in shown[run]["input/images_per_s"]:
            self.assertGreater(rate, 0)
        for _, share, _ in shown[run]["input/wait_share"]:
            self.assertTrue(0 <= share <= 1, share)
        steps = self.rows(out, "steps.csv")
        curves = shown[f"{run}/steps"]
        measured = curves["step/loss"][1:]  # the warm-up step has no row
        self.assertEqual([step for step, _, _ in measured], [int(row["step"]) + 2 for row in steps])
        for (_, loss, _), row in zip(measured, steps):
            self.assertTrue(math.isclose(loss, float(row["loss"]), rel_tol=1e-6), (loss, row))
        self.assertEqual({len(points) for points in curves.values()}, {len(steps) + 1})
        times = [time for _, _, time in curves["step/loss"]]
        self.assertEqual(times, sorted(times))

    def check_a_resumed_one(self, ranks):
        out = self.folder / "out"
        spec = self.training(training__epochs=4, pipeline="optimized")
        self.interrupt_behind_first_epoch(spec, out, ranks)
        self.succeed("--config", spec, "--resume", out, ranks=ranks)
        shown = self.shown(out)
        (run,) = [name for name in shown if not name.endswith("/steps")]
        self.assertEqual(len(list((out / "tensorboard" / run).glob("events.out.tfevents.*"))), 2)
        self.check_epochs(shown[run], self.epochs_of(out))
        steps = [step for step, _, _ in shown[f"{run}/steps"]["step/loss"]]
        self.assertEqual(steps, list(range(1, len(steps) + 1)))
        self.assertEqual(len(steps) % 4, 0)

    def test_a_resumed_training_has_each_epoch_and_step_once(self):
        self.check_a_resumed_one(None)

    def test_so_has_one_on_two_ranks(self):
        self.check_a_resumed_one(2)

    def test_one_that_is_trained_anew_shows_the_new_one_alone(self):
        out, spec = self.folder / "out", self.training(training__epochs=1)
        self.train(spec, out)
        (out / "journal.jsonl").write_text("")
        self.last(out).with_name("repeat.json").unlink()
        self.succeed("--config", spec, "--resume", out)
        shown = self.shown(out)
        (run,) = [name for name in shown if not name.endswith("/steps")]
        self.check_epochs(shown[run], self.epochs_of(out))


@unittest.skipUnless(HAS_ONEDNN, "trains on the CPU")
class NowhereToWrite(EpochsTest):
    def test_it_is_told_and_costs_nothing_else(self):
        out = self.folder / "out"
        out.mkdir()
        (out / "tensorboard").write_text("a file is where the folder should be")
        done = self.fail_with(6, "--config", self.training(), "--output", out,
                              says=["cannot make folder", "goes on without events", "all other results are complete"])
        self.assertEqual(done.stderr.count("goes on without events"), 1)
        self.assertEqual([epoch["epoch"] for epoch in self.epochs_of(out)], [1, 2])
        self.assertFalse(self.report(out)["interrupted"])
        self.assertEqual(len(self.rows(out, "epochs.csv")), 2)
        self.assertTrue(self.last(out).exists())
        self.succeed("--config", self.training(), "--resume", out)


class WithoutEpochs(SystemTest):
    def test_a_run_without_epochs_has_no_such_folder(self):
        self.measured()
        self.assertFalse((self.folder / "out/tensorboard").exists())


del EpochsTest, Trainings  # their children are the tests

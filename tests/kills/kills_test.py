"""A sample of scripts/kill-loop and scripts/soak."""

import itertools
import math
import shutil
import tempfile
import unittest

import kill_loop
import limits
import power_loss
import soak
from workloads import HAS_ONEDNN, Convert, Run, Stage, Synth, Training


class Sample(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="chexbench-kills-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def check(self, rows, good, least=1):
        count = 0
        for count, row in enumerate(rows, 1):
            with self.subTest(**row):
                self.assertTrue(row[good])
        self.assertGreaterEqual(count, least)


class Short(Training):
    """Of one epoch, to be killed where it is finished and not yet in the journal."""

    spec = Training.spec | {"training": Training.spec["training"] | {"epochs": 1}}
    LAST_FILES = (("/last.safetensors", 1),)
    images = 32


class Kills(Sample):
    def test_what_goes_on_after_a_kill_ends_as_if_there_had_been_none(self):
        ranks = [Run(2)] if shutil.which("mpirun") else []
        killed = [Run(), Convert("tfrecord"), Convert("cached"), Stage(), Synth(), *ranks]
        self.check(kill_loop.measure(killed, len(killed), seed=3), "survived", len(killed))

    @unittest.skipUnless(HAS_ONEDNN, "needs engine onednn")
    def test_so_does_a_finished_training_that_is_not_in_the_journal_yet(self):
        rows = list(kill_loop.measure_between([Short()], Short.LAST_FILES, seed=1))
        self.check(rows, "survived")
        self.assertEqual({row["hit"] for row in rows}, {"killed"})


class PowerLoss(Sample):
    def test_a_loss_of_power_costs_nothing_that_was_finished(self):
        for workload in (Run(), Convert("tfrecord"), Convert("webdataset"), Convert("cached"), Stage(), Synth()):
            self.check(power_loss.measure(workload, most=3), "equal", 10)


class Limits(Sample):
    def test_a_full_disk_is_told_of_and_resume_goes_on(self):
        rows = limits.disk_full(Run(), self.folder, most=6)
        try:
            rows = list(rows)
        except PermissionError as reason:
            self.skipTest(str(reason))
        self.check(rows, "kept", 6)
        self.check(rows, "resumed")
        self.assertGreater(len({row["code"] for row in rows}), 1, "the sizes are all too small, or all large enough")

    def test_few_descriptors_are_told_of(self):
        self.check(limits.descriptors(Run(), self.folder, (6, 12, 18)), "kept")

    def test_few_threads_are_told_of(self):
        rows = limits.threads(Run(), self.folder, (1, 3, 6))
        try:
            self.check(list(rows), "kept")
        except PermissionError as reason:
            self.skipTest(str(reason))

    @unittest.skipUnless(limits.FAKE_TIME.exists(), "needs libfaketime")
    def test_a_clock_that_jumps_changes_no_rate(self):
        self.check(limits.clock_jumps(self.folder, jumps=("-1h",)), "kept")


class Slopes(unittest.TestCase):
    def test_a_line_has_its_slope_and_no_doubt(self):
        rise, half = soak.slope([0, 1, 2, 3], [5, 7, 9, 11])
        self.assertAlmostEqual(rise, 2)
        self.assertAlmostEqual(half, 0)

    def test_the_interval_is_that_of_students_t(self):
        # By hand: slope 0.6, residuals' sum of squares 2.4, 3 degrees of freedom, t = 3.182: +- 3.182 sqrt(0.8 / 10).
        rise, half = soak.slope([0, 1, 2, 3, 4], [1, 3, 2, 5, 3])
        self.assertAlmostEqual(rise, 0.6)
        self.assertAlmostEqual(half, 3.182 * math.sqrt(5.2 / 3 / 10), delta=0.05)

    def test_blocks_have_the_mean_of_their_time(self):
        rows = [{"elapsed_s": at_s, "rss": rss} for at_s, rss in zip(itertools.count(100, 50), (1, 4, 2, 6))]
        self.assertEqual(soak.blocks(rows, "rss", count=2), ([125 / 3600, 225 / 3600], [2.5, 4]))

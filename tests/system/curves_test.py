"""scripts/curves: measures as documented, over sets small enough for a test."""

import csv
import os
import sys
import tempfile
import unittest
from pathlib import Path

from harness import BINARY, ROOT, run_program, small_images

CURVES = ROOT / "scripts/curves"


def curves(*words, binary=BINARY):
    return run_program(sys.executable, "-B", CURVES, *words, timeout=300,
                       env={**os.environ, "CHEXBENCH_BINARY": str(binary)})


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


class Curves(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output = Path(folder.name) / "output"

    def test_scale_measures_every_layout_and_shards_and_leaves_no_set_behind(self):
        done = curves("scale", self.output, "--files", "40", "--shards", "16", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = rows_of(self.output / "scale.csv")
        self.assertEqual([(row["what"], row["layout"], row["count"]) for row in rows],
                         [("files", "nih", "40"), ("files", "csv", "40"), ("files", "folders", "40"),
                          ("shards", "nih", "16")])
        for row in rows:
            for column in ("index_s", "index_cpu_s", "index_peak_rss_bytes", "start_to_first_batch_s",
                           "run_peak_rss_bytes"):
                self.assertGreater(float(row[column]), 0, column)
        self.assertEqual(len(done.stdout.splitlines()), 2 + len(rows))
        self.assertEqual([path.name for path in self.output.iterdir()], ["scale.csv"])

    def test_ranks_measures_the_waits_of_every_rank(self):
        done = curves("ranks", small_images(), self.output, "--ranks", "1,2", "--pipelines", "optimized", "--rounds",
                      "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = rows_of(self.output / "ranks.csv")
        self.assertEqual([(row["ranks"], row["batches"]) for row in rows], [("1", "240"), ("2", "240")])
        for row in rows:
            p50, p99, longest = (float(row[f"batch_wait_{which}_s"]) for which in ("p50", "p99", "longest"))
            self.assertLessEqual(p50, p99)
            self.assertLessEqual(p99, longest)
            self.assertGreater(float(row["images_per_s"]), 0)

    def test_a_program_that_is_not_there_is_named(self):
        done = curves("scale", self.output, binary="/nowhere/chexbench")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no /nowhere/chexbench", done.stderr)

    def test_the_end_of_a_command_that_fails_is_told(self):
        done = curves("scale", self.output, "--files", "10", "--shards", "2", "--rounds", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("it must be at least 16", done.stderr)
        self.assertIn("failed with 2", done.stderr)

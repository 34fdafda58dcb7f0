"""chexbench report --format google-benchmark in Google Benchmark's own compare.py."""

import json
import unittest
from pathlib import Path

from harness import SystemTest, python_with

PYTHON = python_with("scipy")
COMPARE = Path("/usr/share/benchmark/compare.py")


@unittest.skipUnless(COMPARE.exists() and PYTHON, "no compare.py with SciPy here: scripts/setup full installs them")
class Compare(SystemTest):
    def test_compares_two_runs_with_a_u_test(self):
        out = self.measured(measure__repeats=9)
        files = [self.folder / "old.json", self.folder / "new.json"]
        for file, slower in zip(files, (1, 2)):
            report = self.report(out)
            for repeat in report["trials"][0]["repeats"]:
                repeat["images_per_s"] /= slower
            (out / "report.json").write_text(json.dumps(report))
            self.succeed("report", out, "--format", "google-benchmark", "--output", file)
        rows = json.loads(files[0].read_text())["benchmarks"]
        done = self.ends_with(0, PYTHON, COMPARE, "--no-color", "benchmarks", *files)
        lines = {line.rsplit(maxsplit=6)[0].strip(): line for line in done.stdout.splitlines() if "+1.0000" in line}
        self.assertIn(f"{rows[0]['name']}_median", lines, done.stdout)
        self.assertIn(f"{rows[0]['name']}_pvalue", done.stdout)
        count = sum(row["run_type"] == "iteration" for row in rows)  # of the 9, those that nothing disturbed
        self.assertIn(f"U Test, Repetitions: {count} vs {count}", done.stdout)

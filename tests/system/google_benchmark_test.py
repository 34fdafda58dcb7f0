"""chexbench report --format google-benchmark in Google Benchmark's own compare.py."""

import json
import subprocess
import unittest
from pathlib import Path

from harness import TIMEOUT_S, SystemTest

PYTHON = "/usr/bin/python3"  # Debian's, for which scripts/setup full installs SciPy
COMPARE = Path("/usr/share/benchmark/compare.py")


def runs_compare():
    return COMPARE.exists() and subprocess.run([PYTHON, "-c", "import scipy"], capture_output=True).returncode == 0


@unittest.skipUnless(runs_compare(), "no compare.py with SciPy here: scripts/setup full installs them")
class Compare(SystemTest):
    def test_compares_two_runs_with_a_u_test(self):
        out = self.folder / "out"
        self.succeed("--config", self.spec(measure__repeats=9), "--output", out)
        files = [self.folder / "old.json", self.folder / "new.json"]
        for file, slower in zip(files, (1, 2)):
            report = self.report(out)
            for repeat in report["trials"][0]["repeats"]:
                repeat["images_per_s"] /= slower
            (out / "report.json").write_text(json.dumps(report))
            self.succeed("report", out, "--format", "google-benchmark", "--output", file)
        rows = json.loads(files[0].read_text())["benchmarks"]
        done = subprocess.run([PYTHON, COMPARE, "--no-color", "benchmarks", *files], capture_output=True, text=True,
                              timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = {line.rsplit(maxsplit=6)[0].strip(): line for line in done.stdout.splitlines() if "+1.0000" in line}
        self.assertIn(f"{rows[0]['name']}_median", lines, done.stdout)
        self.assertIn(f"{rows[0]['name']}_pvalue", done.stdout)
        count = sum(row["run_type"] == "iteration" for row in rows)  # of the 9, those that nothing disturbed
        self.assertIn(f"U Test, Repetitions: {count} vs {count}", done.stdout)

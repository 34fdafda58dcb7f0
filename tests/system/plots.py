"""Shared by the tests of scripts/plot.py: tables of runs, and a process that draws."""

import csv
import json
import re
import subprocess
import sys

from harness import ROOT, SystemTest, python_with

SCRIPTS = ROOT / "scripts"
PLOT = SCRIPTS / "plot.py"
COLUMNS = ["trial", "pipeline", "format", "model", "engine", "ranks", "batch_size", "images_per_s",
           "images_per_s_ci95_low", "images_per_s_ci95_high", "scaling_efficiency", "scaling_efficiency_ci95_low",
           "scaling_efficiency_ci95_high", "wait_share", "busy_share", "upload_share", "compute_share",
           "exposed_communication_share", "update_share", "other_share", "au_share", "gpu_utilization", "emulated",
           "data_root", "store_bandwidth_mb_per_s", "scale_factor", "peak_rss_bytes", "mean_auroc",
           "mean_auroc_ci95_low", "mean_auroc_ci95_high"]
ENDS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
# Draws on request, line by line: starting Python and matplotlib takes longer than a figure.
SERVER = """
import contextlib, io, json, sys, traceback
sys.path.insert(0, sys.argv[1])
import plot
for line in sys.stdin:
    errors, code = io.StringIO(), 1
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        try:
            code = plot.main(json.loads(line))
        except SystemExit as end:
            code = end.code
        except Exception:
            traceback.print_exc()
    print(json.dumps([code, errors.getvalue()]), flush=True)
"""


def trial(pipeline, fmt, ranks, images_per_s, engine="none", **columns):
    row = {"trial": f"{pipeline} {fmt} ranks={ranks}", "pipeline": pipeline, "format": fmt, "model": "resnet50",
           "engine": engine, "ranks": ranks, "batch_size": 16, "images_per_s": images_per_s,
           "images_per_s_ci95_low": 0.97 * images_per_s, "images_per_s_ci95_high": 1.02 * images_per_s,
           "scaling_efficiency": 0.9 if ranks > 1 else 1, "scaling_efficiency_ci95_low": 0.85 if ranks > 1 else "",
           "scaling_efficiency_ci95_high": 0.95 if ranks > 1 else "", "wait_share": 0.5, "busy_share": 0.36,
           "upload_share": 0, "compute_share": 0.3, "exposed_communication_share": 0.1, "update_share": 0.06,
           "other_share": 0.04, "emulated": str(engine.startswith("emulated")).lower(), "data_root": "/data/nih",
           "store_bandwidth_mb_per_s": "", "scale_factor": 1, "peak_rss_bytes": 2e8 * ranks}
    return {**row, **columns}


TRIALS = [trial(pipeline, fmt, ranks, 100 * rate * ranks ** power, engine)
          for pipeline, power in (("naive", 0.1), ("optimized", 0.98)) for fmt, rate in (("images", 5), ("tfrecord", 6))
          for engine in ("none", "emulated:v100") for ranks in (1, 2, 4)]
FEW_TRIALS = [row for row in TRIALS if row["ranks"] < 4 and row["emulated"] == "true"]
UPDATES = [trial("optimized", "images", ranks, rate * ranks, trial=f"{update} ranks={ranks}", **{"comm.update": update})
           for update, rate in (("ring", 90), ("parameter_server", 40)) for ranks in (1, 2, 4)]
EPOCHS = [{"trial": "optimized images ranks=1", "repeat": repeat, "epoch": epoch, "elapsed_s": 10 * epoch + repeat,
           "training_loss": 0.5 / epoch, "validation_loss": 0.6 / epoch, "mean_auroc": 0.5 + 0.1 * epoch,
           "mean_auroc_ci95_low": 0.4 + 0.1 * epoch, "mean_auroc_ci95_high": 0.6 + 0.1 * epoch}
          for repeat in (0, 1) for epoch in (1, 2, 3)]
ROC = [{"trial": "optimized images ranks=1", "repeat": repeat, "epoch": 3, "finding": finding,
        "false_positive_rate": i / 50, "sensitivity": (i / 50) ** (0.5 - repeat / 10),
        "sensitivity_ci95_low": (i / 50) ** 0.6, "sensitivity_ci95_high": (i / 50) ** 0.3}
       for repeat in (0, 1) for finding in ("Mass", "Edema") for i in range(51)]
RELIABILITY = [{"trial": "optimized images ranks=1", "repeat": 0, "epoch": 3, "finding": "Mass", "from": i / 10,
                "mean_probability": i / 10 + 0.05 if i < 4 else "", "share_of_positives": i / 12 if i < 4 else ""}
               for i in range(10)]
ARMS = {"arms": [{"name": f"{pipeline} images, resnet50 224x224 f32, batch 16, on v100",
                  "accelerator": "NVIDIA Tesla V100 SXM2 16 GB",
                  "rows": [{"ranks": ranks, "images_per_s": rate * ranks} for ranks in (1, 2, 4, 8)]}
                 for pipeline, rate in (("naive", 90), ("optimized", 380))]}
PUBLISHED = [{"device": "v100", "model": model, "ranks": ranks, "images_per_s": 300 * ranks, "source": "a paper"}
             for model in ("resnet50", "alexnet") for ranks in (1, 4)]
STEPS = [{"trial": f"{pipeline} images ranks=2", "repeat": repeat, "rank": rank, "step": step,
          "wall_s": 0.1 + step / 100, "loss": "", "emulated": "true"}
         for pipeline in ("naive", "optimized") for repeat in range(5) for rank in (0, 1) for step in range(4)]
OPS = [{"trial": "naive images ranks=2", "repeat": 0, "op": op, "busy_cpu_s": 1, "bytes_read": 10}
       for op in ("read", "map")]
MEASURED = [trial(pipeline, "images", ranks, 10 * ranks, "emulated:v100")
            for pipeline in ("naive", "optimized") for ranks in (1, 2)]


PYTHON = python_with("matplotlib")


class Plot(SystemTest):
    @classmethod
    def setUpClass(cls):
        cls.server = subprocess.Popen([PYTHON or sys.executable, "-B", "-c", SERVER, str(SCRIPTS)], text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    @classmethod
    def tearDownClass(cls):
        cls.server.stdin.close()
        cls.server.wait(timeout=30)
        cls.server.stdout.close()

    def table(self, path, rows, columns=None):
        path.parent.mkdir(exist_ok=True)
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, columns or list(rows[0]), extrasaction="ignore")
            writer.writeheader()
            writer.writerows(rows)
        return path

    def run_with(self, trials, name="run", columns=None, **tables):
        """The folder of a run that measured these trials, with these additional tables."""
        swept = list(dict.fromkeys(key for row in trials for key in row if "." in key))
        folder = self.table(self.folder / name / "trials.csv", trials, columns or COLUMNS + swept).parent
        for table, rows in tables.items():
            self.table(folder / f"{table}.csv", rows)
        return folder

    def plot(self, *runs, figure=None, output="figure.svg", **options):
        """Exit status, standard error, and the path of the figure."""
        if not figure and "y" not in options:
            figure = "throughput"
        words = [*map(str, runs), "--output", str(self.folder / output)]
        for name, value in {"figure": figure, **options}.items():
            for one in value if isinstance(value, (list, tuple)) else [value]:
                words += [f"--{name}", str(one)] if one is not None else []
        self.server.stdin.write(json.dumps(words) + "\n")
        self.server.stdin.flush()
        code, errors = json.loads(self.server.stdout.readline())
        return code, errors, self.folder / output

    def drawn(self, *runs, **options):
        code, errors, path = self.plot(*runs, **options)
        self.assertEqual((code, errors), (0, ""))
        return path.read_bytes()

    def words(self, *runs, **options):
        """The words in a figure, line after line, and its picture's own text."""
        text = self.drawn(*runs, **options).decode()
        return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", text)), text

    def holds(self, wanted, *runs, **options):
        words, _ = self.words(*runs, **options)
        for one in wanted if isinstance(wanted, (list, tuple)) else [wanted]:
            self.assertIn(one, words)

    def refused(self, code, says, *runs, **options):
        found, errors, path = self.plot(*runs, **options)
        self.assertEqual(found, code, errors)
        for text in says if isinstance(says, tuple) else (says,):
            self.assertIn(text, errors)
        self.assertNotIn("Traceback", errors)
        self.assertFalse(path.exists())

    def predicted(self, content=None):
        path = self.folder / "predicted.json"
        path.write_text(json.dumps(content or ARMS))
        return path

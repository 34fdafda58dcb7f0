"""scripts/gpu-acceptance with stand-ins of chexbench and PyTorch: what it runs, what it writes and when it ends."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import unittest
from pathlib import Path

from harness import ROOT, SystemTest, write_program

# Each looks its answers up in the file `script` next to it: the first key whose words are all in the command.
STANDIN = f"""#!{sys.executable} -BS
import json, os, signal, subprocess, sys, time
from pathlib import Path
here = Path(__file__).resolve().parent
script = json.loads((here / "script").read_text())
words = " ".join([Path(__file__).name, os.environ.get("CHEXBENCH_UNDER", ""),
                  os.environ.get("CUDA_INJECTION64_PATH", ""), *sys.argv[1:]])
with (here / "calls").open("a") as calls:
    calls.write(words + "\\n")
answer = next((answer for key, answer in script.items() if all(word in words for word in key.split())), {{}})
print(answer.get("output", ""), flush=True)
if "times" in answer:
    Path(os.environ["CHEXBENCH_KERNEL_TIME_FILE"]).write_text(json.dumps(answer["times"]))
if "epochs" in answer:
    run = Path(sys.argv[sys.argv.index("--output") + 1])
    run.mkdir(parents=True)
    (run / "epochs.csv").write_text(answer["epochs"])
    (run / "last.safetensors").write_text("a network")
time.sleep(answer.get("sleeps_s", 0))
if answer.get("hangs"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    (here / "pid").write_text(str(subprocess.Popen(["sleep", "1000"]).pid))
    time.sleep(1000)
print(answer.get("errors", ""), file=sys.stderr)
sys.exit(answer.get("code", 0))
"""
TORCH = """
__version__ = "2.11.0"
class version: cuda = "13.0"
class cuda: is_available = staticmethod(lambda: True)
"""


def doctor(gpus):
    return {"output": json.dumps({"gpus": gpus, "driver": {"problem": "no driver"}})}


def trial(rate):
    return {"output": f"images_per_s,wait_share,buffer_fed,engine_device\n{rate},0.01,false,a GPU"}


def window(rate):
    return {"output": json.dumps({"images_per_s": rate, "torch": "2.11.0"})}


def kernels_timed(**changes):
    """A trial of 100 steps of 12 ms, kernels running in 10.5 of them, and the times from the library."""
    times = {"problem": "", "exact": True, "lost_records": 0, "steps": 100, "window_s": 1.2, "kernel_s": 1.05,
             "kernels": 40000, "copies": 100, "copies_s": 0.01, "memsets": 0, "memsets_s": 0, "costliest": []}
    return {**trial(5333), "times": {**times, **changes}}


def kernels_swept(agrees=True, complete=True, **changes):
    """One kernel and the summary of a step that is nine tenths as fast as copies."""
    step = {"own_us_per_step": 10, "copy_share": 0.9, "worst_kernel": "loss", "worst_copy_share": 0.86, "kernels": []}
    kernel = {"kernel": "loss", "shape": "256x16", "ran": True, "agrees": agrees, "checked_values": 7}
    summary = {"summary": True, "complete": complete, "device": "a GPU", "fused": {**step, **changes}, "separate": step}
    return {"output": json.dumps(kernel) + "\n" + json.dumps(summary), "code": 0 if agrees else 5}


def epochs(*scores):
    return {"epochs": "elapsed_s,mean_auroc,top1\n" + "".join(f"{n + 1},{score},{score}\n"
                                                              for n, score in enumerate(scores))}


def good_answers():
    """Everything runs and meets its goals."""
    return {
        "chexbench doctor": doctor([{"name": "a GPU"}]),
        "chexbench plan-sweep": {
            "output": json.dumps({"pattern": "forward", "shape": "s", "ran": True, "median_us": 5})
        },
        "chexbench kernel-sweep": kernels_swept(),
        "chexbench memcheck": {"output": "========= ERROR SUMMARY: 0 errors"},
        "chexbench selftest": {"output": "  logits  1e-4 of 1e-3"},
        "chexbench evaluate": {"output": json.dumps({"images": 9, "precision": "f32", "device": "a GPU", "mean": {}})},
        "chexbench training.epochs": epochs(0.9, 0.96),
        "chexbench engine=cuda pipeline=naive": trial(3000),
        "chexbench engine=cuda data.root": trial(5900),
        "chexbench data.root": trial(8000),
        "chexbench libchexbench_kernel_time.so engine=cuda measure.repeats=1": kernels_timed(),
        "chexbench engine=cuda": trial(6000),
        "torch_gpu.py compiled": window(2500),
        "torch_gpu.py": window(2000),
    }


class GpuAcceptance(SystemTest):
    def setUp(self):
        super().setUp()
        self.bundle = self.folder / "bundle"
        shutil.copytree(ROOT / "scripts/acceptance", self.bundle / "acceptance")
        shutil.copy(ROOT / "scripts/gpu-acceptance", self.bundle)
        for name in ("chexbench", "torch_gpu.py", "compute-sanitizer"):
            write_program(self.bundle / name, STANDIN)
        self.timer = self.bundle / "lib/chexbench/libchexbench_kernel_time.so"
        self.timer.parent.mkdir(parents=True)
        self.timer.touch()
        (self.bundle / "torch.py").write_text(TORCH)
        (self.bundle / "torchvision.py").write_text("__version__ = '0.26.0'")
        self.environment = {**os.environ, "PYTHONPATH": str(self.bundle),
                            "PATH": f"{self.bundle}:{os.environ['PATH']}"}
        self.output = self.folder / "out"

    def start(self, answers, *arguments):
        (self.bundle / "script").write_text(json.dumps(answers))
        command = [sys.executable, self.bundle / "gpu-acceptance", "--output", self.output, *map(str, arguments)]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment
        )

    def accept(self, answers, *arguments, code=0):
        """Runs it to its end; its rows by the names of their cases."""
        process = self.start(answers, *arguments)
        self.stdout, self.stderr = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, self.stdout + self.stderr)
        return {row["case"]: row for row in map(json.loads, self.stdout.splitlines())}

    def figures(self, rows):
        return {figure["figure"]: figure for figure in rows["summary"]["figures"]}

    def test_everything_that_runs_and_meets_its_goals_is_a_success_in_order_of_its_worth(self):
        rows = self.accept(good_answers())
        self.assertEqual({row["outcome"] for row in rows.values()}, {"ok"})
        self.assertEqual((self.output / "rows.jsonl").read_text(), self.stdout)
        judged = [figure for figure in rows["summary"]["figures"] if figure["goal"] is not None]
        self.assertEqual([figure["figure"] for figure in judged if figure["met"] is not True], [])
        parts = list(dict.fromkeys(row["part"] for row in rows.values()))
        self.assertEqual(parts, ["machine", "golden", "gate", "training", "kernels", "compiled", "kernel-sweep",
                                 "batches", "input", "updates", "learning", "graph", "bf16", "again", "memcheck",
                                 "plan-sweep", "summary"])
        # The first row with a goal comes after two that say whether numbers are right.
        self.assertEqual([name for name in rows][2:6],
                         ["golden resnet50-128-batch3 f32", "gate resnet50 fp16",
                          "training 1 resnet50 fp16 256 chexbench", "training 1 resnet50 fp16 256 torch eager"])

    def test_a_gpu_with_published_figures_is_held_against_them(self):
        answers = {"chexbench engine=cuda training.precision=f32": trial(300), **good_answers(),
                   "chexbench doctor": doctor([{"name": "Tesla V100-SXM2-16GB"}]), "chexbench engine=cuda": trial(1400)}
        rows = self.accept(answers, "--only", "published", code=5)
        figures = self.figures(rows)
        met = {goal["goal"]: goal["met"] for goal in figures.values() if "published by NVIDIA" in goal["figure"]}
        self.assertEqual(met, {1376: True, 384: False})

    def test_rows_hold_the_clock_and_the_power_while_the_gpu_worked(self):
        write_program(self.bundle / "nvidia-smi", "#!/bin/sh\nprintf '345, 90.0\\n1755, 690.5\\n1980, [N/A]\\n1725, "
                      "700.5\\n'\nexec sleep 60\n")
        rows = self.accept({"torch_gpu.py": {**window(2000), "sleeps_s": 1}, **good_answers()}, "--only", "training")
        row = rows["training 1 resnet50 fp16 256 torch eager"]
        self.assertEqual((row["sm_clock_mhz"], row["power_w"]), (1740, 695.5))

    def test_plans_are_brought_along_and_handed_back_with_one_archive_of_all_logs(self):
        (self.bundle / "convolution-plans.txt").write_text("known")
        self.accept(good_answers(), "--only", "golden")
        self.assertEqual((self.output / "convolution-plans.txt").read_text(), "known")
        with tarfile.open(self.output / "logs.tar.gz") as archive:
            self.assertIn("logs/golden-resnet50-f32.out", archive.getnames())
        self.assertEqual(sorted(path.name for path in self.output.iterdir()),
                         ["convolution-plans.txt", "logs.tar.gz", "rows.jsonl"])

    def test_both_sides_are_measured_in_turn(self):
        rows = self.accept(good_answers(), "--only", "training")
        self.assertEqual([(row["model"], row["framework"]) for row in rows.values() if row["part"] == "training"],
                         [("resnet50", "chexbench"), ("resnet50", "torch"),
                          ("densenet121", "chexbench"), ("densenet121", "torch")])

    def test_a_sweep_is_told_to_end_before_it_would_be_killed(self):
        self.accept(good_answers(), "--only", "plan-sweep", "--only", "kernel-sweep")
        calls = (self.bundle / "calls").read_text()
        self.assertIn("--budget 95\n", calls)
        self.assertIn("--model resnet50 --batch-size 256 --precision fp16 --format json --budget 85\n", calls)

    def test_a_kernel_that_computes_something_else_is_a_failure_and_is_named(self):
        answers = {"chexbench kernel-sweep densenet121": kernels_swept(agrees=False), **good_answers()}
        rows = self.accept(answers, "--only", "kernel-sweep", code=5)
        self.assertEqual(rows["kernel-sweep densenet121 fp16 256"]["outcome"], "failed")
        figures = self.figures(rows)
        figure = figures["densenet121 fp16 batch 256: own kernels compute what the host does"]
        self.assertEqual((figure["met"], figure["note"]), (False, "wrong: loss at 256x16"))
        self.assertIs(figures["resnet50 fp16 batch 256: own kernels compute what the host does"]["met"], True)

    def test_kernels_are_timed_in_a_run_of_their_own(self):
        rows = self.accept(good_answers(), "--only", "batches", "--only", "kernels")
        row = rows["kernels 1 resnet50 fp16 64 chexbench kernels timed"]
        self.assertEqual((row["kernel_s_per_step"], row["step_s"], row["steps"]), (0.0105, 0.012, 100))
        calls = (self.bundle / "calls").read_text().splitlines()
        self.assertEqual(sum(str(self.timer) in call for call in calls), 4)
        figure = self.figures(rows)["resnet50 fp16 batch 64: share of the step outside kernels (at most)"]
        self.assertEqual((figure["value"], figure["met"]), (0.0156, True))  # of a step of 64 / 6000 s

    def test_a_training_must_learn_and_is_judged_by_its_best_epoch(self):
        answers = {"chexbench training.epochs precision=bf16": epochs(0.7, 0.93, 0.91), **good_answers()}
        rows = self.accept(answers, "--only", "learning", code=5)
        row = rows["learning findings bf16 adam"]
        self.assertEqual((row["outcome"], row["by_epoch"], row["elapsed_s"]), ("ok", [0.7, 0.93, 0.91], [1, 2, 3]))
        met = {name: (figure["value"], figure["met"]) for name, figure in self.figures(rows).items()
               if name.startswith("learning")}
        self.assertEqual(met, {"learning findings fp16 adam: mean_auroc": (0.96, True),
                               "learning findings fp16 adamw: mean_auroc": (0.96, True),
                               "learning findings bf16 adam: mean_auroc": (0.93, False),
                               "learning classes fp16: top1": (0.96, None)})
        with tarfile.open(self.output / "logs.tar.gz") as archive:
            kept = [name for name in archive.getnames() if name.startswith("runs/learning-classes")]
        self.assertEqual(kept, ["runs/learning-classes-fp16", "runs/learning-classes-fp16/epochs.csv"])

    def test_a_training_that_leaves_no_epochs_is_a_failure(self):
        answers = {**good_answers(), "chexbench training.epochs": {}}
        rows = self.accept(answers, "--only", "learning", code=5)
        self.assertIn("it left no epochs.csv", rows["learning classes fp16"]["reason"])

    def test_kernel_times_that_lack_something_are_a_failure(self):
        key = "chexbench libchexbench_kernel_time.so"
        for number, (changes, reason) in enumerate(
            (({"problem": "CUPTI cannot be opened"}, "CUPTI cannot be opened"),
             ({"exact": False, "lost_records": 7}, "lost records of kernels: 7"))
        ):
            self.output = self.folder / f"out{number}"
            rows = self.accept({key: kernels_timed(**changes), **good_answers()}, "--only", "kernels", code=5)
            self.assertIn(reason, rows["kernels 1 densenet121 fp16 64 chexbench kernels timed"]["reason"])
        self.output = self.folder / "out"
        rows = self.accept({key: trial(5333), **good_answers()}, "--only", "kernels", code=5)
        self.assertIn(
            "CUDA did not load the library", rows["kernels 1 resnet50 fp16 64 chexbench kernels timed"]["reason"]
        )

    def test_a_bundle_without_the_library_skips_that(self):
        self.timer.unlink()
        rows = self.accept(good_answers(), "--only", "kernels")
        self.assertEqual(rows["kernels 1 resnet50 fp16 64 chexbench kernels timed"]["outcome"], "skipped")

    def test_what_does_not_fit_here_is_a_failure_and_the_rest_is_still_run(self):
        misfit = {**doctor([{"name": "a GPU"}]), "code": 4, "errors": "doctor: 1 conflict between installed components"}
        rows = self.accept({**good_answers(), "chexbench doctor": misfit}, "--only", "golden", code=5)
        self.assertIn("1 conflict between", rows["doctor"]["reason"])
        self.assertEqual(rows["golden resnet50 f32"]["outcome"], "ok")

    @unittest.skipIf(Path("/dev/nvidiactl").exists(), "this machine has a GPU")
    def test_without_a_gpu_every_row_says_so_and_nothing_is_started(self):
        rows = self.accept({"chexbench doctor": doctor([])}, code=4)
        self.assertGreater(len(rows), 30)
        for row in rows.values():
            self.assertIn("no GPU: no driver", row["reason"])
        self.assertEqual((self.bundle / "calls").read_text().count("\n"), 1)

    def test_without_pytorch_its_rows_say_so_and_the_others_run(self):
        (self.bundle / "torch.py").write_text("raise ImportError('no torch here')")
        rows = self.accept(good_answers(), "--only", "training", code=5)
        self.assertEqual({row["outcome"] for row in rows.values() if row.get("framework") == "torch"}, {"skipped"})
        self.assertEqual({row["outcome"] for row in rows.values() if row.get("framework") == "chexbench"}, {"ok"})
        ratio = self.figures(rows)["resnet50 fp16 batch 256: chexbench / PyTorch's better of eager and compiled"]
        self.assertIsNone(ratio["value"])
        self.assertIn("no torch here", ratio["note"])

    def test_what_fails_tells_its_own_words_and_the_next_goes_on(self):
        refused = {"code": 2, "errors": "error: unknown option '--precision'"}
        rows = self.accept({"chexbench selftest tf32": refused, **good_answers()}, "--only", "gate", code=5)
        self.assertEqual(rows["gate resnet50 tf32"]["outcome"], "failed")
        self.assertIn("exit status 2: error: unknown option '--precision'", rows["gate resnet50 tf32"]["reason"])
        self.assertEqual(rows["gate densenet121 bf16"]["outcome"], "ok")
        self.assertIs(self.figures(rows)["as in f32, fused and unfused, resnet50 tf32"]["met"], False)
        self.assertEqual(rows["summary"]["failed"], ["gate resnet50 tf32", "gate densenet121 tf32"])

    def test_output_that_makes_no_sense_is_a_failure(self):
        answers = {**good_answers(), "chexbench engine=cuda": {"output": "all is well"}}
        rows = self.accept(answers, "--only", "training", code=5)
        self.assertEqual(rows["training 1 resnet50 fp16 256 chexbench"]["reason"],
                         "its output makes no sense: chexbench measured nothing")

    def test_a_missed_goal_is_no_success(self):
        answers = {**good_answers(), "chexbench engine=cuda": trial(4000)}
        rows = self.accept(answers, "--only", "training", "--only", "compiled", code=5)
        met = [figure["met"] for figure in rows["summary"]["figures"] if figure["goal"] in (1.5, 2.3)]
        self.assertEqual(met, [True, False])

    def test_at_its_deadline_a_run_kills_its_children_and_keeps_what_it_has(self):
        started = time.monotonic()
        answers = {"torch_gpu.py eager": {**window(2000), "hangs": True}, **good_answers()}
        rows = self.accept(answers, "--only", "training", "--budget", 14)
        self.assertLess(time.monotonic() - started, 20)
        cut = rows["training 1 resnet50 fp16 256 torch eager"]
        self.assertEqual((cut["outcome"], cut["images_per_s"]), ("cut", 2000))
        self.assertIn("budget of 14 s is spent", rows["training 1 densenet121 fp16 256 chexbench"]["reason"])
        self.assertFalse(self.is_alive(int((self.bundle / "pid").read_text())))

    def test_an_end_from_outside_still_summarizes_and_leaves_no_child(self):
        process = self.start({"torch_gpu.py eager": {"hangs": True}, **good_answers()}, "--only", "training")
        self.addCleanup(process.kill)
        give_up = time.monotonic() + 30
        while not (self.bundle / "pid").exists() or not (self.bundle / "pid").read_text():
            self.assertLess(time.monotonic(), give_up)
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        stdout, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(json.loads(stdout.splitlines()[-1])["part"], "summary")
        self.assertFalse(self.is_alive(int((self.bundle / "pid").read_text())))

    def is_alive(self, process):
        try:
            return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def test_wrong_arguments_are_told_before_anything_runs(self):
        self.accept({}, "--only", "everything", code=2)
        self.accept({}, "--budget", 0, code=2)
        self.output.mkdir()
        (self.output / "rows.jsonl").touch()
        self.accept({}, code=2)
        self.assertFalse((self.bundle / "calls").exists())

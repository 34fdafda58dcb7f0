"""scripts/gpu-acceptance's figures from the outputs that it reads, and whether each meets its goal."""

import json
import sys
import unittest

from gpu_acceptance_test import kernels_swept
from harness import ROOT

sys.path.insert(0, str(ROOT / "scripts"))
from acceptance import cases, goals  # noqa: E402


class Summary(unittest.TestCase):
    TRAINING = {"model": "resnet50", "precision": "fp16", "batch": 256, "outcome": "ok"}

    def row(self, framework, rate, **facts):
        mode = "default" if framework == "chexbench" else "eager"
        return {"part": "training", "case": "", "framework": framework, "images_per_s": rate, "mode": mode, "turn": 1,
                **self.TRAINING, **facts}

    def figure(self, rows, beginning):
        return next(figure for figure in goals.summarize(rows) if figure["figure"].startswith(beginning))

    def ratio(self, *rows):
        return self.figure(rows, "resnet50 fp16 batch 256: chexbench /")

    def test_a_ratio_is_to_the_better_of_eager_and_compiled(self):
        figure = self.ratio(
            self.row("chexbench", 6000), self.row("torch", 3000), self.row("torch", 3750, mode="compiled")
        )
        self.assertEqual((figure["value"], figure["goal"], figure["met"]), (1.6, 1.5, True))

    def test_against_eager_alone_a_goal_can_be_missed_but_not_met(self):
        self.assertIsNone(self.ratio(self.row("chexbench", 6000), self.row("torch", 3000))["met"])
        self.assertIs(self.ratio(self.row("chexbench", 4000), self.row("torch", 3000))["met"], False)

    def test_ratios_are_taken_within_a_turn(self):
        figure = self.ratio(self.row("chexbench", 4000), self.row("torch", 2000),
                            self.row("torch", 1000, mode="compiled"), self.row("chexbench", 3000, turn=2),
                            self.row("torch", 1000, turn=2))
        self.assertEqual(figure["value"], 2.5)  # of 2.0 and 3.0, not of the medians 3500 and 1500
        self.assertIn("2.00 to 3.00", figure["note"])

    def test_a_trial_of_another_kind_is_no_figure_of_training(self):
        figure = self.ratio(self.row("chexbench", 9000, mode="unfused"), self.row("torch", 3000))
        self.assertIsNone(figure["value"])

    def fed(self, fed, ceiling):
        rows = [self.row("chexbench", 4000), self.row("chexbench", fed, part="input", mode="optimized"),
                {"part": "input", "case": "", "mode": "ceiling", "outcome": "ok", "images_per_s": ceiling}]
        return self.figure(rows, "resnet50 fp16 batch 256: fed")

    def test_fed_by_pngs_the_goal_holds_where_the_cores_decode_enough(self):
        self.assertEqual([self.fed(3700, 8000)["met"], self.fed(3500, 8000)["met"]], [True, False])

    def test_fed_by_pngs_the_goal_is_void_where_the_cores_decode_too_little(self):
        figure = self.fed(1900, 2000)
        self.assertIsNone(figure["met"])
        self.assertIn("bound by decoding", figure["note"])
        self.assertIn("fed reaches 0.95 of that", figure["note"])

    def outside(self, *rows):
        timed = self.row("chexbench", 5000, part="kernels", batch=64, mode="kernels timed", kernel_s_per_step=0.0098,
                         step_s=0.0128)
        return self.figure([timed, *rows], "resnet50 fp16 batch 64: share")

    def test_the_share_outside_kernels_is_of_a_step_whose_kernels_are_not_timed(self):
        figure = self.outside(self.row("chexbench", 6400, batch=64))  # a step of 10 ms
        self.assertEqual((figure["value"], figure["met"]), (0.02, True))
        figure = self.outside(self.row("chexbench", 5760, batch=64))
        self.assertEqual((figure["value"], figure["met"]), (0.118, False))

    def test_the_share_outside_kernels_of_that_run_itself_can_only_meet_the_goal(self):
        figure = self.outside()
        self.assertEqual((figure["value"], figure["met"]), (0.2344, None))
        self.assertIn("was not timed", figure["note"])

    def shares(self, answer):
        row = {"part": "kernel-sweep", "case": "", **self.TRAINING}
        rows = [{**row, **cases.read_kernel_sweep(answer["output"], "")}]
        begin = "resnet50 fp16 batch 256: own kernels / a copy of as many bytes, "
        return [self.figure(rows, begin + what) for what in ("all, weighted by time", "the worst")]

    def test_own_kernels_are_held_against_copies_together_and_the_worst_of_them(self):
        both, worst = self.shares(kernels_swept(worst_copy_share=0.7))
        self.assertEqual((both["value"], both["met"]), (0.9, True))
        self.assertEqual((worst["value"], worst["met"], worst["note"]), (0.7, False, "loss"))

    def test_a_sweep_that_did_not_come_to_its_end_meets_no_goal(self):
        figures = self.shares(kernels_swept(complete=False))
        self.assertEqual([figure["met"] for figure in figures], [None, None])
        cut = kernels_swept()
        cut["output"] = cut["output"].splitlines()[0]
        self.assertEqual([figure["value"] for figure in self.shares(cut)], [None, None])

    def test_memory_errors_miss_their_goal(self):
        rows = [{"part": "memcheck", "case": "", "outcome": "failed", "memory_errors": 3}]
        self.assertIs(self.figure(rows, "own kernels")["met"], False)


class Readers(unittest.TestCase):
    def test_windows_give_their_median(self):
        read = cases.read_windows(
            "\n".join(json.dumps({"images_per_s": rate}) for rate in (1, 9, 2)) + '\n{"images', ""
        )
        self.assertEqual((read["images_per_s"], read["images_per_s_best"], read["windows"]), (2, 9, 3))

    def test_a_sweep_gives_the_sum_of_each_patterns_fastest_plans(self):
        plans = [{"pattern": "forward", "shape": shape, "ran": True, "median_us": time_us}
                 for shape, time_us in (("a", 5), ("a", 3), ("b", 4))]
        plans.append({"pattern": "forward", "shape": "c", "ran": False})
        read = cases.read_sweep("\n".join(map(json.dumps, plans)) + '\n{"pattern"', "stopped at its budget of 9 s")
        self.assertEqual(read, {"plans": 3, "complete": False, "patterns": {"forward": {"shapes": 2, "fastest_us": 7}}})

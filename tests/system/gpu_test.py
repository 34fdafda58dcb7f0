"""What needs a GPU, where there is none."""

import unittest
from pathlib import Path

from harness import SystemTest


@unittest.skipIf(Path("/dev/nvidiactl").exists(), "this machine has a GPU")
class WithoutAGpu(SystemTest):
    def test_a_plan_sweep_says_what_is_missing(self):
        done = self.fail_with(4, "plan-sweep", says=["CUDA"])
        self.assertEqual(done.stdout, "")

    def test_wrong_arguments_of_a_plan_sweep_are_told_first(self):
        self.fail_with(2, "plan-sweep", "--batch", "0", says=["--batch"])
        self.fail_with(2, "plan-sweep", "--precision", "fp8", says=["fp8"])
        self.fail_with(2, "plan-sweep", "--netwerk", "resnet50", says=["--network"])

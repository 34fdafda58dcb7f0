"""Features that need a GPU, on a machine without one."""

import unittest
from pathlib import Path

from harness import SystemTest


@unittest.skipIf(Path("/dev/nvidiactl").exists(), "this machine has a GPU")
class WithoutAGpu(SystemTest):
    def test_a_plan_sweep_says_what_is_missing(self):
        done = self.fail_with(4, "dev", "plan-sweep", says=["CUDA"])
        self.assertEqual(done.stdout, "")

    def test_wrong_arguments_of_a_plan_sweep_are_told_first(self):
        self.fail_with(2, "dev", "plan-sweep", "--batch", "0", says=["--batch"])
        self.fail_with(2, "dev", "plan-sweep", "--precision", "fp8", says=["fp8"])
        self.fail_with(2, "dev", "plan-sweep", "--netwerk", "resnet50", says=["--network"])

    def test_a_kernel_sweep_says_what_is_missing(self):
        done = self.fail_with(4, "dev", "kernel-sweep", says=["CUDA"])
        self.assertEqual(done.stdout, "")

    def test_wrong_arguments_of_a_kernel_sweep_are_told_first(self):
        self.fail_with(2, "dev", "kernel-sweep", "--batch-size", "0", says=["--batch-size"])
        self.fail_with(2, "dev", "kernel-sweep", "--precision", "fp8", says=["fp8"])
        self.fail_with(2, "dev", "kernel-sweep", "--format", "yaml", says=["--format"])
        self.fail_with(2, "dev", "kernel-sweep", "--modle", "resnet50", says=["--model"])

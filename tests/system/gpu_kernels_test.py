"""kernel-sweep from the command line, run on a host twin of a GPU."""

import csv
import io
import json

from harness import SystemTest


class KernelSweep(SystemTest):
    SMALL = ("dev", "kernel-sweep", "--batch-size", "2", "--image-size", "32")

    def test_every_kernel_of_a_layer_agrees_with_the_host(self):
        kernels = ("statistics,moments_and_affine,normalize,gradient_sums,gradient_apply,lazy_accumulate,lazy_apply,"
                   "norm_max_pool,average_pooled_lazy_accumulate,max_pool,copy,loss,decide")
        done = self.succeed(*self.SMALL, "--kernel", kernels, "--format", "json")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        rows = [line for line in lines if not line.get("summary")]
        self.assertEqual({row["kernel"] for row in rows}, set(kernels.split(",")))
        for row in rows:
            self.assertTrue(row["agrees"], row)
            self.assertIn("mean nothing", row["device"])
        summaries = [line for line in lines if line.get("summary")]
        self.assertEqual([summary["network"] for summary in summaries], ["resnet50", "densenet121"])
        for summary in summaries:
            self.assertEqual((summary["complete"], summary["wrong"], summary["failed"]), (True, [], []))
            of = [row for row in rows if row["network"] == summary["network"]]
            self.assertAlmostEqual(summary["separate"]["own_us_per_step"], sum(row["us_per_step"] for row in of), 3)

    def test_csv_and_table_hold_the_same_kernels(self):
        chosen = (*self.SMALL, "--model", "densenet121", "--kernel", "lazy_apply", "--precision", "bf16")
        rows = list(csv.DictReader(io.StringIO(self.succeed(*chosen, "--format", "csv").stdout)))
        table = self.succeed(*chosen).stdout
        self.assertGreater(len(rows), 4)
        for row in rows:
            self.assertEqual(row["precision"], "bf16")
            self.assertIn(row["shape"], table)

    def test_a_budget_ends_it_and_is_told(self):
        done = self.succeed(*self.SMALL, "--budget", "0")
        self.assertIn("stopped at its budget of 0 s", done.stderr)

    def test_wrong_names_are_told_with_the_nearest_one(self):
        self.fail_with(2, *self.SMALL, "--model", "resnet5", says=["'resnet50'"])
        self.fail_with(2, *self.SMALL, "--kernel", "normalise", says=["'normalize'"])
        self.fail_with(2, *self.SMALL, "--model", "resnet50", "--kernel", "lazy_apply", says=["none of these networks"])
        self.fail_with(2, "dev", "kernel-sweep", "--batch-size", "4096", "--image-size", "4096",
                       says=["--batch-size", "--image-size"])

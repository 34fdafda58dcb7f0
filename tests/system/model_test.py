"""chexbench model."""

import unittest

from harness import HAS_ONEDNN, SystemTest


class Model(SystemTest):
    def test_the_table_and_the_object_tell_the_same_network(self):
        told = self.told("model", "googlenet")
        self.assertEqual(told["parameters"], 5614254)
        self.assertEqual(told["parameters"], sum(layer["parameters"] for layer in told["layers"]))
        self.assertAlmostEqual(told["forward_flops"] / 2e9, 1.5, delta=0.005)
        table = self.succeed("model", "googlenet").stdout
        for layer in told["layers"]:
            self.assertIn(f"{layer['channels']}x{layer['height']}x{layer['width']}", table)
            self.assertIn(layer["name"], table)
        self.assertIn("5,614,254", table)

    def test_what_cannot_be_told_is_a_usage_error(self):
        self.fail_with(2, "model", "resnet5", says="resnet50")
        self.fail_with(2, "model", "resnet50", "--roofline", "v1000", says="v100")
        self.fail_with(2, "model", "resnet50", "--roofline", "a100", says="gives no 'peaks'")
        self.fail_with(2, "model", "resnet50", "--batch-sizes", "64", says="--roofline")
        self.fail_with(2, "model", "alexnet", "--image-size", "62", says="too small for alexnet")
        self.fail_with(2, "model", says="name")
        self.fail_with(2, "model", "resnet50", "--format", "csv", says="--format")

    @unittest.skipUnless(HAS_ONEDNN, "built without oneDNN")
    def test_the_times_of_ops_and_what_is_left_are_the_step(self):
        told = self.told("model", "mobilenet_v2", "--image-size", 32, "--time-ops", "--batch-sizes", 2)
        kinds = {one["kind"]: one for one in told["ops"]}
        self.assertEqual(kinds["depthwise convolution 3x3"]["ops"], 17)
        self.assertEqual(kinds["norm"]["ops"], 52)
        for one in told["ops"]:
            self.assertGreater(one["forward_s"] + one["backward_s"], 0, one)
        parts_s = sum(one["forward_s"] + one["backward_s"] for one in told["ops"]) + told["update_s"] + told["other_s"]
        self.assertAlmostEqual(parts_s, told["step_s"], places=9)
        self.assertGreaterEqual(told["other_s"], 0)

    def test_options_that_have_nothing_to_do_are_refused(self):
        for options, words in ((["--batch-sizes", 8], "--batch-sizes requires --roofline or --time-ops"),
                               (["--precision", "bf16"], "--precision requires --roofline or --time-ops"),
                               (["--time-ops", "--batch-sizes", "8,16"], "give one number to --batch-sizes"),
                               (["--time-ops", "--roofline", "v100"], "--roofline")):
            self.fail_with(2, "model", "resnet50", *options, says=words)

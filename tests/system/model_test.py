"""chexbench model."""

import json
import unittest

from harness import SystemTest


class Model(SystemTest):
    def test_the_table_and_the_object_tell_the_same_network(self):
        told = json.loads(self.succeed("model", "googlenet", "--format", "json").stdout)
        self.assertEqual(told["parameters"], 5614254)
        self.assertEqual(told["parameters"], sum(layer["parameters"] for layer in told["layers"]))
        self.assertAlmostEqual(told["forward_flops"] / 2e9, 1.5, delta=0.005)
        table = self.succeed("model", "googlenet").stdout
        for layer in told["layers"]:
            self.assertIn(f"{layer['channels']}x{layer['height']}x{layer['width']}", table)
            self.assertIn(layer["name"], table)
        self.assertIn("5614254", table)

    def test_the_image_size_changes_the_maps(self):
        told = json.loads(self.succeed("model", "resnet50", "--image-size", "128", "--format", "json").stdout)
        self.assertEqual((told["layers"][0]["height"], told["image_size"]), (128, 128))

    def test_what_cannot_be_told_is_a_usage_error(self):
        self.fail_with(2, "model", "resnet5", says="resnet50")
        self.fail_with(2, "model", "resnet50", "--roofline", "v1000", says="v100")
        self.fail_with(2, "model", "resnet50", "--roofline", "a100", says="gives no 'peaks'")
        self.fail_with(2, "model", "resnet50", "--batch-sizes", "64", says="--roofline")
        self.fail_with(2, "model", "alexnet", "--image-size", "62", says="too small for alexnet")
        self.fail_with(2, "model", says="name")
        self.fail_with(2, "model", "resnet50", "--format", "csv", says="--format")


if __name__ == "__main__":
    unittest.main()

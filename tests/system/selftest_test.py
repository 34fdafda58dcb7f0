"""chexbench selftest: this machine against golden values."""

import json
import unittest

from harness import GOLDEN, HAS_ONEDNN, SystemTest


def spoil(value):
    """A copy in which every floating-point number is far off."""
    if isinstance(value, float):
        return value * 2 + 1
    if isinstance(value, list):
        return [spoil(item) for item in value]
    if isinstance(value, dict):
        return {key: spoil(item) for key, item in value.items()}
    return value


class Selftest(SystemTest):
    def test_preprocess_agrees(self):
        self.succeed("selftest", "preprocess", "--golden", GOLDEN / "preprocess.json")

    def test_interleave_agrees(self):
        self.succeed("selftest", "interleave", "--golden", GOLDEN / "interleave.json")

    @unittest.skipUnless(HAS_ONEDNN, "built without oneDNN")
    def test_both_networks_agree(self):
        for name in ("resnet50", "densenet121"):
            with self.subTest(network=name):
                self.succeed("selftest", "engine", "--golden", GOLDEN / f"{name}.json")

    def test_values_that_are_off_are_found(self):
        spoiled = self.folder / "preprocess.json"
        spoiled.write_text(json.dumps(spoil(json.loads((GOLDEN / "preprocess.json").read_text()))))
        self.fail_with(5, "selftest", "preprocess", "--golden", spoiled)

    def test_missing_file(self):
        done = self.fail_with(2, "selftest", "preprocess", "--golden", self.folder / "none.json", says="none.json")
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()

"""chexbench dev selftest: this machine against golden values."""

import json
import unittest

from harness import GOLDEN, HAS_ONEDNN, REAL_IMAGES, SystemTest


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
        self.succeed("dev", "selftest", "preprocess", "--root", REAL_IMAGES,
                     "--golden", GOLDEN / "preprocess.json")

    def test_interleave_agrees(self):
        self.succeed("dev", "selftest", "interleave", "--golden", GOLDEN / "interleave.json")

    @unittest.skipUnless(HAS_ONEDNN, "built without oneDNN")
    def test_a_network_agrees(self):
        self.succeed("dev", "selftest", "engine", "--golden", GOLDEN / "mobilenet_v2.json")

    def spoiled(self, name):
        path = self.folder / name
        path.write_text(json.dumps(spoil(json.loads((GOLDEN / name).read_text()))))
        return path

    def test_pixels_that_are_off_are_found(self):
        self.fail_with(5, "dev", "selftest", "preprocess", "--root", REAL_IMAGES, "--golden",
                       self.spoiled("preprocess.json"))

    @unittest.skipUnless(HAS_ONEDNN, "built without oneDNN")
    def test_gradients_that_are_off_are_found(self):
        self.fail_with(5, "dev", "selftest", "engine", "--golden", self.spoiled("mobilenet_v2.json"))

    def test_missing_file(self):
        done = self.fail_with(3, "dev", "selftest", "preprocess", "--golden", self.folder / "none.json",
                              says="none.json")
        self.assertEqual(done.stdout, "")

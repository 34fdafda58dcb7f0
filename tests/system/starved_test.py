"""scripts/starved: the chest X-ray training that starved its GPU, before and after, on synthetic images."""

import textwrap
import unittest

from harness import ROOT, SystemTest, python_with, run_program

STARVED = ROOT / "scripts/starved"
PYTHON = python_with("torchvision")
STEPS = 24


@unittest.skipUnless(PYTHON, "needs torchvision: scripts/peers/setup brings it")
class Starved(SystemTest):
    def setUp(self):
        super().setUp()
        self.images = self.folder / "set"
        self.succeed("data", "synth", self.images, "--images", "12", "--size", "256")

    def run_python(self, *arguments):
        return run_program(PYTHON, "-B", *arguments, timeout=200, cwd=self.folder)

    def train(self, log, *arguments, images_per_s):
        """chexbench's verdict on a training with an accelerator of this speed."""
        done = self.run_python(STARVED / "train.py", self.images, "--log", log, "--batch", 4, "--steps", STEPS,
                               "--workers", 2, "--images-per-s", images_per_s, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = self.told("diagnose", self.folder / log)
        self.assertEqual((found["steps"], found["ranks"][0]["images"]), (STEPS, 4 * (STEPS - 1)))
        return found

    def test_an_accelerator_of_no_end_starves_and_is_told_what_it_needs(self):
        found = self.train("before.csv", images_per_s=1e6)
        self.assertEqual([finding["kind"] for finding in found["findings"]][:2], ["starved", "needed_rate"])

    def test_small_copies_are_made_once(self):
        small = self.folder / "small"
        self.train("after.csv", "--small", small, images_per_s=1e6)
        copies = {path.name: path.stat().st_mtime_ns for path in small.iterdir()}
        self.assertEqual(len(copies), 12)
        self.train("again.csv", "--small", small, images_per_s=1e6)
        self.assertEqual({path.name: path.stat().st_mtime_ns for path in small.iterdir()}, copies)

    def test_both_load_the_same_tensors(self):
        program = textwrap.dedent("""
            import sys, torch
            sys.path.insert(0, sys.argv[1])
            from loading import After, Before, image_files, shrink
            files = image_files(sys.argv[2])
            before, after = Before(files, varied=False), After(shrink(files, "small"), varied=False)
            print(len(files), max(float((before[i][0] - after[i][0]).abs().max()) for i in range(len(files))))
            varied = []
            for images in (Before(files), After(shrink(files, "small"))):
                torch.manual_seed(7)
                varied.append(torch.stack([images[i][0] for i in range(len(files))]))
            print(float((varied[0] - varied[1]).abs().max()))
            """)
        done = self.run_python("-c", program, STARVED, self.images)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "12 0.0\n0.0\n")

    def test_a_folder_without_images_is_told(self):
        (self.folder / "empty").mkdir()
        done = self.run_python(STARVED / "train.py", "empty", "--log", "steps.csv")
        self.assertEqual(done.returncode, 1)
        self.assertIn("empty: no PNG or JPEG is in it", done.stderr)

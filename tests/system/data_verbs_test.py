"""The verbs that look at and make data."""

import hashlib
import json
import unittest

from harness import IMAGES, REAL_IMAGES, SystemTest


def contents(folder):
    """Relative path -> hash of every file below a folder."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


class Index(SystemTest):
    def test_it_counts_images_patients_and_splits(self):
        done = self.succeed("data", "index", REAL_IMAGES)
        self.assertRegex(done.stdout, rf"images\D+{IMAGES}\b")
        patients = {path.name.split("_")[0] for path in (REAL_IMAGES / "images").iterdir()}
        self.assertRegex(done.stdout, rf"patients\D+{len(patients)}\b")

    def test_it_reports_missing_and_orphan_files(self):
        root = self.real_images()
        (root / "images/00000001_000.png").unlink()
        (root / "images/99999999_000.png").write_bytes(b"")
        done = self.succeed("data", "index", root)
        self.assertRegex(done.stdout, r"(?i)missing\D+1\b")
        self.assertRegex(done.stdout, r"(?i)orphan\D+1\b")

    def test_missing_root(self):
        self.fail_with(3, "data", "index", self.folder / "none", says="none")


class Synth(SystemTest):
    def test_the_same_seed_gives_the_same_files(self):
        for name in ("a", "b"):
            self.succeed("data", "synth", self.folder / name, "--images", 6, "--size", 128, "--seed", 3)
        self.succeed("data", "synth", self.folder / "c", "--images", 6, "--size", 128, "--seed", 4)
        self.assertEqual(contents(self.folder / "a"), contents(self.folder / "b"))
        self.assertNotEqual(contents(self.folder / "a"), contents(self.folder / "c"))

    def test_the_set_can_be_indexed_converted_checked_and_run(self):
        root = self.folder / "set"
        self.succeed("data", "synth", root, "--images", 40, "--size", 128)
        self.assertRegex(self.succeed("data", "index", root).stdout, r"images\D+40\b")
        self.succeed("data", "convert", root)
        self.succeed("data", "check", root)
        self.succeed(
            "--config", self.spec(data__root=str(root), data__format="tfrecord"), "--output", self.folder / "out"
        )


class Convert(SystemTest):
    def test_options_of_pixels_are_refused_where_images_stay_as_they_are(self):
        for option, value in (("--image-size", 64), ("--resize", "area"), ("--color", "rgb")):
            with self.subTest(option=option):
                self.fail_with(2, "data", "convert", self.folder, option, value, says=f"{option} requires --to cached")

    def test_nothing_is_dropped_and_the_tensors_agree(self):
        root = self.real_images(converted=True)
        shards = list((root / "tfrecord").glob("all-*-of-*"))
        self.assertGreaterEqual(len(shards), 16)
        self.succeed("data", "check", root)
        manifests = list((root / "tfrecord").glob("*.json"))
        self.assertTrue(manifests)
        self.assertIn(IMAGES, json.loads(manifests[0].read_text()).values())

    def test_it_goes_on_where_it_was_stopped(self):
        root = self.real_images(converted=True)
        shards = sorted((root / "tfrecord").glob("all-*-of-*"))
        before = contents(root)
        shards[3].unlink()
        self.succeed("data", "convert", root, "--split", "all")
        after = contents(root)
        for shard in shards:
            name = str(shard.relative_to(root))
            self.assertEqual(after[name], before[name])

    def test_a_broken_image_is_named_kept_and_found_again_by_check(self):
        root = self.real_images()
        (root / "images/00000001_000.png").write_bytes(b"")
        self.assertIn("00000001_000.png", self.succeed("data", "convert", root, "--split", "all").stderr)
        done = self.fail_with(3, "data", "check", root)
        self.assertIn("00000001_000.png", done.stdout)


if __name__ == "__main__":
    unittest.main()

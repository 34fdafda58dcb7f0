"""The verbs that look at and make data."""

import fcntl
import hashlib
import os
import signal
import subprocess

from harness import REAL_IMAGES, TIMEOUT_S, SystemTest, command_line


def contents(folder):
    """Relative path -> hash of every file below a folder."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


class Synth(SystemTest):
    def test_the_set_can_be_indexed_converted_checked_and_run(self):
        root = self.folder / "set"
        self.succeed("data", "synth", root, "--images", 40, "--size", 128)
        self.assertRegex(self.succeed("data", "index", "--explain", root).stdout, r"images\D+40\b")
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


class AtOnce(SystemTest):
    """Two processes that write to one folder: the second one waits, and then continues from the existing files."""

    def at_once(self, *commands):
        """The codes of the commands, sorted, and their messages."""
        processes = [subprocess.Popen(command_line(command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                      text=True) for command in commands]
        told = [process.communicate(timeout=TIMEOUT_S)[1] for process in processes]
        return sorted(process.returncode for process in processes), "".join(told)

    def synth(self, name, seed):
        return "data", "synth", self.folder / name, "--images", 12, "--size", 64, "--seed", seed

    def test_two_sets_of_the_same_options_are_one(self):
        self.succeed(*self.synth("alone", 1))
        codes, told = self.at_once(self.synth("set", 1), self.synth("set", 1))
        self.assertEqual(codes, [0, 0], told)
        self.assertEqual(contents(self.folder / "set"), contents(self.folder / "alone"))

    def test_of_two_sets_of_other_options_the_first_is_whole(self):
        for seed in (1, 2):
            self.succeed(*self.synth(f"alone{seed}", seed))
        codes, told = self.at_once(self.synth("set", 1), self.synth("set", 2))
        self.assertEqual(codes, [0, 6], told)
        self.assertIn("other options", told)
        self.assertIn(contents(self.folder / "set"), [contents(self.folder / f"alone{seed}") for seed in (1, 2)])

    def test_two_conversions_of_one_split(self):
        root = self.small_images()
        for to in ("tfrecord", "webdataset"):
            with self.subTest(to=to):
                convert = ("data", "convert", root, "--split", "all", "--to", to)
                codes, told = self.at_once((*convert, "--shards", 16), (*convert, "--shards", 20))
                self.assertEqual(codes, [0, 6], told)
                self.assertIn("--shards", told)
        self.succeed("data", "check", root)

    def test_conversions_of_two_splits(self):
        root = self.small_images()
        codes, told = self.at_once(*(("data", "convert", root, "--split", split) for split in ("train", "test")))
        self.assertEqual(codes, [0, 0], told)
        self.succeed("data", "check", root)

    def test_two_stagings(self):
        staged = self.folder / "staged"
        codes, told = self.at_once(*(2 * [("data", "stage", REAL_IMAGES, staged, "--split", "all")]))
        self.assertEqual(codes, [0, 0], told)
        self.succeed("data", "check", staged)

    def test_who_waits_says_so_and_heeds_signals(self):
        (self.folder / "set").mkdir()
        holder = os.open(self.folder / "set", os.O_RDONLY)
        self.addCleanup(os.close, holder)
        fcntl.flock(holder, fcntl.LOCK_EX)
        waiting = subprocess.Popen(command_line(self.synth("set", 1)), stderr=subprocess.PIPE, text=True)
        self.assertIn("another chexbench writes to", waiting.stderr.readline())
        waiting.send_signal(signal.SIGTERM)
        waiting.communicate(timeout=TIMEOUT_S)
        self.assertEqual(waiting.returncode, 143)
        self.assertEqual(list((self.folder / "set").iterdir()), [])

"""Files that another program cuts short while a run reads them: exit code 3, the file's name, the journal kept."""

import os
import shutil
import unittest

from harness import SANITIZED, SystemTest

FORMATS = ("tfrecord", "webdataset", "cached")


@unittest.skipIf(SANITIZED, "a sanitizer's library would have to be loaded first")
class CutFiles(SystemTest):
    def setUp(self):
        super().setUp()
        self.whole = self.small_images()
        for kind in FORMATS:
            self.succeed("data", "convert", self.whole, "--split", "all", "--to", kind,
                         *(["--image-size", "64"] if kind == "cached" else []))

    def cut(self, kind, ranks=None, says=(), **keys):
        """A run whose largest file of the format is emptied, between two looks at its size, after a repeat."""
        root = self.folder / "cut"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(self.whole, root)
        victim = max((root / kind).glob("all-[0-9]*"), key=lambda path: path.stat().st_size)
        out = self.folder / f"out-{kind}-{ranks}-{len(keys)}"
        spec = self.spec(data={"root": str(root), "format": kind, "split": "all", "deliver": "u8"},
                         model__image_size=64, measure__steps=30, measure__extra_repeats=0,
                         **{"measure__repeats": 3, **keys})
        environment = {**os.environ, "LD_PRELOAD": os.environ["CHEXBENCH_CUT_FILE"], "CUT_FILE": victim.name,
                       "CUT_AFTER": str(out / "journal.jsonl")}
        done = self.fail_with(3, "--config", spec, "--output", out, ranks=ranks, env=environment,
                              says=[str(victim), *says])
        self.assertEqual(victim.stat().st_size, 0)
        self.assertNotIn("signal", done.stderr)
        self.assertRegex(done.stderr, "became shorter while it was being read|bytes .* and has 0 now")
        self.assertGreaterEqual(len((out / "journal.jsonl").read_text().splitlines()), 1)
        return victim, spec, out

    def test_every_mapped_format_ends_with_the_name_of_the_file(self):
        for kind in FORMATS:
            with self.subTest(kind=kind):
                # A tar file's status is checked more often than it is read, so the next check notices it.
                self.cut(kind, says=[] if kind == "webdataset" else ["store.read to \"copy\""])

    def test_the_job_of_two_ranks_ends_with_the_same_code(self):
        for kind in ("tfrecord", "cached"):
            with self.subTest(kind=kind):
                self.cut(kind, ranks=2)

    def test_a_run_goes_on_once_the_file_is_whole_again(self):
        victim, spec, out = self.cut("tfrecord")
        shutil.copyfile(self.whole / "tfrecord" / victim.name, victim)
        self.succeed("--config", spec, "--resume", out)
        self.assertEqual(len((out / "journal.jsonl").read_text().splitlines()), 3)

    def test_copies_make_it_an_ordinary_error(self):
        for kind in FORMATS:
            with self.subTest(kind=kind):
                # Shards that are copied stay open for an epoch, so several epochs may pass before the file's status is
                # checked often.
                *_, out = self.cut(kind, store__read="copy", measure__repeats=10)
                self.assertTrue((out / "report.json").exists(), "what was measured is reported, too")

"""A sample of scripts/faults: a few calls of each class, and training under small limits of memory."""

import shutil
import tempfile
import unittest

import limits
from cases import RunOfShards, StageOfWeb
from fault_loop import loop
from workloads import HAS_ONEDNN, Convert, Run, Stage, Training


class Sample(unittest.TestCase):
    def check(self, workload, kind, modes=("once",), stride=3.0, rank=None, most=3):
        """Tries calls 1, 4, 16 of a class."""
        for mode in modes:
            rows = list(loop(workload, kind, mode, rank, stride, most))
            self.assertTrue(rows, f"{workload}: nothing of class {kind} failed")
            for row in rows:
                with self.subTest(**row):
                    self.assertTrue(row["promised"])
                    self.assertEqual(row["lost"] + row["wrong"], "")

    def test_files(self):
        for kind in ("open", "read", "short-read", "write", "short-write", "fsync", "rename"):
            self.check(Convert("tfrecord"), kind)
        self.check(Stage(), "close")

    def test_an_unsynced_folder_is_told_of(self):
        self.check(Run(), "fsync", stride=0.0)

    def test_memory_and_threads(self):
        # Further calls fall into libraries that end the process themselves: README.md.
        self.check(Run(), "malloc", ("once", "always"), stride=12.0)
        self.check(RunOfShards(), "mmap")
        self.check(Run(), "thread")

    def test_a_network_that_is_not_there(self):
        self.check(StageOfWeb(), "connect", most=1)

    @unittest.skipUnless(shutil.which("mpirun"), "needs mpirun")
    def test_a_rank_that_fails_before_it_joins_the_others(self):
        self.check(Run(2), "malloc", rank=1, most=1)

    @unittest.skipUnless(shutil.which("mpirun"), "needs mpirun")
    def test_messages(self):
        self.check(Run(2), "mpi", rank=1, stride=30.0, most=2)

    @unittest.skipUnless(HAS_ONEDNN, "needs oneDNN")
    def test_a_training_with_too_little_memory(self):
        with tempfile.TemporaryDirectory(prefix="chexbench-faults-") as folder:
            for row in limits.memory(Training(), folder, (192, 264)):  # MiB; oneDNN ended in SIGSEGV at each
                with self.subTest(**row):
                    self.assertTrue(row["kept"])


if __name__ == "__main__":
    unittest.main()

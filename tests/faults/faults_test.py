"""A sample of scripts/faults: a few calls of each class, and training under small limits of memory."""

import errno
import shutil
import tempfile
import unittest
from pathlib import Path

import limits
import main
from cases import RunOfShards, StageOfWeb
from fault_loop import call, fresh, loop, with_fault
from workloads import HAS_ONEDNN, Convert, Run, Stage, Training, differences


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


class Syncs(unittest.TestCase):
    """Every sync gets the same answer: of a file system without it, like some of FUSE, or of a full one."""

    def outcome(self, workload, reason):
        """The command's end, and how its outcome differs from that of an undisturbed run."""
        with tempfile.TemporaryDirectory(prefix="chexbench-faults-") as folder:
            disk, log, expected = fresh(workload, folder)
            command = with_fault(workload.command(disk), ("fsync", 1, "always", None), log, disk)
            done = call(["env", f"FAULT_ERRNO={reason}", *command])
            self.assertIn("sync", log.read_text())
            return done, differences(expected, workload.outcome(disk)) if done.returncode == 0 else None

    def workloads(self):
        return [Run(), Convert("tfrecord"), Convert("cached"), Stage()] + ([Training()] if HAS_ONEDNN else [])

    def test_a_file_system_without_syncs_is_written_to(self):
        for workload in self.workloads():
            for reason in (errno.EINVAL, errno.ENOTSUP):
                with self.subTest(workload=str(workload), reason=errno.errorcode[reason]):
                    done, wrong = self.outcome(workload, reason)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(wrong, [])

    def test_what_a_sync_says_of_a_full_disk_ends_each_writer(self):
        for workload in self.workloads():
            with self.subTest(workload=str(workload)):
                done, _ = self.outcome(workload, errno.EDQUOT)
                self.assertEqual(done.returncode, 6, done.stderr)
                self.assertIn("Disk quota exceeded", done.stderr)


class Table(unittest.TestCase):
    ROW = {"class": "open", "workload": "run", "ranks": 1, "rank": None, "kind": "once", "stride": 0.6,
           "calls_tried": 8, "survived": 8, "unpromised": 0, "lost": 0, "wrong": 0, "in_libraries": 0}

    def test_it_keeps_its_rows_and_their_order(self):
        rows = [self.ROW, self.ROW | {"class": "close"}, self.ROW | {"workload": "convert to cached"}]
        with tempfile.TemporaryDirectory(prefix="chexbench-faults-") as folder:
            path = Path(folder) / "faults.csv"
            main.write_table(path, {main.name_of(row): row for row in rows})
            kept = main.measured(path)
            self.assertEqual([(row["workload"], row["class"]) for row in kept.values()],
                             [("convert to cached", "open"), ("run", "close"), ("run", "open")])
            main.write_table(path, kept | {main.name_of(self.ROW): self.ROW | {"calls_tried": 9}})
            self.assertEqual([row["calls_tried"] for row in main.measured(path).values()], ["8", "8", "9"])

    def test_a_loop_is_run_again_for_a_finer_stride_alone(self):
        self.assertTrue(main.is_finer(0.6, None))
        self.assertFalse(main.is_finer(0.6, self.ROW))
        self.assertFalse(main.is_finer(1.0, self.ROW))
        self.assertTrue(main.is_finer(0.0, self.ROW))

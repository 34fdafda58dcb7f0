"""Resources that a container or a chroot may withhold: threads, /proc, and CPUs during a run."""

import contextlib
import ctypes
import os
import shutil
import struct
import sys
import unittest

from harness import BINARY, HAS_ONEDNN, SANITIZED, TIMEOUT_S, SystemTest, run_program

CLONE3 = 435  # on every architecture
PRIVILEGE = [] if os.getuid() == 0 else ["--map-root-user"]
WITHOUT_PROC = ["unshare", "--mount", *PRIVILEGE, "sh", "-c", 'mount -t tmpfs tmpfs /proc && exec "$@"', "sh"]


def refuse(call, error):
    """From now on this system call fails with this error in this process and its children."""
    load, equal, answer, allow = 0x20, 0x15, 0x06, 0x7FFF0000
    rules = b"".join(struct.pack("HBBI", *rule) for rule in (
        (load, 0, 0, 0), (equal, 0, 1, call), (answer, 0, 0, 0x00050000 | error), (answer, 0, 0, allow)))

    class Program(ctypes.Structure):
        _fields_ = [("rules", ctypes.c_ushort), ("first", ctypes.c_char_p)]

    no_new_privileges, seccomp, filtered = 38, 22, 2
    prctl = ctypes.CDLL(None).prctl
    if prctl(no_new_privileges, 1, 0, 0, 0) or prctl(seccomp, filtered, ctypes.byref(Program(len(rules) // 8, rules))):
        raise OSError("seccomp is refused")


@unittest.skipIf(SANITIZED, "a sanitizer starts threads itself")
class ClonesRefused(SystemTest):
    """Container runtimes older than clone3 answer it with EPERM, and glibc tries clone only after ENOSYS."""

    def run_with(self, error, *arguments, launcher=()):
        return run_program(sys.executable, __file__, error, *launcher, BINARY, *arguments)

    def check_error(self, done):
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        self.assertIn("seccomp", done.stderr)
        self.assertNotIn("internal", done.stderr)

    def test_it_is_an_error_with_the_way_out(self):
        eperm = 1
        for engine in ("none", "onednn") if HAS_ONEDNN else ("none",):
            self.check_error(self.run_with(eperm, "--config", self.spec(engine=engine, model__image_size=32),
                                           "--output", self.folder / "out"))
        self.assertFalse((self.folder / "out/report.json").exists())
        if shutil.which("mpirun"):
            self.check_error(self.run_with(eperm, "doctor", launcher=["mpirun", "-np", "2"]))

    def test_an_unknown_call_is_none(self):
        enosys = 38
        done = self.run_with(enosys, "--config", self.spec(), "--output", self.folder / "out")
        self.assertEqual(done.returncode, 0, done.stderr)


@unittest.skipIf(run_program(*WITHOUT_PROC, "true").returncode, "no mount namespaces here")
@unittest.skipIf(SANITIZED, "a sanitizer reads /proc itself")
class WithoutProc(SystemTest):
    def test_every_engine_measures(self):
        for engine in ("none", "onednn") if HAS_ONEDNN else ("none",):
            with self.subTest(engine=engine):
                spec = self.spec(engine=engine, model__image_size=32, measure__steps=2, measure__repeats=1)
                self.ends_with(0, *WITHOUT_PROC, BINARY, "--config", spec, "--output", self.folder / engine)
                self.assertGreater(float(self.rows(self.folder / engine)[0]["images_per_s"]), 0)


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "there is one CPU")
class MaskShrinks(SystemTest):
    """An orchestrator may take CPUs from a run while it measures."""

    def run_and_take(self, taken):
        """The report and the messages of a run whose threads may only use the CPUs `taken` after one repeat."""
        out = self.folder / "out"
        spec = self.spec(measure__repeats=3, measure__steps=100, cores_per_rank="all",
                         store={"shape": {"latency_ms": 10}})  # a repeat takes a second
        process = self.start_run(spec, repeats=1)
        for task in os.listdir(f"/proc/{process.pid}/task"):
            with contextlib.suppress(ProcessLookupError):  # a thread that has ended meanwhile
                os.sched_setaffinity(int(task), taken)
        _, said = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 0, said)
        return self.report(out)["trials"][0], said

    def test_it_is_told_and_such_repeats_are_disturbed(self):
        trial, said = self.run_and_take({min(os.sched_getaffinity(0))})
        self.assertEqual(trial["repeats"][0]["disturbance_lost_core_s"], 0)
        self.assertGreater(trial["repeats"][-1]["disturbance_lost_core_s"], 0)
        self.assertGreaterEqual(int(self.rows(self.folder / "out")[0]["disturbed_repeats"]), 1)
        self.assertEqual(said.count("became fewer while it ran"), 1, said)

    def test_a_mask_that_stays_is_not(self):
        trial, said = self.run_and_take(os.sched_getaffinity(0))
        self.assertEqual([repeat["disturbance_lost_core_s"] for repeat in trial["repeats"]], [0, 0, 0])
        self.assertNotIn("became fewer", said)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        refuse(CLONE3, int(sys.argv[1]))
        os.execvp(sys.argv[2], sys.argv[2:])
    unittest.main()

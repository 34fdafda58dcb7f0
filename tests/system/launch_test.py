"""How the ranks of a job meet: the MPI library, the launcher, and ranks that do not come."""

import json
import os
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from harness import BINARY, TIMEOUT_S, SystemTest, rank_number, ranks_of, run_program


class RanksThatNeverCome(SystemTest):
    """A job in which a rank waits in MPI_Init for one that does not start it."""

    HANGS = 'if [ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 1 ]; then exec sleep 300; fi; exec "$@"'

    def start(self, *words):
        job = subprocess.Popen(["mpirun", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        return job

    def rank_of(self, job, number):
        return self.await_true(lambda: [one for one in ranks_of(job.pid) if rank_number(one) == number])[0]

    def test_the_one_that_waits_says_for_how_many_and_a_signal_ends_the_job(self):
        started = time.monotonic()
        job = self.start("-np", "3", "sh", "-c", self.HANGS, "sh", BINARY, "doctor")
        other = self.start("-n", "1", BINARY, "doctor", ":", "-n", "1", BINARY, "--version")  # its rank 1 ends
        line = job.stderr.readline()
        self.assertLess(time.monotonic() - started, 10)
        self.assertRegex(line, r"warning: rank [02]: waiting in MPI_Init for 9 s: .* 3 ranks")
        os.kill(self.rank_of(job, 0), signal.SIGTERM)
        signalled = time.monotonic()
        _, said = job.communicate(timeout=TIMEOUT_S)
        self.assertLess(time.monotonic() - signalled, 5)
        self.assertEqual(job.returncode, 143)
        self.assertIn("error: stopped by a signal", said)
        self.assertRegex(other.stderr.readline(), r"warning: rank 0: waiting in MPI_Init for 9 s: .* 2 ranks")
        other.terminate()
        other.communicate(timeout=TIMEOUT_S)

    def test_control_c_ends_it_at_once(self):
        job = self.start("-n", "1", "sleep", "300", ":", "-n", "1", BINARY, "doctor")
        waiting = self.rank_of(job, 1)
        time.sleep(0.5)
        os.kill(waiting, signal.SIGINT)
        signalled = time.monotonic()
        job.communicate(timeout=TIMEOUT_S)
        self.assertLess(time.monotonic() - signalled, 5)
        self.assertEqual(job.returncode, 130)


class UnlikeCommands(SystemTest):
    """mpirun can start ranks with different commands, which would wait for each other for ever."""

    def check(self, first, second, *words):
        started = time.monotonic()
        done = self.ends_with(2, "mpirun", "-n", 1, BINARY, *first, ":", "-n", 1, BINARY, *second)
        self.assertLess(time.monotonic() - started, 30)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_two_commands_are_an_error(self):
        spec = ["--config", self.spec(), "--output", self.folder / "out"]
        self.check(spec, ["doctor"], "rank 1 (", "'chexbench doctor'")
        self.check(["doctor"], spec, "rank 1 (", "'chexbench doctor'")
        self.check(spec, [*spec, "--dry-run"], "rank 1 (", "--dry-run")
        self.assertFalse((self.folder / "out").exists())

    def test_so_are_other_options_of_one_command(self):
        self.check(["comm", "--max-bytes", "64K"], ["comm", "--max-bytes", "1K"], "'--max-bytes 1024'",
                   "'--max-bytes 65536'")

    def test_another_spec_is_one_of_the_spec(self):
        other = self.folder / "other.json"
        self.spec().rename(other)
        self.check(["--config", self.spec(measure__steps=9), "--output", self.folder / "out"],
                   ["--config", other, "--output", self.folder / "out"], "different specs", "rank 1 (", '"steps": ')

    def test_ranks_may_show_their_work_differently(self):
        spec = self.spec()
        job = ["mpirun", "-n", "1", BINARY, "--config", spec, "--output", self.folder / "out", ":"]
        job += ["-n", "1", BINARY, "--config", spec, "--quiet", "--progress", "never"]
        self.ends_with(0, *job)
        self.assertEqual([row["ranks"] for row in self.rows(self.folder / "out")], ["2"])


LINKED = run_program("ldd", BINARY).stdout
SHARED = 'mount -t tmpfs -o "$OPTIONS" tmpfs /dev/shm && exec "$@"'


def with_shared_memory(options, *command, **environment):
    """Runs a command where /dev/shm is a separate file system, with these mount options."""
    privilege = [] if os.getuid() == 0 else ["--map-root-user"]
    return run_program("unshare", "--mount", *privilege, "sh", "-c", SHARED, "sh", *command,
                       env={**os.environ, "OPTIONS": options, **environment})


@unittest.skipIf("libmpi.so.40" in LINKED, "built with Open MPI")
@unittest.skipIf(with_shared_memory("size=1m", "true").returncode, "there are no mount namespaces here")
class LittleSharedMemory(SystemTest):
    """A container has 64 MB of /dev/shm unless it is given more."""

    def doctor(self, ranks, options, **environment):
        return with_shared_memory(options, "mpirun", "-np", str(ranks), BINARY, "doctor", "--format", "json",
                                  **environment)

    def test_too_little_for_the_ranks_is_an_error(self):
        for ranks, options in ((3, "size=9m"), (1, "size=2m"), (2, "ro"), (2, "size=0")):
            with self.subTest(ranks=ranks, options=options):
                done = self.doctor(ranks, options)
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
                self.assertIn("/dev/shm", done.stderr)
                self.assertIn("--shm-size", done.stderr)
                self.assertNotIn("UCX", done.stderr)
                self.assertEqual(done.stdout, "")

    def test_enough_of_it_is_shown(self):
        told = json.loads(self.doctor(2, "size=9m").stdout)
        self.assertEqual(len(told["ranks"]), 2)
        self.assertEqual(told["shared_memory"]["total_bytes"], 9 << 20)
        self.assertEqual(told["shared_memory"]["problem"], "")

    def test_one_rank_is_warned_where_a_rank_on_each_core_would_not_fit(self):
        done = with_shared_memory("size=1m", BINARY, "doctor", "--format", "json")
        warnings = json.loads(done.stdout)["warnings"]
        self.assertTrue([text for text in warnings if "/dev/shm" in text and "--shm-size" in text], warnings)

    def test_ucx_writes_no_line_to_standard_output(self):
        # Not an error's lines: mpirun may lose those of a rank that it kills.
        done = self.doctor(2, "size=9m", UCX_LOG_LEVEL="info")
        self.assertIn("UCX  INFO", done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["ranks"]), 2)
        named = self.folder / "ucx.log"
        self.doctor(2, "size=9m", UCX_LOG_LEVEL="info", UCX_LOG_FILE=str(named))
        self.assertIn("UCX  INFO", named.read_text())


OPEN_MPI = sorted(Path("/usr/lib").glob("*/libmpi.so.40")) if shutil.which("mpiexec.openmpi") else []


@unittest.skipIf("libmpi.so.40" in LINKED, "built with Open MPI, which is linked")
class LoadedMpi(SystemTest):
    """The MPI library is loaded where a launcher started the process, and must fit the launcher."""

    def job(self, *launcher, **environment):
        """Runs under a launcher, with its variables, and with LD_LIBRARY_PATH for the ranks alone."""
        variables = [f"{name}={value}" for name, value in environment.items()]
        return run_program(*launcher, "env", *variables, BINARY, "doctor", "--explain")

    def broken_libraries(self):
        for name in ("libmpi", "libmpich", "libmpi_cray"):
            (self.folder / f"{name}.so.12").touch()
        return self.folder

    def check_error(self, done, *words):
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_without_a_launcher_none_is_needed(self):
        self.assertNotIn("libmpi", LINKED)
        self.assertEqual(self.job(LD_LIBRARY_PATH=self.broken_libraries()).returncode, 0)

    def test_ranks_without_a_library_end_with_one_error(self):
        done = self.job("mpirun", "-np", "2", LD_LIBRARY_PATH=self.broken_libraries())
        self.check_error(done, "mpirun of MPICH or Intel MPI started 2 ranks (PMI_RANK is set)", "libmpi.so.12: file",
                         "libmpich.so.12: file", "libmpi_cray.so.12: file", "install MPICH", "LD_LIBRARY_PATH")

    @unittest.skipUnless(OPEN_MPI, "no Open MPI")
    def test_a_library_of_another_abi_is_not_used(self):
        (self.folder / "libmpi.so.12").symlink_to(OPEN_MPI[0])  # which Open MPI 1.10 has itself
        done = self.job("mpirun", "-np", "2", LD_LIBRARY_PATH=self.folder)
        self.check_error(done, "the MPI library that was loaded is Open MPI's", "LD_LIBRARY_PATH")

    def test_one_rank_needs_none(self):
        done = self.job("mpirun", "-np", "1", LD_LIBRARY_PATH=self.broken_libraries())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("MPI none", done.stdout)

    def test_a_rank_of_another_mpis_mpirun_is_an_error(self):
        self.check_error(self.job(OMPI_COMM_WORLD_SIZE=2, OMPI_COMM_WORLD_RANK=0),
                         "mpirun of Open MPI started 2 ranks", "with the mpirun of MPICH",
                         "build chexbench with Open MPI")

    @unittest.skipUnless(OPEN_MPI, "no Open MPI")
    def test_so_are_the_ranks_of_its_real_mpirun(self):
        done = self.job("mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "-np", "2")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("mpirun of Open MPI started 2 ranks", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_tasks_of_srun_without_pmi_are_an_error(self):
        self.check_error(self.job(SLURM_STEP_NUM_TASKS=2, SLURM_PROCID=0), "srun started 2 tasks", "srun --mpi=pmi2")
        self.succeed("list", env={**os.environ, "SLURM_STEP_NUM_TASKS": "2"})

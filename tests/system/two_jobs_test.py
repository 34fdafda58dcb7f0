"""A second job next to a trial: both are measured, if one ends for any reason so does the other, and nothing is
lost."""

import os
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from harness import TIMEOUT_S, SystemTest, run

CPUS = sorted(os.sched_getaffinity(0))


def second_jobs(of_process):
    """Process ids of the second jobs that this process has started."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if words[1:2] == [b"second-job"] and parent == of_process:
                found.append(int(entry.name))
        except (OSError, ValueError):
            continue  # no process, or one that has ended
    return found


def lives(process):
    try:
        return b"second-job" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


class TwoJobs(SystemTest):
    def sweep(self, kinds, **keys):
        path = self.spec(cores_per_rank=1, second_job={"cores": "shared"}, sweep={"second_job.kind": kinds}, **keys)
        out = self.folder / "out"
        done = self.succeed("--config", path, "--output", out)
        return done, self.report(out), self.rows(out)

    def test_both_jobs_are_measured_beside_each_other_and_alone(self):
        # A window of 200 images has many batches of either job, even on a slow machine.
        done, report, rows = self.sweep(["none", "input", "memory"], measure__steps=100)
        self.assertEqual([row["trial"] for row in rows], ["alone", "beside input", "beside memory"])
        alone, beside, memory = (trial["repeats"] for trial in report["trials"])
        for repeat in alone:
            self.assertIsNone(repeat["second_job_images_per_s"])
        for repeat in beside:
            self.assertGreater(repeat["second_job_alone_images_per_s"], 0)
            self.assertGreater(repeat["second_job_cpu_s"], 0)
        for repeat in memory:
            self.assertGreater(repeat["second_job_bytes_per_s"], 0)
            self.assertGreater(repeat["second_job_alone_bytes_per_s"], 0)
        self.assertIn("Two jobs on one host", done.stdout)
        findings = [finding["kind"] for finding in report["findings"]]
        self.assertEqual(findings.count("second_job"), 2)
        self.assertEqual(findings.count("second_job_resources"), 1)

    def test_files_that_a_second_job_drops_leave_the_page_cache(self):
        root = self.small_images()
        _, report, _ = self.sweep(["none", "page_cache"], data__root=str(root), measure__page_cache="warm")
        beside = report["trials"][1]["repeats"]
        for repeat in beside:
            self.assertEqual(repeat["page_cache"].split()[0], "warm")
        self.assertIsNone(beside[0]["second_job_alone_images_per_s"])

    def test_an_emulated_training_beside_it_is_named_so(self):
        path = self.spec(cores_per_rank=1, training={"batch_size": 16},
                         second_job={"cores": "shared", "engine": "emulated:v100"},
                         sweep={"second_job.kind": ["none", "both"]})
        done = self.succeed("--config", path, "--output", self.folder / "out")
        self.assertIn("beside both (second job emulated)", done.stdout)

    def start(self):
        """Starts a run and waits for its second job; the two processes."""
        path = self.spec(cores_per_rank=1, second_job={"kind": "input", "cores": "shared"}, measure__repeats=5000,
                         measure__steps=200)
        process = self.start_run(path, repeats=1)
        return process, self.await_true(lambda: second_jobs(process.pid), process)[0]

    def test_a_second_job_ends_with_a_run_that_is_interrupted(self):
        process, job = self.start()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 130, errors)
        self.assertFalse(lives(job))
        self.assertEqual(second_jobs(process.pid), [])

    def test_a_second_job_ends_with_a_run_that_is_killed(self):
        process, job = self.start()
        process.kill()
        process.communicate(timeout=TIMEOUT_S)
        self.await_true(lambda: not lives(job))

    def test_a_second_job_that_dies_ends_the_run_which_keeps_what_it_has(self):
        process, job = self.start()
        while True:  # each repeat has its own job, which may end while we look
            try:
                os.kill(job, signal.SIGKILL)
            except ProcessLookupError:
                pass
            if process.poll() is not None:
                break
            time.sleep(0.05)
            job = (second_jobs(process.pid) or [job])[0]
        _, errors = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 4, errors)
        self.assertIn("the second job (kind input, CPUs", errors)
        self.assertIn("by signal 9", errors)
        report = self.report(self.folder / "out")
        self.assertTrue(report["interrupted"])
        self.assertGreaterEqual(len(report["trials"][0]["repeats"]), 1)

    def test_a_second_job_without_its_images_says_which_folder_lacks(self):
        self.fail_with(3, "--config", self.spec(second_job={"kind": "input", "cores": "shared", "root": "no/such"}),
                       "--output", self.folder / "out",
                       says=["the second job (kind input", "before it was ready, with exit code 3", "no/such"])

    def test_a_second_job_on_an_engine_that_does_not_know_its_work_says_so(self):
        spec = self.spec(model={"image_size": 32},
                         second_job={"kind": "training", "cores": "shared", "engine": "emulated:v100"})
        self.fail_with(2, "--config", spec, "--output", self.folder / "out",
                       says=["the second job (kind training", "exit code 2", "v100"])

    def test_cores_that_there_are_not_are_an_error_of_the_spec(self):
        self.fail_with(2, "--config", self.spec(second_job={"kind": "input", "cores": "cpus:1023"}),
                       "--output", self.folder / "out", says=["may not use CPU 1023", "it has CPUs"])
        self.fail_with(2, "--config", self.spec(cores_per_rank="all", second_job={"kind": "input"}),
                       "--output", self.folder / "out2", says="leave it some by cores_per_rank")

    def test_the_command_of_the_second_job_is_for_runs_alone(self):
        done = run("second-job", "--cores", "0", stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--set second_job.kind=input", done.stderr)
        self.assertNotIn("second-job", run("--help").stdout)

    @unittest.skipUnless(shutil.which("mpirun") and len(CPUS) > 1, "needs mpirun and two cores")
    def test_one_second_job_runs_beside_two_ranks_of_a_host(self):
        path = self.spec(second_job={"cores": "shared"}, sweep={"second_job.kind": ["none", "input"]})
        self.succeed("--config", path, "--output", self.folder / "out", ranks=2)
        for repeat in self.report(self.folder / "out")["trials"][1]["repeats"]:
            self.assertGreater(repeat["second_job_span_s"], 0)

    @unittest.skipUnless(shutil.which("mpirun"), "needs mpirun")
    def test_a_second_job_that_dies_ends_a_job_of_mpirun_with_its_error(self):
        done = run("--config", self.spec(second_job={"kind": "input", "cores": "shared", "root": "no/such"}),
                   "--output", self.folder / "out", ranks=2)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("no/such", done.stderr)

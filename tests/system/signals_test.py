"""Ctrl-C and termination in the middle: measurements are kept, and the exit code shows why it ended."""

import json
import shutil
import signal
import time
import unittest

from harness import TIMEOUT_S, SystemTest


class Signals(SystemTest):
    def stop_in_the_middle(self, sent, spec, ranks=None):
        """Starts a long run, sends the signal once two repeats are in the journal; the finished process."""
        process = self.start_run(spec, ranks)
        process.send_signal(sent)
        started = time.monotonic()
        _, errors = process.communicate(timeout=TIMEOUT_S)
        self.assertLess(time.monotonic() - started, 10)
        return process.returncode, errors

    def check_partial_results(self):
        out = self.folder / "out"
        report = self.report(out)
        self.assertTrue(report["interrupted"])
        measured = [len(trial["repeats"]) for trial in report["trials"]]
        self.assertGreaterEqual(measured[0], 2)
        self.assertLess(measured[0], 5000)
        self.assertGreater(float(self.rows(out)[0]["images_per_s"]), 0)

    def test_control_c_keeps_what_was_measured(self):
        code, errors = self.stop_in_the_middle(signal.SIGINT, self.spec(measure__repeats=5000))
        self.assertEqual(code, 130, errors)
        self.check_partial_results()

    @unittest.skipUnless(shutil.which("mpirun"), "needs mpirun")
    def test_control_c_keeps_what_one_rank_of_mpirun_measured(self):
        spec = self.spec(measure__repeats=5000)
        _, errors = self.stop_in_the_middle(signal.SIGINT, spec, ranks=1)  # the code is mpirun's: sometimes 0
        self.assertIn("stopped by a signal", errors)
        self.assertNotIn("terminate called", errors)
        self.assertNotIn("Abort(", errors)
        self.check_partial_results()

    @unittest.skipUnless(shutil.which("mpirun"), "needs mpirun")
    def test_control_c_ends_two_ranks_with_the_command_to_go_on_and_nothing_of_mpi_s(self):
        code, errors = self.stop_in_the_middle(signal.SIGINT, self.spec(measure__repeats=5000), ranks=2)
        self.assertEqual(code, 130, errors)
        self.assertIn("go on with: mpirun -np 2 chexbench --resume", errors)
        self.assertNotIn("Abort(", errors)
        self.check_partial_results()

    def test_termination_keeps_what_was_measured(self):
        code, errors = self.stop_in_the_middle(signal.SIGTERM, self.spec(measure__repeats=5000))
        self.assertEqual(code, 143, errors)
        self.check_partial_results()

    def test_a_hangup_and_a_warning_of_a_batch_system_are_terminations(self):
        for sent in (signal.SIGHUP, signal.SIGXCPU, signal.SIGUSR1, signal.SIGUSR2):
            with self.subTest(sent):
                shutil.rmtree(self.folder / "out", ignore_errors=True)
                code, errors = self.stop_in_the_middle(sent, self.spec(measure__repeats=5000))
                self.assertEqual(code, 143, errors)
                self.check_partial_results()

    def test_a_second_process_does_not_write_into_a_running_one_s_folder(self):
        spec = self.spec(measure__repeats=5000)
        out = self.folder / "out"
        process = self.start_run(spec)
        self.fail_with(6, "--config", spec, "--resume", out, says="another chexbench writes to")
        self.fail_with(6, "--config", spec, "--output", out, says="already holds a run")
        process.terminate()
        process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 143)
        self.check_partial_results()
        for line in (out / "journal.jsonl").read_text().splitlines():
            json.loads(line)

    def test_a_run_that_was_stopped_can_be_resumed(self):
        self.stop_in_the_middle(signal.SIGINT, self.spec(measure__repeats=60, measure__steps=60))
        out = self.folder / "out"
        kept = (out / "journal.jsonl").read_text()
        self.succeed("--config", self.folder / "spec.json", "--resume", out)
        self.assertTrue((out / "journal.jsonl").read_text().startswith(kept))
        report = self.report(out)
        self.assertFalse(report["interrupted"])
        self.assertEqual(len(report["trials"][0]["repeats"]), 60)
        json.loads(kept.splitlines()[0])

    def test_a_pipeline_that_waits_is_woken(self):
        slow = [{"op": "list_files"}, {"op": "repeat"}, {"op": "read"}, {"op": "map", "delay_s": 0.2},
                {"op": "batch"}]
        spec = self.spec(pipeline={"name": "slow", "ops": slow}, measure__repeats=5000, measure__steps=1)
        code, errors = self.stop_in_the_middle(signal.SIGINT, spec)
        self.assertEqual(code, 130, errors)

"""Results that cannot be written: exit code 6, and the measurements are kept."""

import json
import os
import resource
import shlex
import unittest

from harness import REAL_IMAGES, SANITIZED, SystemTest, command_line, run, run_program


class BadOutput(SystemTest):
    def test_a_file_where_the_folder_should_be(self):
        blocker = self.folder / "out"
        blocker.write_text("")
        self.fail_with(6, "--config", self.spec(), "--output", blocker, says=str(blocker))

    def test_names_that_no_folder_can_have(self):
        loop = self.folder / "loop"
        loop.symlink_to(loop)
        for option in ("--output", "--resume"):
            for name in (loop, self.folder / ("x" * 5000)):
                with self.subTest(option=option, length=len(str(name))):
                    self.fail_with(6, "--config", self.spec(), option, name)

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_folder_without_permission(self):
        self.folder.chmod(0o500)
        self.addCleanup(self.folder.chmod, 0o700)
        self.fail_with(6, "--config", self.spec(), "--output", self.folder / "out", says="out")

    def test_standard_output_that_takes_nothing(self):
        with open("/dev/full", "w") as full:
            self.fail_with(6, "--config", self.spec(), "--output", self.folder / "out", stdout=full)
        self.assertTrue((self.folder / "out/trials.csv").exists())

    def test_text_that_cannot_be_written(self):
        for arguments in (["--help"], ["--version"], ["data", "synth", "--help"], ["help", "predict"],
                          ["data", "index", REAL_IMAGES], ["report", self.measured(), "--format", "markdown"]):
            with open("/dev/full", "w") as full:
                self.fail_with(6, *arguments, stdout=full, says="standard output")

    def test_metrics_to_a_pipe_that_nobody_reads(self):
        os.mkfifo(self.folder / "pipe")
        self.fail_with(6, "--config", self.spec(), "--output", self.folder / "out", "--metrics", self.folder / "pipe",
                       says=["pipe", "file"])


class ClosedStreams(SystemTest):
    def run_in_shell(self, redirection, *arguments):
        line = " ".join(map(shlex.quote, command_line(["--config", self.spec(), *arguments])))
        return run_program("bash", "-c", f"{line} {redirection}")

    def test_the_log_of_a_closed_stderr_goes_into_no_result(self):
        out = self.folder / "out"
        done = self.run_in_shell("2>&-", "--output", out, "--progress", "always")
        self.assertEqual(done.returncode, 0)
        for line in (out / "journal.jsonl").read_text().splitlines():
            json.loads(line)

    def test_a_closed_standard_output_is_an_error(self):
        done = self.run_in_shell(">&-", "--output", self.folder / "out")
        self.assertEqual(done.returncode, 6, done.stderr)

    def test_a_progress_line_that_cannot_be_written_ends_no_run(self):
        done = self.run_in_shell("2>/dev/full", "--output", self.folder / "full", "--progress", "always")
        self.assertEqual(done.returncode, 0)
        done = self.run_in_shell("2> >(true)", "--output", self.folder / "gone", "--progress", "always")
        self.assertEqual(done.returncode, 0)
        self.assertTrue((self.folder / "gone/report.json").exists())


class NobodyReads(SystemTest):
    """Standard output is a pipe whose reader has exited, as with `| head`."""

    def run_unread(self, *arguments, **options):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            return run(*arguments, stdout=writer, **options)
        finally:
            os.close(writer)

    def test_a_verb_ends_quietly(self):
        plan = ["--config", self.spec(), "--dry-run", "--quiet"]
        for arguments in (["model", "resnet50"], ["data", "index", REAL_IMAGES], plan):
            with self.subTest(arguments=arguments):
                done = self.run_unread(*arguments)
                self.assertEqual((done.returncode, done.stderr), (141, ""))

    def test_a_run_ends_quietly_and_writes_its_files(self):
        out = self.folder / "out"
        done = self.run_unread("--config", self.spec(), "--output", out, "--quiet")
        self.assertEqual(done.returncode, 141, done.stderr)
        self.assertNotIn("error", done.stderr)  # there may be warnings about the machine
        self.assertEqual(len(self.report(out)["trials"][0]["repeats"]), 2)

    def test_a_file_that_cannot_be_written_is_still_told(self):
        out = self.folder / "out"
        spec = self.spec(measure__repeats=1, measure__steps=1)
        self.succeed("--config", spec, "--output", self.folder / "whole")
        room_bytes = (self.folder / "whole/journal.jsonl").stat().st_size + 64
        done = self.run_unread("--config", spec, "--output", out, restore_signals=False,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room_bytes, room_bytes)))
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("File too large", done.stderr)


class Resources(SystemTest):
    def run_limited(self, limit, amount, *arguments):
        return run("--config", self.spec(), "--output", self.folder / "out", *arguments,
                   preexec_fn=lambda: resource.setrlimit(limit, (amount, amount)))

    @unittest.skipIf(SANITIZED, "sanitizers take terabytes of address space")
    def test_too_little_memory_says_what_to_lower(self):
        done = self.run_limited(resource.RLIMIT_AS, 2 << 30, "--set", "training.batch_size=20000")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("training.batch_size", done.stderr)


class DiskFull(SystemTest):
    def run_with_room_for(self, limit_bytes, *arguments):
        """No file may grow beyond the limit: a write then fails as on a full disk."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
        # restore_signals: Python ignores SIGXFSZ, and the child must do so, too, to see the error of write().
        return run(*arguments, preexec_fn=limit, restore_signals=False)

    def test_what_fitted_is_kept_and_resume_goes_on_from_it(self):
        out = self.folder / "out"
        spec = self.spec(measure__repeats=6)
        self.succeed("--config", spec, "--output", self.folder / "whole")
        lines = (self.folder / "whole/journal.jsonl").read_bytes().splitlines(keepends=True)
        room_bytes = len(lines[0]) + len(lines[1]) + len(lines[2]) // 2
        done = self.run_with_room_for(room_bytes, "--config", spec, "--output", out)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("File too large", done.stderr)
        self.succeed("--config", spec, "--resume", out)
        self.assertEqual(len(self.report(out)["trials"][0]["repeats"]), 6)
        for line in (out / "journal.jsonl").read_text().splitlines():
            json.loads(line)

    def test_no_half_written_report(self):
        out = self.folder / "out"
        spec = self.spec(measure__repeats=1, measure__steps=1)
        self.succeed("--config", spec, "--output", self.folder / "whole")
        whole = self.folder / "whole"
        journal_bytes = (whole / "journal.jsonl").stat().st_size
        report_bytes = (whole / "report.json").stat().st_size
        self.assertGreater(report_bytes, journal_bytes + 64, "the limit below must let the journal through")
        done = self.run_with_room_for(journal_bytes + 64, "--config", spec, "--output", out)
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertFalse((out / "report.json").exists())
        self.assertIn("images/s", done.stdout)  # the result is not lost with the files

    def test_the_first_error_is_the_one_named(self):
        for room_bytes, name in ((100, "run.json"), (1000, "journal.jsonl")):
            done = self.run_with_room_for(room_bytes, "--config", self.spec(), "--output", self.folder / name)
            self.assertEqual(done.returncode, 6, done.stderr)
            self.assertIn(name, done.stderr.splitlines()[-1])

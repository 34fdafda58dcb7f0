"""kill -9 and --resume: no finished repeat is lost or measured twice, and the report is as without the kills."""

import json
import os
import shutil
import signal
import unittest

from harness import TIMEOUT_S, SystemTest, command_line, run_program

DEADLY_DISK = os.environ.get("CHEXBENCH_DEADLY_DISK")
REPEATS = 2
# Of a resumed run: in the middle of its first line, or of its report if everything is measured.
SECOND_MOMENT = 3


class Resume(SystemTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"
        self.spec_path = self.spec(sweep={"pipeline": ["naive", "optimized"]}, measure__repeats=REPEATS)
        self.kept = []

    def command(self, ranks=None):
        """The command that continues the run, or begins it."""
        where = "--resume" if (self.out / "journal.jsonl").exists() else "--output"
        return command_line(["--config", self.spec_path, where, self.out], ranks)

    def run_to_the_end(self, ranks=None):
        self.ends_with(0, *self.command(ranks))

    def whole_lines(self):
        journal = self.out / "journal.jsonl"
        return journal.read_text().split("\n")[:-1] if journal.exists() else []

    def check_what_is_kept(self):
        """After a kill: existing lines are still there, and files of results are complete."""
        lines = self.whole_lines()
        self.assertEqual(lines[:len(self.kept)], self.kept)
        self.kept = lines
        if (self.out / "report.json").exists():
            self.report(self.out)
        if (self.out / "trials.csv").exists():
            for row in self.rows(self.out):
                self.assertNotIn(None, row.values())

    def check_the_end(self, expected):
        """`expected`: keys and repeats of an uninterrupted run, by trial."""
        lines = self.whole_lines()
        self.assertEqual(lines[:len(self.kept)], self.kept)
        journal = [(entry["key"], entry["repeat"]["repeat"]) for entry in map(json.loads, lines)]
        report = self.report(self.out)
        reported = [(trial["key"], repeat["repeat"]) for trial in report["trials"] for repeat in trial["repeats"]]
        self.assertEqual(sorted(journal), sorted(expected))
        self.assertEqual(sorted(reported), sorted(expected))
        self.assertFalse(report["interrupted"])
        self.assertEqual(len(self.rows(self.out)), len(report["trials"]))
        self.assertEqual([path.name for path in self.out.glob(".*.tmp-*")], [])


class GoneOnWith(Resume):
    """The parts of its command that a run keeps, and the error if they do not fit."""

    def begin(self, *options):
        """A run that ended after the first line of its journal."""
        spec = self.spec_path
        self.succeed("--config", spec, "--output", self.out, *options)
        journal = self.out / "journal.jsonl"
        journal.write_text("".join(line + "\n" for line in self.whole_lines()[:1]))
        return spec

    def test_resume_needs_neither_the_spec_nor_what_was_set(self):
        spec = self.begin("--set", "measure.steps=3", "--set", "training.batch_size=2")
        spec.unlink()
        self.succeed("--resume", self.out)
        self.assertEqual(len(self.whole_lines()), 2 * REPEATS)
        report = self.report(self.out)
        self.assertEqual(report["environment"]["spec_file"], str(spec))
        self.assertEqual(report["environment"]["spec_overrides"], ["measure.steps=3", "training.batch_size=2"])
        for trial in report["trials"]:
            self.assertEqual((trial["spec"]["measure"]["steps"], trial["spec"]["training"]["batch_size"]), (3, 2))

    @unittest.skipUnless(shutil.which("mpirun"), "needs mpirun")
    def test_ranks_get_the_spec_of_the_run_from_rank_0(self):
        self.run_to_the_end(ranks=2)
        kept = self.whole_lines()
        self.succeed("--resume", self.out, ranks=2)
        self.assertEqual(self.whole_lines(), kept)

    def test_another_spec_is_told_by_the_line_that_differs(self):
        spec = self.begin()
        self.fail_with(2, "--config", spec, "--set", "measure.steps=9", "--resume", self.out, says=['"steps": 9'])

    def test_a_folder_without_a_spec_or_with_a_damaged_one_asks_for_it(self):
        self.begin()
        (self.out / "run.json").write_text('{"config": 5')
        self.fail_with(2, "--resume", self.out, says=["its run.json is damaged"])
        (self.out / "run.json").write_text('{"config": 5}')
        self.fail_with(2, "--resume", self.out, says=["its run.json is damaged"])
        (self.out / "run.json").write_text("[" * 200000)
        self.fail_with(2, "--resume", self.out, says=["nested too deep"])
        (self.out / "run.json").unlink()
        self.fail_with(2, "--resume", self.out, says=["give the original --config and --set"])


class KilledAtEveryMoment(Resume):
    @unittest.skipUnless(DEADLY_DISK, "a sanitizer must be loaded first")
    def test_a_kill_between_any_two_changes_to_files_costs_nothing_that_was_finished(self):
        whole = (self.shared_run(self.spec_path, "whole") / "journal.jsonl").read_text().splitlines()
        expected = [(entry["key"], entry["repeat"]["repeat"]) for entry in map(json.loads, whole)]
        moments = 1
        while moments < 100 and self.survives(moments, expected):
            moments += 1
        self.assertGreater(moments, 3 * len(expected) + 10)  # two halves of a line and its sync; four files of results

    def survives(self, moment, expected):
        """Kills a run at that moment, and again when it is resumed; False where the run ended before."""
        shutil.rmtree(self.out, ignore_errors=True)
        self.kept = []
        with self.subTest(moment=moment):
            if not self.killed_at(moment):
                return False
            self.check_what_is_kept()
            self.assertTrue(self.killed_at(SECOND_MOMENT))
            self.check_what_is_kept()
            self.run_to_the_end()
            self.check_the_end(expected)
        return True

    def killed_at(self, moment):
        environment = {**os.environ, "LD_PRELOAD": DEADLY_DISK, "DEADLY_MOMENT": str(moment)}
        done = run_program(*self.command(), env=environment)
        self.assertIn(done.returncode, (0, -signal.SIGKILL), done.stderr)
        return done.returncode != 0


class KilledInTheMiddle(Resume):
    """Runs under a sanitizer too, where no library can be loaded first."""

    def test_a_kill_between_repeats_costs_nothing_that_was_finished(self):
        self.spec_path = self.spec(sweep={"pipeline": ["naive", "optimized"]}, measure__repeats=REPEATS,
                                   store={"shape": {"latency_ms": 20}})
        whole = (self.shared_run(self.spec_path, "whole") / "journal.jsonl").read_text().splitlines()
        expected = [(entry["key"], entry["repeat"]["repeat"]) for entry in map(json.loads, whole)]
        process = self.start_run(self.spec_path, repeats=1)
        process.kill()
        process.communicate(timeout=TIMEOUT_S)
        self.check_what_is_kept()
        self.run_to_the_end()
        self.check_the_end(expected)

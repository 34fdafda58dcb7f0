"""The output of --progress: on a terminal, in a pipe, and under mpirun; and --dry-run's forecast of the time."""

import json
import re
import shlex
import unittest

from harness import HAS_ONEDNN, SystemTest, command_line

LINE = re.compile(r"\[(\d+)/(\d+)\] (.*)repeat (\d+) of (\d+), step (\d+) of (\d+): (.*)")


class Progress(SystemTest):
    def spec_of(self, **keys):
        """A run whose repeats take several tenths of a second, after each of which a terminal's line is renewed."""
        return self.spec(measure={"warmup_steps": 1, "steps": 60, "repeats": 2, "extra_repeats": 0},
                         store={"shape": {"latency_ms": 10}}, **keys)

    def test_a_terminal_shows_one_line_with_the_whole_run_in_it(self):
        spec = self.spec_of(sweep={"pipeline": ["naive", "optimized"]})
        told = self.on_a_terminal("--config", spec, "--output", self.folder / "out")
        shown = [LINE.match(part) for part in re.split(r"\r\x1b\[K", told) if LINE.match(part)]
        self.assertGreater(len(shown), 0, told)
        numbers = [int(match[1]) for match in shown]
        self.assertEqual(numbers, sorted(numbers))
        for match in shown:
            self.assertEqual(int(match[2]), 4)  # two trials x two repeats
            self.assertNotIn("wait", match[8])
        self.assertTrue(any("images/s" in match[8] and "left" in match[8] for match in shown), told)

    def test_log_lines_stand_on_lines_of_their_own(self):
        told = self.on_a_terminal("--config", self.spec_of(), "--output", self.folder / "out")
        self.assertIn("wrote", told)
        for line in told.replace("\r\n", "\n").split("\n"):
            last = re.split(r"\r\x1b\[K", line)[-1]
            self.assertFalse(LINE.match(last) and "info" in last, line)

    def test_a_pipe_stays_clean_unless_asked(self):
        quiet = self.succeed("--config", self.spec_of(), "--output", self.folder / "quiet")
        self.assertNotIn("images/s", quiet.stderr)
        asked = self.succeed("--config", self.spec_of(), "--output", self.folder / "asked", "--progress", "always")
        lines = [LINE.fullmatch(line) for line in asked.stderr.splitlines() if LINE.search(line)]
        self.assertGreater(len(lines), 0, asked.stderr)
        self.assertTrue(all(lines), asked.stderr)
        self.assertNotIn("\r", asked.stderr)
        never = self.succeed("--config", self.spec_of(), "--output", self.folder / "never", "--progress", "never")
        self.assertNotIn("images/s", never.stderr)

    def test_under_mpirun_rank_0_alone_tells_it_and_in_short_runs_only_if_asked(self):
        spec = self.spec_of(engine="emulated:v100", comm={"model": "none"}, measure__steps=20)
        asked = self.succeed("--config", spec, "--output", self.folder / "asked", "--progress", "always", ranks=2)
        lines = [line for line in asked.stderr.splitlines() if LINE.search(line)]
        self.assertGreater(len(lines), 0, asked.stderr)
        self.assertEqual(len(lines), len({LINE.search(line)[6] + LINE.search(line)[1] for line in lines}), lines)
        short = self.succeed("--config", spec, "--output", self.folder / "short", ranks=2)
        self.assertFalse(LINE.search(short.stderr), short.stderr)

    def spec_for_ranks(self):
        return self.spec(engine="emulated:v100", comm={"model": "none"}, measure__steps=150, measure__repeats=1)

    def test_under_mpirun_a_terminal_shows_one_line_too(self):
        told = self.on_a_terminal("--config", self.spec_for_ranks(), "--output", self.folder / "out", ranks=2,
                                  columns=60)
        shown = [part for part in re.split(r"\r\x1b\[K", told) if LINE.match(part)]
        self.assertGreater(len(shown), 0, told)
        self.assertNotIn("\n", "".join(shown), told)
        self.assertLess(max(map(len, shown)), 60, "a line that wraps could not be overwritten")
        self.assertIn("wrote", told)
        for line in told.replace("\r\n", "\n").split("\n"):
            last = re.split(r"\r\x1b\[K", line)[-1]
            self.assertFalse(LINE.match(last), f"a log line, or the end, is glued to it: {line}")

    def test_under_mpirun_what_is_no_terminal_gets_lines_at_most(self):
        """The terminal is there, but standard error goes elsewhere: to a file, to a pipe, or through other words."""
        out = (self.folder / str(number) for number in range(9))
        with open(self.folder / "log", "w+") as log:
            told = self.on_a_terminal("--config", self.spec_for_ranks(), "--progress", "always", "--output", next(out),
                                      ranks=2, stderr=log)
            log.seek(0)
            lines = log.read()
        self.assertNotRegex(told + lines, r"\x1b|\r")
        self.assertRegex(lines, LINE)
        chexbench = shlex.join(command_line(["--config", self.spec_for_ranks(), "--progress", "always", "--output"]))
        for command in (f"mpirun -np 2 {chexbench} {next(out)} 2>&1 | cat",
                        f"mpirun -np 2 bash -c '{chexbench} {next(out)} 2>&1 | cat'",
                        f"mpirun -prepend-rank -np 2 {chexbench} {next(out)}"):
            with self.subTest(command=command):
                told = self.on_a_terminal(ranks=None, shell=command)
                self.assertNotIn("\x1b", told)
                self.assertRegex(told, LINE)

    def test_a_dumb_terminal_gets_lines(self):
        told = self.on_a_terminal("--config", self.spec_of(), "--output", self.folder / "out", "--progress", "always",
                                  TERM="dumb")
        self.assertNotIn("\x1b[K", told)
        self.assertRegex(told, LINE)


class DryRun(SystemTest):
    def test_other_trials_are_told_by_what_they_have_otherwise(self):
        spec = self.spec(sweep={"pipeline": ["naive", "optimized"], "training.batch_size": [2, 4]})
        plan = self.succeed("--config", spec, "--dry-run", "--explain").stdout
        self.assertEqual(plan.count('"warmup_steps"'), 1, plan)
        second, third, fourth = re.split(r"^trial \d of 4: .*\n", plan, flags=re.M)[2:]
        self.assertIn("like trial 1, except:\n  training.batch_size: 4\n", second)
        self.assertNotIn("pipeline", second.split("anonymous")[0])
        self.assertIn("like trial 1, except:\n  pipeline: optimized\n", third)
        self.assertIn('"map_and_batch"', third)
        self.assertNotIn('"map_and_batch"', fourth)

    def test_the_time_is_forecast_with_what_is_not_known(self):
        plan = self.succeed("--config", self.spec(), "--dry-run").stdout
        self.assertRegex(plan, r"^time: about \d+ s for 2 repeats of 1 trial\n  not counted: building engines, opening")
        self.assertIn("a rough forecast", plan)
        emulated = self.spec(engine="emulated:v100", comm={"model": "none"},
                             measure={"warmup_steps": 0, "steps": 38400, "repeats": 6}, training={"batch_size": 96})
        plan = self.succeed("--config", emulated, "--dry-run").stdout
        # 38,400 steps of 96 images at 384 images/s are 9,600 s at the least.
        hours = int(re.search(r"time: about (\d+) h \d+ min for 6 repeats", plan)[1])
        self.assertGreaterEqual(hours, 16)
        self.assertRegex(plan, r"plus up to \d+ h \d+ min for 6 more repeats, if other processes disturb them")

    @unittest.skipUnless(HAS_ONEDNN, "needs engine onednn")
    def test_trials_without_anything_to_try_leave_the_time_to_others(self):
        engines = ["none"]
        for number in range(4):
            profile = self.folder / f"{number}.json"
            profile.write_text(json.dumps({"name": "made up", "device": "a device", "entries": [
                {"model": "resnet50", "image_size": 32, "precision": "f32", "batch_size": 2, "images_per_s": 1000,
                 "includes_update": True, "includes_communication": False, "source": "made up"}]}))
            engines.append(f"emulated:{profile}")
        spec = self.spec(sweep={"engine": [*engines, "onednn"]}, model__image_size=32)
        plan = self.succeed("--config", spec, "--dry-run").stdout
        self.assertIn("for 12 repeats of 6 trials", plan)
        self.assertNotIn("what engine onednn computes", plan)

    def test_there_is_no_forecast_where_nothing_can_be_tried(self):
        spec = self.spec(data={"root": "nowhere"})
        self.assertIn("time: no forecast", self.succeed("--config", spec, "--dry-run", "--ranks", "2").stdout)

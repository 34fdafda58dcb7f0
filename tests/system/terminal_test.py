"""The visible result: on terminals of several widths, with and without colours, and in a pipe."""

import json
import os
import re
import shlex
import shutil
import subprocess
from unittest import mock

from harness import REAL_IMAGES, ROOT, SystemTest, command_line, run, run_on_terminal, write_program

ESCAPE = "\x1b"
FOREIGN = ROOT / "tests/data/foreign/kineto-steps.json"


def on_terminal(*arguments, columns, **environment):
    """The command's output on a terminal with this many columns, as lines."""
    variables = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    text = run_on_terminal(command_line(arguments), columns, {**variables, "TERM": "xterm", **environment},
                           stdin=None, stderr=subprocess.DEVNULL)
    return text.replace("\r\n", "\n").splitlines()


class Terminal(SystemTest):
    # Two pipelines in front of an emulated accelerator.
    KEYS = {"engine": "emulated:v100", "data__split": "all", "measure__repeats": 5, "measure__steps": 4,
            "sweep": {"pipeline": ["naive", "optimized"]}}

    def test_a_run_of_two_trials_is_told_in_twelve_lines_of_a_hundred_columns(self):
        out = self.folder / "out"
        printed = self.succeed("--config", self.spec(**self.KEYS), "--output", out).stdout
        self.assertNotIn(ESCAPE, printed)
        lines = printed.splitlines()
        self.assertIn("emulated", lines[0])
        self.assertLessEqual(len([line for line in lines if not line.startswith("     --")]), 12, printed)
        self.assertLessEqual(max(map(len, lines)), 100)
        self.assertIn(f"details  chexbench report {out} --explain", lines)
        self.assertEqual(self.succeed("report", out, "--format", "table").stdout, printed)
        self.assertEqual(self.succeed("report", out).stdout, printed)

    def test_the_answer_comes_first_then_the_table_then_findings(self):
        out = self.folder / "out"
        printed = self.succeed("--config", self.spec(**self.KEYS), "--output", out, "--explain").stdout
        self.assertNotIn(ESCAPE, printed)
        lines = printed.splitlines()
        answer = lines[:lines.index("")]
        self.assertTrue(any("naive" in line for line in answer), answer)
        self.assertIn("emulated", answer[0])
        table = next(i for i, line in enumerate(lines) if line.split()[:2] == ["pipeline", "images/s"])
        findings = next(i for i, line in enumerate(lines) if line.startswith("Findings"))
        self.assertLess(table, findings)
        self.assertEqual(self.succeed("report", out, "--format", "table", "--explain").stdout, printed)

    def test_findings_are_at_most_five_or_as_many_as_asked_for(self):
        out = self.measured(**self.KEYS)
        every = len(self.report(out)["findings"])

        def told(*options):
            lines = self.succeed("report", out, *options).stdout.splitlines()
            return sum(line.startswith("- ") for line in lines), lines[-1]
        self.assertEqual(told("--format", "table", "--explain")[0], min(every, 5))
        self.assertEqual(told("--findings", "all", "--explain")[0], every)
        self.assertLessEqual(told()[0], 5)
        self.assertEqual(told("--findings", "1"), (1, f"details  chexbench report {out} --explain"))
        count, last = told("--findings", "1", "--explain")
        self.assertEqual((count, last), (1, f"All of them: chexbench report {out} --findings all"))
        self.assertEqual(told("--findings", "0")[0], 0)

    def test_findings_of_a_run_are_limited_too(self):
        spec = self.spec(engine="emulated:v100", sweep={"pipeline": ["naive", "optimized"]})
        done = self.succeed("--config", spec, "--output", self.folder / "out", "--findings", "1")
        self.assertEqual(sum(line.startswith("- ") for line in done.stdout.splitlines()), 1)

    def test_a_wrong_number_of_findings_is_refused_before_anything_is_measured(self):
        spec = self.spec()
        self.fail_with(2, "--config", spec, "--findings", "some", says=["--findings", "`all` or a number", "'some'"])
        self.fail_with(2, "--config", spec, "--findings", "3", "--format", "csv",
                       says="--findings belongs to --format table, not to csv")
        self.assertFalse((self.folder / "results").exists())

    def test_findings_are_refused_for_forms_that_have_all(self):
        out = self.measured(**self.KEYS)
        self.fail_with(2, "report", out, "--findings", "all", "--format", "json", says="--findings belongs to")

    def test_no_line_is_broken_by_the_terminal(self):
        out = self.measured(**self.KEYS)
        for columns in (60, 80, 100, 120, 200):
            with self.subTest(columns=columns):
                lines = on_terminal("report", out, "--findings", "all", "--explain", columns=columns, NO_COLOR="1")
                sentences = [line for line in lines if " chexbench" not in line and "--" not in line]
                self.assertLessEqual(max(map(len, sentences)), columns)

    def test_under_mpirun_its_terminal_counts(self):
        spec = self.spec(engine="emulated:v100", comm={"model": "none"}, ranks="all")

        def widest(columns, launcher, behind=""):
            command = shlex.join([*launcher, *command_line(["--config", spec, "--output", self.folder / "out"])])
            told = self.on_a_terminal(shell=f"{command} --progress never 2> /dev/null {behind}", columns=columns)
            shutil.rmtree(self.folder / "out")
            return max(len(line) for line in told.splitlines() if not line.startswith(("   ", "next", "details")))
        self.assertLessEqual(widest(60, ["mpirun", "-np", "2"]), 60)
        self.assertGreater(widest(60, ["mpirun", "-np", "2"], "| cat"), 60)
        self.assertGreater(widest(60, ["mpirun", "-prepend-rank", "-np", "2"]), 60)

    def test_columns_without_room_are_named(self):
        out = self.measured(**self.KEYS)
        self.assertTrue(any("No room for" in line for line in
                            on_terminal("report", out, "--explain", columns=45, NO_COLOR="1")))

    def test_colours_are_for_terminals_that_want_them(self):
        out = self.measured(**self.KEYS)

        def printed(**environment):
            return "\n".join(on_terminal("report", out, "--findings", "1", columns=100, **environment))
        self.assertIn(ESCAPE, printed())
        self.assertNotIn(ESCAPE, printed(NO_COLOR="1"))
        self.assertNotIn(ESCAPE, printed(TERM="dumb"))
        self.assertIn(ESCAPE, printed(NO_COLOR=""))  # https://no-color.org: an empty one does not count

    def test_a_pipe_gets_lines_of_a_hundred_columns(self):
        out = self.measured(**self.KEYS)
        piped = self.succeed("report", out, "--findings", "all", "--explain").stdout
        self.assertEqual(piped.splitlines(), on_terminal("report", out, "--findings", "all", "--explain", columns=100,
                                                         NO_COLOR="1"))

    def test_answers_in_a_pipe_have_at_most_twelve_lines_of_a_hundred_columns(self):
        out = self.measured(**self.KEYS)
        for command in (("compare", out, out), ("data", "index", REAL_IMAGES), ("diagnose", FOREIGN),
                        ("--config", self.spec(**self.KEYS), "--dry-run")):
            lines = self.succeed(*command).stdout.splitlines()
            self.assertLessEqual(len([line for line in lines if not line.startswith("   ")]), 12, lines)
            self.assertLessEqual(max(map(len, lines)), 100, lines)
        for command in (("list",), ("doctor", "--explain"), ("report", out, "--findings", "all", "--explain")):
            lines = self.succeed(*command).stdout.splitlines()
            self.assertLessEqual(max(len(line) for line in lines if len(line.split()) > 1), 100, lines)

    def test_markdown_begins_with_the_answer_of_the_table(self):
        out = self.measured(**self.KEYS)
        answer = self.succeed("report", out, "--format", "table").stdout.splitlines()
        lines = self.succeed("report", out, "--format", "markdown").stdout.splitlines()
        self.assertEqual(lines[2][:2], "- ")
        self.assertIn(" ".join(answer[0].split()[:3]), lines[2].replace("\\", ""))
        headings = [line for line in lines if line.startswith("### ")]
        self.assertEqual(headings[:2], ["### Trials", "### Findings"])

    def test_a_reader_that_stops_gets_no_error(self):
        out = self.measured(**self.KEYS)
        reader, end = os.pipe()
        os.close(reader)
        done = run("report", out, stdout=end)
        os.close(end)
        self.assertEqual((done.returncode, done.stderr), (141, ""))

    def test_engine_none_has_no_columns_of_waits(self):
        spec = self.spec(sweep={"pipeline": ["naive", "optimized"]})
        done = self.succeed("--config", spec, "--output", self.folder / "out")
        header = next(line for line in done.stdout.splitlines() if line.startswith("trial"))
        self.assertEqual([word for word in header.split() if word in ("wait", "busy")], [])

    def test_other_commands_break_their_sentences_too(self):
        for columns in (80, 120):
            lines = on_terminal("list", columns=columns)
            lines = [line for line in lines if len(line.split()) > 1]  # a path is one word
            self.assertLessEqual(max(map(len, lines)), columns)

    def test_tables_of_other_commands_fit_the_terminal(self):
        out = self.measured(**self.KEYS)
        predict = ("predict", "--config", self.spec(engine="emulated:v100"), "--alpha", "2e-6", "--beta", "1e10",
                   "--ranks", "1,2,64", "--input-rate", "900", "--explain")
        for command in (("compare", out, out), predict, ("model", "densenet121"), ("doctor",)):
            for columns in (60, 80, 120):
                with self.subTest(command=command[0], columns=columns):
                    lines = on_terminal(*command, columns=columns)
                    self.assertLessEqual(max(len(line) for line in lines if len(line.split()) > 1), columns)
        self.assertNotIn("No room for", self.succeed("compare", out, out).stdout)
        for command in (("compare", out, out), predict):
            self.assertTrue(any("No room for" in line for line in on_terminal(*command, columns=40)), command)

    def test_results_of_old_versions_are_told_by_their_text(self):
        out = self.measured(**self.KEYS)
        report = self.report(out)
        for finding in report["findings"]:
            for part in ("headline", "reason", "advice", "command", "worth_share", "trial"):
                finding.pop(part, None)
        (out / "report.json").write_text(json.dumps(report))
        printed = self.succeed("report", out, "--findings", "all").stdout
        for finding in report["findings"]:
            self.assertIn(f"- {finding['text']}", " ".join(printed.split()))


STUBS = {
    "scripts/setup": 'echo "setup $*"',
    "bin/cmake": "exit 0",
    "bin/mpirun": 'while [[ $1 != --output ]]; do shift; done; mkdir -p "$2"; echo "table of ${2##*/}"',
    "build/release/bin/chexbench": 'if [[ $1 == report ]]; then echo "table of ${2##*/}"; fi; echo "ran $1 $2"',
}


class Quickstart(SystemTest):
    """scripts/quickstart with stand-ins for the programs that it installs, builds and runs."""

    def quickstart(self, *arguments, fails=0, instead=("", "")):
        """Its output; `instead` is a text of the script, and the test's replacement."""
        for name, text in STUBS.items():
            write_program(self.folder / name, f"#!/usr/bin/env bash\n{text}\n")
        text = (ROOT / "scripts/quickstart").read_text()
        self.assertIn(instead[0], text)
        script = write_program(self.folder / "scripts/quickstart", text.replace(*instead) if instead[0] else text)
        (self.folder / "tests/data/nih").mkdir(parents=True, exist_ok=True)
        done = self.ends_with(fails, script, *arguments, start_new_session=True,  # its Ctrl-C reaches no other process
                              env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"})
        self.said = done.stderr
        return done.stderr if fails else done.stdout

    def test_a_folder_of_ones_own_is_measured_right_after_the_build(self):
        own = self.folder / "my images"
        own.mkdir()
        printed = self.quickstart(own)
        self.assertIn(f"ran probe {own}\n", printed)
        self.assertNotIn("table of", printed)

    def test_what_is_no_folder_is_refused_before_anything_is_installed(self):
        refused = self.quickstart(self.folder / "none", fails=2)
        self.assertEqual(refused, f"scripts/quickstart: no folder '{self.folder}/none'\n")

    def test_ctrl_c_says_how_to_go_on_and_the_next_run_does(self):
        measuring = 'mkdir -p "${@: -4:1}"; touch "${@: -4:1}/journal.jsonl"; kill -INT 0; sleep 9'
        with mock.patch.dict(STUBS, {"bin/mpirun": measuring}):
            stopped = self.quickstart(fails=130)
        self.assertIn("stopped; what is finished stays, and scripts/quickstart goes on from there", stopped)
        with mock.patch.dict(STUBS, {"bin/mpirun": 'echo "$*" >> asked'}):
            self.quickstart()
        self.assertRegex((self.folder / "asked").read_text(), "--resume results/quickstart-[^ ]*/v100 ")

    def test_each_table_is_printed_once_and_those_of_all_only_if_asked_for(self):
        printed = self.quickstart()
        self.assertEqual(printed.count("table of v100"), 1, printed)
        self.assertIn("scripts/quickstart --all", printed)
        printed = self.quickstart("--all")
        self.assertNotIn("table of v100", printed)  # it is there
        for name in ("input", "training"):
            self.assertEqual(printed.count(f"table of {name}"), 1, printed)
        (results,) = (self.folder / "results").iterdir()
        results.rename(results.with_name("quickstart-20260101T000000Z"))
        self.quickstart()
        self.assertEqual(len(list((self.folder / "results").iterdir())), 2)

    def test_an_experiment_that_takes_too_long_is_stopped_and_the_script_says_so(self):
        with mock.patch.dict(STUBS, {"bin/mpirun": "exec sleep 60"}):
            printed = self.quickstart(instead=("most_s=180", "most_s=0.1"))
        self.assertIn("stopped after 0.1 s; what was measured by then follows", self.said)
        self.assertIn("table of v100", printed)

    def test_the_engines_that_train_are_built_after_the_first_answer(self):
        program = STUBS["build/release/bin/chexbench"]
        build = 'echo "cmake $*"; mkdir -p build/release/bin; cp program build/release/bin/chexbench'
        with mock.patch.dict(STUBS, {"program": program, "bin/cmake": f"{{ {build}; }} 2>&1 | tee -a asked"}):
            del STUBS["build/release/bin/chexbench"]
            self.quickstart()
            built = re.findall("dnnl=(ON|OFF) .*cudnn=(ON|OFF)", (self.folder / "asked").read_text())
            self.assertEqual(built, [("OFF", "OFF"), ("ON", "ON")])
            self.assertLess(self.said.index("feeding an emulated V100"), self.said.index("the engines that train"))
            self.quickstart()
        self.assertEqual((self.folder / "asked").read_text().count("=OFF"), 2)  # none in the second run

    def test_after_a_late_answer_the_engines_that_train_wait_for_the_next_run(self):
        build = 'echo "$*" >> asked; mkdir -p build/release/bin; cp program build/release/bin/chexbench'
        with mock.patch.dict(STUBS, {"program": STUBS["build/release/bin/chexbench"], "bin/cmake": build}):
            del STUBS["build/release/bin/chexbench"]
            self.quickstart(instead=("late_s=600", "late_s=-1"))
            self.assertIn("not built yet: the engines that train", self.said)
            self.assertNotIn("dnnl=ON", (self.folder / "asked").read_text())
            self.quickstart()
        self.assertEqual((self.folder / "asked").read_text().count("dnnl=ON"), 1)

    def test_a_program_that_is_there_stays_configured_as_it_was(self):
        with mock.patch.dict(STUBS, {"bin/cmake": 'echo "$*" >> asked'}):
            self.quickstart()
        self.assertNotIn("-D", (self.folder / "asked").read_text())

    def test_a_pipe_hears_how_far_the_build_is(self):
        with mock.patch.dict(STUBS, {"bin/cmake": 'echo "[57/140] Building x"; sleep 0.3'}):
            self.quickstart(instead=("every=10", "every=0.1"))
        self.assertRegex(self.said, r"\n\[ +\d+ s\] build: \[57/140\] Building x\n")

    def test_a_build_that_fails_shows_its_end_and_how_to_go_on(self):
        with mock.patch.dict(STUBS, {"bin/cmake": "echo 'x.o: No space left on device'; exit 1"}):
            failed = self.quickstart(fails=1)
        for words in ("x.o: No space left on device", "the disk is full", "Running this again goes on from here"):
            self.assertIn(words, failed)

    def test_a_system_that_setup_does_not_know_is_told_so(self):
        with mock.patch.dict(STUBS, {"scripts/setup": "echo 'Nothing was installed' >&2; exit 3"}):
            self.assertIn("Nothing was installed", self.quickstart(fails=3))

    def test_it_ends_with_the_next_step_for_the_users_own_folder(self):
        last = self.quickstart().splitlines()[-5:]
        self.assertIn("  chexbench DIR", last)
        self.assertIn(f"  export PATH=$PATH:{self.folder}/build/release/bin", last)

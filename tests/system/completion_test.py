"""chexbench completion and the manual page: read by the shells and by groff themselves."""

import re
import shutil
import unittest

from harness import SystemTest

# Completes the words that follow as readline would: it has split them at '=' and ':'.
BASH = """source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
_chexbench && printf '%s\\n' "${COMPREPLY[@]}"
"""
# Types the line and a tab into an interactive zsh, and prints the resulting line.
ZSH = """zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= fpath=($1 \\$fpath); autoload -Uz compinit; compinit -u -D; print RE''ADY"
while zpty -r shell line; do [[ $line == *READY* ]] && break; done
zpty -w -n shell "$2"$'\\t\\C-a\\C-k'"print -r -- '<"$'\\C-y'">'"$'\\n'
while zpty -r shell line; do [[ $line == '<'* ]] && { print -r -- $line; break; }; done
zpty -d shell
"""


class Completion(SystemTest):
    def script(self, shell, name):
        path = self.folder / name
        path.write_text(self.succeed("completion", shell).stdout)
        return path

    def shell(self, *command):
        done = self.ends_with(0, *command, cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_an_unknown_shell_is_refused(self):
        self.fail_with(2, "completion", "csh", says="csh")
        self.fail_with(2, "completion", says="SHELL")

    def bash(self, *words):
        return self.shell("bash", "-c", BASH, "bash", self.script("bash", "chexbench"), "chexbench", *words).split()

    def test_bash_completes_commands_options_and_values(self):
        self.assertEqual(self.bash("data", "con"), ["convert"])
        self.assertEqual(self.bash("help", "data", "con"), ["convert"])
        self.assertEqual(self.bash("data", "convert", "--to", ""), ["tfrecord", "webdataset", "cached"])
        self.assertEqual(self.bash("data", "convert", "--sp"), ["--split"])
        self.assertEqual(self.bash("--format", "=", "j"), ["json"])
        self.assertEqual(self.bash("--set", "data.form"), ["data.format="])
        self.assertEqual(self.bash("--set", "data.format", "=", "i"), ["images"])
        self.assertEqual(self.bash("--set", "engine", "=", "emulated", ":", "v1"), ["v100"])
        self.assertEqual(self.bash("model", "den"), ["densenet121"])
        self.assertEqual(self.bash("model", "densenet121", ""), [])
        self.assertEqual(self.bash("completion", ""), ["bash", "zsh", "fish"])
        self.assertNotIn("man-page", self.bash(""))

    def test_bash_offers_what_help_and_list_name(self):
        verbs = re.findall(r"^  ([a-z-]+) {2,}", self.succeed("--help").stdout.split("Subcommands:")[1], re.MULTILINE)
        self.assertGreater(len(verbs), 10)
        self.assertEqual(self.bash(""), verbs)
        shipped = self.told("list")
        names = [entry["name"] for entry in shipped["experiments"]]
        for words in (("--config", ""), ("predict", "--config", "")):
            self.assertEqual([name for name in self.bash(*words) if name in names], names)
        self.assertIn("a100", self.bash("predict", "--accelerator", ""))

    def test_bash_offers_files_and_folders_where_they_are_wanted(self):
        (self.folder / "runs one").mkdir()
        (self.folder / "runs.csv").write_text("")
        self.assertEqual(self.bash("diagnose", "runs."), ["runs.csv"])
        self.assertEqual(self.bash("--output", "runs"), ["runs", "one"])  # one name; the method splits at the blank
        self.assertEqual(self.bash("--config", "runs."), ["runs.csv"])
        # A word after an option is its value, even if it is a command's name.
        self.assertIn("--dry-run", self.bash("--output", "list", "--dr"))

    def test_bash_offers_folders_as_the_first_word(self):
        for name in ("xrays", "data"):
            (self.folder / name).mkdir()
        (self.folder / "xrays.csv").write_text("")
        self.assertEqual(self.bash("xr"), ["xrays"])
        self.assertEqual(self.bash("dat"), ["data", "data/"])
        self.assertIn("xrays/", self.bash(""))
        self.assertIn("probe", self.bash(""))
        self.assertEqual(self.bash("help", "xr"), [])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_reads_and_completes(self):
        script = self.script("zsh", "_chexbench")
        self.shell("zsh", "-n", script)
        (self.folder / "xrays").mkdir()
        for line, completed in (
            ("chexbench data con", "chexbench data convert"),
            ("chexbench --config nai", "chexbench --config naive-vs-optimized"),
            ("chexbench --set data.format=i", "chexbench --set data.format=images"),
            ("chexbench data convert --to w", "chexbench data convert --to webdataset"),
            ("chexbench model den", "chexbench model densenet121"),
            ("chexbench mod", "chexbench model"),
            ("chexbench help mod", "chexbench help model"),
            ("chexbench help data con", "chexbench help data convert"),
            ("chexbench help data xr", "chexbench help data xr"),
            ("chexbench xr", "chexbench xrays"),  # zsh takes the slash away as the cursor leaves it
        ):
            shown = self.shell("timeout", "60", "zsh", "-f", "-c", ZSH, "zsh", script.parent, line)
            self.assertEqual(shown.strip("\r\n"), f"<{completed}>", line)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_reads_and_completes(self):
        script = self.script("fish", "chexbench.fish")
        self.shell("fish", "-n", script)
        (self.folder / "xrays").mkdir()
        for line, offered in (
            ("chexbench data con", ["convert"]),
            ("chexbench --config nai", ["naive-vs-optimized"]),
            ("chexbench --set data.format=i", ["data.format=images"]),
            ("chexbench data convert --to ", ["cached", "tfrecord", "webdataset"]),
            ("chexbench --config formats --pro", ["--progress"]),
            ("chexbench model den", ["densenet121"]),
            ("chexbench mod", ["model"]),
            ("chexbench help mod", ["model"]),
            ("chexbench help data con", ["convert"]),
            ("chexbench help xr", []),
            ("chexbench xr", ["xrays/"]),
        ):
            shown = self.shell("env", f"HOME={self.folder}", "fish", "-N", "-c",
                               f"source {script}; complete -C'{line}'")
            self.assertEqual([row.split("\t")[0] for row in shown.splitlines()], offered, line)


class ManPage(SystemTest):
    def setUp(self):
        super().setUp()
        self.page = self.succeed("man-page").stdout

    def test_it_has_every_command_and_option(self):
        text = self.page.replace("\\-", "-")
        commands = [line[4:] for line in text.splitlines() if line.startswith(".SS ")]
        self.assertIn("chexbench data convert", commands)
        for call in ("chexbench DIR [OPTION]", "chexbench report DIR [OPTION]", "[IMAGE...] --checkpoint"):
            self.assertIn(call, text.split(".SH DESCRIPTION")[0])
        for command in ["chexbench", *commands]:
            self.assertIn(f"\n{command} ", text.split(".SH DESCRIPTION")[0])
            section = text.split(f".SS {command}\n")[1] if command != "chexbench" else text.split(".SH OPTIONS")[1]
            section = re.split(r"^\.S[HS] ", section, flags=re.MULTILINE)[0]
            for option in re.findall(r"^ +(?:-\w,)?(--[a-z-]+)", self.succeed(*command.split()[1:], "--help").stdout,
                                     re.MULTILINE):
                self.assertIn(f"\\fB{option}\\fR", section, command)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_has_nothing_to_say_against_it(self):
        for device in ("utf8", "ps"):
            self.assertEqual(self.ends_with(0, "groff", "-man", "-ww", "-z", f"-T{device}", input=self.page).stderr, "")

    def test_it_tells_the_version(self):
        version = self.succeed("--version").stdout.strip()
        self.assertIn(f'"chexbench {version}"', self.page)

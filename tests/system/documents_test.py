"""The commands that READMEs and the comments of specs show: chexbench understands each of them; and what documents say
of the program agrees with it."""

import re
import shlex
import sys

from harness import ROOT, SystemTest, run

WHERE = ("*.md", "apps/**/*.md", "configs/**/*.md", "configs/**/*.json", "lib/**/*.md", "results/*.md", "scripts/*.md")
COMMAND = re.compile(r"\s*(?:mpirun (?:--map-by \S+ )?(?:-np (?P<ranks>\d+) )?)?chexbench (?P<words>[^#>|;]*)")
LEAST = 20  # the least number of commands: with fewer, the search is broken


def shown(path):
    """The commands in a document, with their continuation lines."""
    text = path.read_text()
    if path.suffix == ".md":
        lines = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    else:
        lines = "\n".join(re.findall(r"^\s*// ?(.*)", text, re.MULTILINE))
    return re.sub(r"\\\n\s*", " ", lines).splitlines()


def commands(path):
    """The words of each command that names a spec of the repository, to be planned and not run."""
    for line in shown(path):
        found = COMMAND.match(line)
        words = shlex.split(found["words"]) if found and "[" not in found["words"] else []
        if "--config" not in words:
            continue
        spec = words[words.index("--config") + 1]
        if "/" in spec and not spec.startswith("configs/"):
            continue  # which another command writes
        if words[0] == "--config":
            words += [*([] if "--dry-run" in words else ["--dry-run"]),
                      *(["--ranks", found["ranks"]] if found["ranks"] and "--ranks" not in words else [])]
        yield ["configs/measurements/quickstart-training.json" if word == "SPEC" else word for word in words]


class Documents(SystemTest):
    def test_every_command_over_a_spec_is_understood(self):
        (self.folder / "configs").symlink_to(ROOT / "configs")
        paths = sorted({path for pattern in WHERE for path in ROOT.glob(pattern)})
        checked = 0
        for path in paths:
            for words in commands(path):
                checked += 1
                with self.subTest(document=str(path.relative_to(ROOT)), command=" ".join(words)):
                    done = run(*words, cwd=self.folder)
                    self.assertNotEqual(done.returncode, 2, done.stderr)  # their data, such as DIR, need not be here
        self.assertGreater(checked, LEAST)

    def test_values_of_a_format_are_those_of_its_command(self):
        usage = re.compile(r"^chexbench (\S+)[^`\n]*--format ([a-z]+(?:\|[a-z]+)+)", re.MULTILINE)
        found = [(path, *match) for path in ROOT.rglob("*.md") for match in usage.findall(path.read_text())
                 if path.is_relative_to(ROOT / "apps") or path.parent == ROOT]
        self.assertTrue(found)
        for path, command, values in found:
            verb = "probe" if command == "DIR" else command
            told = run(verb, "--help").stdout
            offered = re.search(r"--format\s+TEXT:\{([^}]*)\}", told)[1].split(",")
            self.assertEqual(values.split("|"), offered, path)

    def test_the_table_of_commands_lists_those_of_help(self):
        offered = re.findall(r"^  ([a-z]+) ", run("--help").stdout.split("Subcommands:")[1], re.MULTILINE)
        table = (ROOT / "apps/chexbench/README.md").read_text().split("## Commands")[1].split("\n## ")[0]
        cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        shown = {span.split()[0] for cell in cells for span in re.findall(r"`([^`]*)`", cell)}
        self.assertGreater(len(offered), 10)
        self.assertLessEqual(set(offered), shown)

    def test_help_of_plot_explains_each_figure(self):
        told = self.ends_with(0, sys.executable, ROOT / "scripts/plot.py", "--help").stdout
        figures = re.search(r"--figure\s+\{([^}]*)\}", told)[1].split(",")
        explained = re.findall(r"^  ([a-z]+)  +\S", told.split("Figures:")[1].split("\n\n")[0], re.MULTILINE)
        self.assertEqual(sorted(re.sub(r"\s", "", name) for name in figures), sorted(explained))

    def test_the_glossary_defines_what_rooms_refer_to_it_for(self):
        glossary = (ROOT / "apps/chexbench/guides/glossary.md").read_text()
        for path in ROOT.glob("lib/**/README.md"):
            for words in re.findall(r"\[glossary\]\([^)]*\) defines\s+([^.]*?)(?:\s+and\s+the\s+other\s+words)?\.",
                                    path.read_text()):
                for word in re.split(r",\s+|\s+and\s+", words):
                    self.assertRegex(glossary, rf"\b{word}\b", path)

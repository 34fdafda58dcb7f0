"""The commands that READMEs and the comments of specs show: chexbench understands each of them."""

import re
import shlex

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
        yield ["configs/experiments/quickstart-training.json" if word == "SPEC" else word for word in words]


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

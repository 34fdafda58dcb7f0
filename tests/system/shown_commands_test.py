"""Runs every command of chexbench that README, the guides and the pages about commands, specs and results show, in
their order, over small images, with few steps."""

import re
import shlex
import unittest

from documents_test import shown as lines_of_blocks
from harness import HAS_ONEDNN, ROOT, SystemTest, run
from import_test import WORKLOAD

PAGES = ("README.md", "apps/chexbench/guides/*.md", "apps/chexbench/README.md", "configs/README.md", "results/*.md")
COMMAND = re.compile(r"(?P<mpirun>mpirun (?:--map-by \S+ )?-np (?P<ranks>\S+) )?chexbench (?P<words>[^#;|]*)")
LEAST = 40  # the least number of commands: with fewer, the search is broken
# Other tests run these: they need a server, another data set, a value for each of their words, or a GPU.
ELSEWHERE = re.compile(r"s3://|nfs://|CHEXPERT|class_weights|COMMAND|\]\.\.\.|model NAME|dev calibrate|engine=cuda")
SMALL = {"measure.steps": 2, "measure.warmup_steps": 1, "measure.repeats": 1, "measure.extra_repeats": 0,
         "training.batch_size": 2}
SMALL_OF = {"accuracy": {"training.epochs": 1, "training.batch_size": 2},
            "two-jobs": {**SMALL, "second_job.kind": "both"},
            "naive-vs-optimized": {**SMALL, "model.name": "mobilenet_v2", "model.image_size": 32}}
OPTIONS_OF = {"advise": ["--budget", "5"], "comm": ["--max-bytes", "64K"], "DIR": ["--time", "4"]}


def shown(page):
    """The commands of a page: the lines of its blocks, and spans of code in its text that have an argument."""
    yield from lines_of_blocks(page)
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for span in re.findall(r"`((?:mpirun [^`]*)?chexbench [^`]*)`", text):
        if span == "chexbench DIR" or len(span.split("chexbench")[1].split()) > 1:
            yield span.replace("\n", " ")


def commands():
    """The page, the number of ranks or None, the words, and the file of the output or "" of each command, once."""
    seen = set()
    for path in sorted({path for pattern in PAGES for path in ROOT.glob(pattern)}):
        for line in shown(path):
            found = COMMAND.match(line.strip())
            words, _, output = found["words"].partition(">") if found else ("", "", "")
            if not found or ELSEWHERE.search(line) or words.strip() in ("data synth", "--config SPEC"):
                continue
            if (found["ranks"], words.strip()) not in seen:
                seen.add((found["ranks"], words.strip()))
                yield path.relative_to(ROOT), found["ranks"], shlex.split(words), output.strip()


@unittest.skipUnless(HAS_ONEDNN, "trains on the CPU")
class ShownCommands(SystemTest):
    def setUp(self):
        super().setUp()
        self.small_images()
        for form in ("tfrecord", "webdataset", "cached"):
            self.succeed("data", "convert", self.folder / "nih", "--to", form)
        (self.folder / "configs").symlink_to(ROOT / "configs")
        (self.folder / "retinanet_b200.yaml").write_text(WORKLOAD.format(step_s=0.002))
        for name in ("steps.csv", "after.csv"):
            (self.folder / name).write_text("rank,epoch,wait_s,step_s,images\n" + 20 * "0,0,0.01,0.02,16\n")
        self.outputs = 0
        # The file or folder of each placeholder; --output gives its own a new one.
        self.places = {"ROOT": "nih", "FOLDER": "staged", "IMAGE": next((self.folder / "nih/images").iterdir())}
        self.run_shown(["--config", "accuracy", "--set", "data.root=DIR", "--output", "TRAINED"], 2)
        self.places["FILE"] = next((self.folder / self.places["TRAINED"]).glob("checkpoints/*/best.safetensors"))
        self.places["DIR/checkpoints/*/best.safetensors"] = self.places["FILE"]
        for ranks, place in ((2, "nightly/base"), (None, "RUN")):
            self.run_shown(["--config", "peers-input", "--set", "data.root=DIR", "--output", place], ranks)
        self.places.update(dict.fromkeys(("out", "BASE", "NEW"), self.places["RUN"]))

    def run_shown(self, words, ranks=None):
        words = self.quick(words)
        if "--output" in words:
            self.outputs += 1
            self.places[words[words.index("--output") + 1]] = f"output-{self.outputs}"
        folder = self.places["RUN"] if words[0] in ("report", "--resume") else "nih"
        if words[:2] == ["data", "synth"]:
            self.outputs += 1
            folder = f"output-{self.outputs}"
            words[words.index("--images") + 1] = "24"
        places = {**self.places, "DIR": folder}
        words = [re.sub(r"(\bDIR|/scratch/nih)$", folder, str(places.get(word, word))) for word in words]
        if ranks and "update-schemes" not in words:
            ranks = 2  # more would share cores
        done = run(*words, ranks=ranks, cwd=self.folder)
        # Two of these short runs may differ by any ratio.
        expected = (0, 5) if words[0] == "compare" else (0,)
        self.assertIn(done.returncode, expected, f"{words}\n{done.stdout}{done.stderr}")
        return done

    @staticmethod
    def quick(words):
        """The words, and settings for few steps, repeats and epochs, which win over theirs."""
        words = [*words, *OPTIONS_OF.get(words[0], [])]
        if words[0] != "--config" or "--dry-run" in words:
            return words
        small = SMALL_OF.get(words[1], SMALL)
        if any(word.startswith("engine=emulated") for word in words):  # whose profile knows only some networks
            small = {key: value for key, value in small.items() if not key.startswith("model.")}
        return [*words, *(word for key, value in small.items() for word in ("--set", f"{key}={value}"))]

    def test_each_runs(self):
        ran = 0
        for page, ranks, words, output in commands():
            with self.subTest(page=str(page), command=" ".join(words)):
                done = self.run_shown(words, ranks)
                if output and not output.startswith("/"):
                    (self.folder / output).write_text(done.stdout)
                ran += 1
        self.assertGreater(ran, LEAST)

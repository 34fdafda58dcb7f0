"""Files that older versions wrote (old_files/README.md) are read, with their figures."""

import json
import shutil
import tarfile
import tempfile
import unittest
from pathlib import Path

from epochs import read_checkpoint
from harness import HAS_ONEDNN, SystemTest

ARCHIVES = sorted((Path(__file__).parent / "old_files").glob("*.tar.xz"))
NO_ONEDNN = "this build has no engine onednn"
IMAGES, REPEATS = 24, 5  # of make.py
FIGURES = ("images_per_s", "images_per_s_ci95", "wait_share", "decoded_per_trained")


class OldFiles(SystemTest):
    @classmethod
    def setUpClass(cls):
        unpacked = tempfile.TemporaryDirectory(prefix="chexbench-old-")
        cls.addClassCleanup(unpacked.cleanup)
        cls.versions = []
        for archive in ARCHIVES:
            cls.versions.append(Path(unpacked.name) / archive.name.split(".")[0])
            with tarfile.open(archive) as packed:
                packed.extractall(cls.versions[-1], filter="data")

    def each(self, needed):
        """The folders of the versions that have such a file."""
        versions = [version for version in self.versions if list(version.glob(needed))]
        self.assertGreater(len(versions), 1)
        return versions

    def cut(self, version, run, lines):
        """The rest of a killed run: the first lines of its journal. Also returns the command to continue it."""
        folder = self.folder / f"{run}-{version.name}"
        shutil.copytree(version / run, folder)
        (folder / "report.json").unlink()
        kept = (folder / "journal.jsonl").read_text().splitlines(keepends=True)[:lines]
        (folder / "journal.jsonl").write_text("".join(kept))
        spec = () if (folder / "run.json").exists() else ("--config", version / f"{run}.json")
        set_keys = self.trials_of(version / run)[0]["spec"]["measure"].keys() & {"extra_repeats"}  # by make.py
        return folder, kept, (*spec, *("--set=measure.extra_repeats=0" for _ in set_keys), "--resume", folder)

    def trials_of(self, folder):
        return json.loads((folder / "report.json").read_text())["trials"]

    def keys_of(self, folder):
        """The trial and the rate of each line of a run's journal."""
        lines = map(json.loads, (folder / "journal.jsonl").read_text().splitlines())
        return [(line["key"], line["repeat"]["images_per_s"]) for line in lines]

    def test_a_report_has_the_figures_that_it_had(self):
        for version in self.each("*/report.json"):
            for path in version.glob("*/report.json"):
                before, now = json.loads(path.read_text()), self.told("report", path)
                self.assertEqual(len(now["trials"]), len(before["trials"]))
                for old, new in zip(before["trials"], now["trials"]):
                    self.assertEqual([repeat["images_per_s"] for repeat in new["repeats"]],
                                     [repeat["images_per_s"] for repeat in old["repeats"]])
                    for figure in FIGURES:
                        self.assertEqual(new["figures"][figure], old["figures"][figure], f"{figure} of {path}")

    def test_every_form_of_a_report_is_written(self):
        for version in self.each("input/report.json"):
            for form in ("table", "csv", "markdown", "html"):
                out = self.folder / f"{version.name}.{form}"
                self.succeed("report", version / "input", "--format", form, "--output", out)
                self.assertIn("optimized", out.read_text())

    def test_a_run_compared_with_itself_is_the_same(self):
        for version in self.each("input/report.json"):
            arms = self.told("compare", version / "input", version / "input")["arms"]
            self.assertEqual([arm["ratio"] for arm in arms], [1, 1])

    def test_a_killed_run_goes_on_with_what_it_measured(self):
        for version in self.each("input/journal.jsonl"):
            folder, kept, command = self.cut(version, "input", lines=3)
            self.succeed(*command, cwd=version)
            self.assertTrue((folder / "journal.jsonl").read_text().startswith("".join(kept)))
            for new, old in zip(self.trials_of(folder), self.trials_of(version / "input"), strict=True):
                self.assertEqual(new["key"], old["key"])
                self.assertGreaterEqual(len(new["repeats"]), REPEATS)
                self.assertEqual(new["repeats"][0]["images_per_s"], old["repeats"][0]["images_per_s"])
            self.assertEqual(len(self.keys_of(folder)), sum(len(one["repeats"]) for one in self.trials_of(folder)))

    def test_a_killed_run_of_a_spec_with_an_alias_goes_on(self):
        for version in self.each("input/journal.jsonl"):
            folder, kept, command = self.cut(version, "input", lines=3)
            self.assertEqual({one["spec"]["data"]["format"] for one in self.trials_of(version / "input")}, {"png"})
            self.succeed(*command, "--set", "data.format=png", cwd=version)
            self.assertTrue((folder / "journal.jsonl").read_text().startswith("".join(kept)))
            self.assertEqual({one["spec"]["data"]["format"] for one in self.trials_of(folder)}, {"images"})

    def test_a_killed_run_whose_spec_is_changed_is_left_as_it_is(self):
        for version in self.each("input/journal.jsonl"):
            folder, kept, command = self.cut(version, "input", lines=3)
            names = "image_size" if (folder / "run.json").exists() else "none of the 3 repeats"
            self.fail_with(2, *command, "--set", "model.image_size=64", says=names, cwd=version)
            self.fail_with(2, *command, "--set", "measure.max_total_seconds=60", says="--resume", cwd=version)
            self.assertEqual((folder / "journal.jsonl").read_text(), "".join(kept))

    def test_shards_hold_their_images(self):
        for version in self.each("set/*/*manifest.json"):
            told = self.told("data", "check", version / "set")
            manifests = list(version.glob("set/*/*manifest.json"))
            records = sum(json.loads(path.read_text())["images"] for path in manifests)
            self.assertEqual((told["problems"], told["images"], told["records"]), ([], IMAGES, records))

    def test_shards_can_be_trained_from(self):
        for version in self.each("set/*/*manifest.json"):
            for manifest in version.glob("set/*/*manifest.json"):
                form = manifest.parent.name
                told = self.told("--config", version / "input.json", "--set", f"data.format={form}", "--set",
                                 "data.deliver=u8", "--set", "measure.repeats=1", "--set",
                                 "measure.extra_repeats=0", "--output",
                                 self.folder / f"{form}-{version.name}", "--quiet", cwd=version)
                self.assertEqual({trial["images"] for trial in told["trials"]},
                                 {json.loads(manifest.read_text())["images"]})

    def test_what_is_staged_is_not_copied_again(self):
        for version in self.each("staged/staged-*.json"):
            times = {path: path.stat().st_mtime_ns for path in version.glob("staged/images/*")}
            self.succeed("data", "stage", "set", "staged", "--split", "train", cwd=version)
            self.assertEqual({path: path.stat().st_mtime_ns for path in version.glob("staged/images/*")}, times)
            self.assertEqual([path.name for path in version.glob("staged/staged-*")], ["staged-train-png.json"])

    def test_a_profile_predicts_its_own_rate(self):
        for version in self.each("profile.json"):
            entry = json.loads((version / "profile.json").read_text())["entries"][0]
            told = self.told("predict", "--config", version / "training.json", "--accelerator",
                             version / "profile.json", "--input-rate", "1e6", "--ranks", "1")
            step_s = 2 / entry["images_per_s"] + entry["update_s"]
            self.assertAlmostEqual(told["arms"][0]["rows"][0]["images_per_s"], 2 / step_s, delta=1e-6)
            self.assertEqual(told["arms"][0]["source"], entry["source"])

    @unittest.skipUnless(HAS_ONEDNN, NO_ONEDNN)
    def test_a_training_begins_from_a_checkpoint(self):
        for version in self.each("training/checkpoints/*/last.safetensors"):
            last = next(version.glob("training/checkpoints/*/last.safetensors"))
            told = self.told("--config", version / "training.json", "--set", "training.epochs=3", "--set",
                             f"training.checkpoint={last}", "--output", self.folder / version.name, cwd=version)
            before = json.loads(read_checkpoint(last)[0]["epochs"])["repeat"]["epochs"]
            now = told["trials"][0]["repeats"][0]["epochs"]
            self.assertEqual([epoch["epoch"] for epoch in now], [1, 2, 3])
            for key in ("training_loss", "validation_loss", "mean_auroc"):
                self.assertEqual([epoch[key] for epoch in now[:2]], [epoch[key] for epoch in before])

    @unittest.skipUnless(HAS_ONEDNN, NO_ONEDNN)
    def test_a_checkpoint_is_evaluated(self):
        for version in self.each("training/checkpoints/*/best.safetensors"):
            best = next(version.glob("training/checkpoints/*/best.safetensors"))
            told = self.told("evaluate", "--checkpoint", best, "--data", version / "set", "--split", "train", "--set",
                             "model.image_size=32")
            self.assertEqual((told["network"], told["image_size"]), ("mobilenet_v2", 32))
            self.assertEqual(told["mean"]["auroc"], 0.5, "all images have the score of weights of 0")

    @unittest.skipUnless(HAS_ONEDNN, NO_ONEDNN)
    def test_a_training_that_was_killed_before_its_line_of_the_journal_goes_on(self):
        for version in self.each("training/checkpoints/*/last.safetensors"):
            folder, _, command = self.cut(version, "training", lines=0)
            last = next(folder.glob("checkpoints/*/last.safetensors"))
            if "training" not in read_checkpoint(last)[0]:
                self.fail_with(2, *command, says=["version of chexbench", "training.checkpoint"], cwd=version)
                continue
            is_kept = (last.parent / "repeat.json").exists()
            self.succeed(*command, cwd=version)
            self.assertEqual(self.keys_of(folder) == self.keys_of(version / "training"), is_kept)

    @unittest.skipUnless(HAS_ONEDNN, NO_ONEDNN)
    def test_a_killed_training_whose_spec_is_changed_names_what_to_do(self):
        for version in self.each("training/checkpoints/*/last.safetensors"):
            _, _, command = self.cut(version, "training", lines=0)
            self.fail_with(2, *command, "--set", "training.weight_decay=0.1",
                           says=["version of chexbench", "training.checkpoint"], cwd=version)

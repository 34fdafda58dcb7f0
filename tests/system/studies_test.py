"""scripts/reproduce: a study's measurements, predictions and verdicts, and the parts that a smaller machine or budget
leaves out."""

import json
import os
import sys
import unittest
from unittest import mock

from harness import BINARY, HAS_ONEDNN, REAL_IMAGES, ROOT, SystemTest, run_program

sys.path.insert(0, str(ROOT / "scripts/studies"))
import dell_article  # noqa: E402
import engines  # noqa: E402
import salvaris_gpus  # noqa: E402
import sc19_poster  # noqa: E402
import worlds  # noqa: E402
from measuring import StudyError, chexbench, read_spec  # noqa: E402

REPRODUCE = ROOT / "scripts/reproduce"


def reproduce(*arguments):
    return run_program(REPRODUCE, *arguments, timeout=300, env={**os.environ, "CHEXBENCH_BINARY": str(BINARY)})


class Reproduce(SystemTest):
    def test_a_study_without_time_predicts_all_and_goes_on_with_more(self):
        data = self.folder / "data"
        self.succeed("data", "synth", data, "--images", "16", "--size", "128")
        self.succeed("data", "convert", data, "--split", "all")
        arguments = ("sc19-poster", "--data", data, "--output", self.folder / "out", "--budget", "0.01")
        done = reproduce(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        folder = self.folder / "out/sc19-poster"
        self.assertEqual({row["kind"] for row in self.rows(folder, "figure1.csv")}, {"predicted"})
        published = [row for row in self.rows(folder, "figure4.csv") if row["kind"] == "published"]
        self.assertEqual([row["gain_percent"] for row in published], ["8.39", "13.1"])
        self.assertIn("cannot be told", done.stdout)
        for name in ("README.md", "index.html"):
            text = (folder / name).read_text()
            self.assertIn("more than the budget leaves", text)
            self.assertIn("Converting to TFRecords is not always worth it", text)
        # Finished measurements are reused; interrupted ones are repeated.
        kept = folder / "runs/input-resnet50-fast/report.json"
        cut = folder / "runs/input-resnet50-opencv/report.json"
        before = kept.stat().st_mtime_ns
        report = json.loads(cut.read_text())
        cut.write_text(json.dumps({**report, "interrupted": True}))
        self.assertEqual(reproduce(*arguments).returncode, 0)
        self.assertEqual(kept.stat().st_mtime_ns, before)
        self.assertFalse(json.loads(cut.read_text())["interrupted"])

    def test_dells_article_without_time_has_its_time_lines_and_its_ablation(self):
        data = self.folder / "data"
        self.succeed("data", "synth", data, "--images", "16", "--size", "128")
        self.succeed("data", "convert", data, "--split", "all")
        done = reproduce("dell-article", "--data", data, "--output", self.folder / "out", "--budget", "0.01")
        self.assertEqual(done.returncode, 0, done.stderr)
        folder = self.folder / "out/dell-article"
        for name, lanes in (("figure1.csv", {"prepare", "train", "wait"}), ("figure2.csv", {"prepare", "train"})):
            self.assertLessEqual(lanes, {row["lane"] for row in self.rows(folder, name)})
        self.assertEqual({row["kind"] for row in self.rows(folder, "figure3.csv")}, {"predicted", "published"})
        self.assertEqual([row["step"] for row in self.rows(folder, "figure4.csv")][::6], ["naive", "optimized"])
        self.assertIn("Mapping ranks by socket is best", (folder / "README.md").read_text())
        self.assertIn("more than the budget leaves", (folder / "README.md").read_text())

    def test_salvariss_talk_without_time_predicts_its_gpus_and_says_what_is_missing(self):
        done = reproduce("salvaris", "--output", self.folder / "out", "--budget", "0.001")
        self.assertEqual(done.returncode, 0, done.stderr)
        folder = self.folder / "out/salvaris"
        rows = self.rows(folder, "figure1.csv")
        self.assertEqual({row["kind"] for row in rows}, {"predicted", "published"})
        for device in salvaris_gpus.DEVICES:
            self.assertEqual([int(row["ranks"]) for row in rows if (row["kind"], row["device"], row["precision"])
                              == ("predicted", device, "f32")], list(salvaris_gpus.RANKS))
        links = {row["network"] for row in self.rows(folder, "figure5.csv") if row["device"] == "v100"}
        self.assertEqual(links, {"10 GbE", "25 GbE", "FDR InfiniBand", "EDR InfiniBand", "NVLink"})
        for name in ("README.md", "index.html"):
            text = (folder / name).read_text()
            self.assertIn("making its data set takes more than the budget leaves", text)
            self.assertIn("Not all data loaders are equal", text)
        self.assertFalse((folder / "runs").exists())

    def test_salvariss_talk_refuses_a_data_set_that_fills_no_batch_and_one_without_tfrecords(self):
        for images, code, says in ((16, 3, "it has 16 images, and a batch of this study 64"),
                                   (80, 3, "no TFRecord shards")):
            data = self.folder / f"data{images}"
            self.succeed("data", "synth", data, "--images", images, "--size", "32")
            done = reproduce("salvaris", "--data", data, "--output", self.folder / "out")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(says, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_every_spec_of_salvariss_talk_can_be_run_by_itself(self):
        data = self.folder / "data"
        self.succeed("data", "synth", data, "--images", "80", "--size", "32")
        self.succeed("data", "convert", data, "--split", "all")
        specs = sorted((ROOT / "configs/studies/salvaris").glob("*.json"))
        self.assertEqual(len(specs), 7)
        for spec in specs:
            root = ["--set", f"data.root={data}"] if spec.name.startswith("storage-") else []
            ranks = 2 if spec.name == "network.json" else 1
            self.succeed("--config", spec, *root, "--dry-run", "--ranks", ranks, cwd=ROOT)

    def test_what_cannot_be_is_said(self):
        for arguments, code, says in ((["sc20"], 2, "invalid choice: 'sc20'"),
                                      (["sc19-poster", "--budget", "-1"], 2, "invalid minutes value: '-1'"),
                                      (["sc19-poster", "--data", self.folder / "none"], 3, "none")):
            done = reproduce(*arguments, "--output", self.folder / "out")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(says, done.stderr)
            self.assertNotIn("Traceback", done.stderr)


class RealEngines(unittest.TestCase):
    def test_a_real_engine_resets_what_a_spec_emulates(self):
        made = engines.Engine("onednn").settings({"engine": "emulated:v100", "emulation": {"cores_per_accelerator": 10},
                                                  "comm": {"model": "alpha_beta", "alpha_s": 1e-6}})
        self.assertEqual(made, ["engine=onednn", "emulation.cores_per_accelerator=null", "comm.model=null",
                                "comm.alpha_s=null", "cores_per_rank=1"])
        self.assertEqual(engines.Engine().settings({"emulation": {}}), [])

    @unittest.skipUnless(HAS_ONEDNN, "built without oneDNN")
    def test_the_specs_of_the_studies_that_train_for_real_are_valid_for_cpus(self):
        real = engines.Engine("onednn")
        for study, spec in ((sc19_poster, "resnet50"), (sc19_poster, "densenet121"), (dell_article, "densenet121")):
            path = study.SPECS / f"{spec}.json"
            settings = [*real.settings(read_spec(path)), "ranks=1", "sweep=null", "data.format=images",
                        "training.batch_size=1", "model.image_size=32", f"data.root={REAL_IMAGES}"]
            done = chexbench("--config", path, "--dry-run",
                                       *(text for setting in settings for text in ("--set", setting)))
            self.assertNotIn("emulated", done)

    def test_groups_have_no_more_ranks_than_the_machine_has_devices(self):
        with mock.patch.object(engines, "cores", lambda: 2):
            made = worlds.groups([("resnet50", "opencv", ranks) for ranks in (1, 2, 4)], engines.Engine("onednn"))
        self.assertEqual([(group.ranks, group.batch_size) for group in made], [(1, 8), (2, 8)])

    def test_a_study_without_a_real_training_refuses_an_engine(self):
        done = reproduce("malik", "--engine", "onednn")
        self.assertEqual(done.returncode, 2)
        self.assertIn("sc19-poster and dell-article do", done.stderr)

    def test_without_a_gpu_cuda_is_an_error(self):
        with mock.patch.object(engines, "chexbench", lambda *_: '{"gpus": []}'):
            with self.assertRaisesRegex(StudyError, "finds no GPU here"):
                engines.Engine("cuda").most_ranks()

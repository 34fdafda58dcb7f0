"""chexbench import dlio, and report --format dlio."""

import importlib.util
import json
import shutil
import unittest

from harness import ROOT, SystemTest, small_images

WORKLOAD = """model:
  name: retinanet
workflow:
  train: True
dataset:
  data_folder: data/retinanet/
  format: jpeg
  num_files_train: 1170301
  record_length_bytes: 322957
reader:
  data_loader: pytorch
  batch_size: 4
  read_threads: 2
  sample_shuffle: seed
train:
  computation_time: {step_s}
metric:
  au: 0.85
"""
QUICK = ("--set", f"data.root={small_images()}", "--set", "measure.steps=2", "--set", "measure.warmup_steps=1",
         "--set", "measure.repeats=2", "--set", "measure.extra_repeats=0")
FOREIGN = ROOT / "tests/data/foreign"


class Import(SystemTest):
    def workload(self, step_s=0.002, name="retinanet_b200.yaml"):
        path = self.folder / name
        path.write_text(WORKLOAD.format(step_s=step_s))
        return path

    def imported(self, *arguments, step_s=0.002):
        self.workload(step_s)
        return self.succeed("import", "dlio", "retinanet_b200.yaml", *arguments, cwd=self.folder)

    def test_what_it_makes_runs_as_it_says(self):
        told = self.imported().stdout
        self.assertIn("line 8: dataset.num_files_train 1170301; the images of data.root are measured", told)
        command = next(line for line in told.splitlines() if line.startswith("  chexbench --config ")).split()[1:]
        command = [word.replace("data/retinanet/", str(small_images())) for word in command]
        self.succeed(*command, *QUICK, cwd=self.folder)
        report = self.report(self.folder / "RUN")
        self.assertEqual(report["experiment"], "retinanet_b200")
        self.assertIn("au", [finding["kind"] for finding in report["findings"]])
        self.assertIn("retinanet_b200.yaml: retinanet, reader.batch_size 4", report["trials"][0]["engine_source"])

    def test_an_accelerator_that_starves_fails_and_one_that_has_time_passes(self):
        # A second for four images: any machine has them by then.
        for step_s, word, says in ((0.0001, "fail", "misses the pass mark of 85 %"),
                                   (1, "success", "reaches the pass mark of 85 %")):
            with self.subTest(word):
                self.imported("--overwrite", step_s=step_s)
                out = self.folder / word
                done = self.succeed("--config", "retinanet_b200/spec.json", *QUICK, "--output", out, "--explain",
                                    cwd=self.folder)
                self.assertIn(says, " ".join(done.stdout.split()))
                summary = json.loads(self.succeed("report", out, "--format", "dlio").stdout)
                self.assertEqual(summary["metric"]["train_au_meet_expectation"], word)
                real = json.loads((FOREIGN / "dlio-summary.json").read_text())
                self.assertEqual(summary.keys(), real.keys())
                self.assertEqual(summary["metric"].keys(), real["metric"].keys())
                # chexbench reads real summaries, and this one, too
                (out / "summary.json").write_text(json.dumps(summary))
                diagnosis = self.told("diagnose", out / "summary.json")
                self.assertAlmostEqual(1 - diagnosis["wait_share"], summary["metric"]["train_au_mean_percentage"] / 100,
                                       delta=0.02)

    def test_the_shipped_profiles_of_mlperf_storage_run(self):
        out = self.measured(engine="emulated:dlio-b200", model__image_size=800, comm__model="none",
                            training__precision="fp16", measure__target_au=0.85)
        self.assertIn("retinanet_b200.yaml", self.report(out)["trials"][0]["engine_source"])

    def test_nothing_is_overwritten_without_being_asked(self):
        self.imported()
        spec = self.folder / "retinanet_b200/spec.json"
        spec.write_text("mine")
        self.fail_with(6, "import", "dlio", self.folder / "retinanet_b200.yaml", "-o", spec.parent,
                       says=["spec.json is there already", "--overwrite"])
        self.assertEqual(spec.read_text(), "mine")
        self.succeed("import", "dlio", self.folder / "retinanet_b200.yaml", "-o", spec.parent, "--overwrite")
        self.assertIn("retinanet", spec.read_text())

    def test_a_bad_file_is_named_with_its_line(self):
        path = self.workload()
        path.write_text(path.read_text()[:12])
        self.fail_with(2, "import", "dlio", path, cwd=self.folder,
                       says="retinanet_b200.yaml:2: 'nam' is not 'key: value'")
        self.assertFalse((self.folder / "retinanet_b200").exists())
        self.fail_with(2, "import", "dlio", self.folder / "retinanet_b20.yaml", says="retinanet_b20.yaml")
        self.fail_with(2, "import", says="see `chexbench import --help`")

    def test_a_run_of_several_trials_or_without_an_accelerator_has_no_summary(self):
        out = self.measured()
        self.fail_with(3, "report", out, "--format", "dlio", says="no trial has an emulated accelerator")
        shutil.rmtree(out)
        self.succeed("--config", self.spec(engine="emulated:v100", sweep={"pipeline": ["naive", "optimized"]}),
                     "--output", out)
        self.fail_with(3, "report", out, "--format", "dlio", says=["2 trials", "--set for each swept key"])

    @unittest.skipUnless(importlib.util.find_spec("mlpstorage"), "PyPI has no mlpstorage; it is on GitHub")
    def test_the_reports_of_mlperf_storage_read_the_summary(self):
        from mlpstorage.reporting import ReportGenerator
        self.imported(step_s=0.0001)
        self.succeed("--config", "retinanet_b200/spec.json", *QUICK, "--output", "RUN", cwd=self.folder)
        run = self.folder / "results/training/retinanet/run/20261126_100143"
        (run / "dlio_config").mkdir(parents=True)
        self.succeed("report", self.folder / "RUN", "--format", "dlio", "-o", run / "summary.json")
        (run / "training_20261126_100143_metadata.json").write_text("{}")
        (run / "dlio_config/config.yaml").write_text(
            "workload: {model: {name: unet3d}, workflow: {train: true}, reader: {batch_size: 4}, "
            "dataset: {num_files_train: 1, num_samples_per_file: 1, record_length_bytes: 1, num_subfolders_train: 1}}")
        ReportGenerator(str(self.folder / "results")).generate_reports()
        metrics = json.loads((self.folder / "results/results.json").read_text())[0]["metrics"]
        self.assertEqual(metrics, json.loads((run / "summary.json").read_text())["metric"])

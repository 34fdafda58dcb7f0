"""The engine for GPUs from the command line, run on a host twin of a GPU."""

import re
import unittest

from epochs import EpochsTest
from harness import BINARY, GOLDEN, REAL_IMAGES, SystemTest


class GpuEngine(SystemTest):
    def test_networks_reach_the_golden_gradients(self):
        for golden in ("densenet121-97-batch1", "resnet50-128-batch3", "mobilenet_v2", "alexnet", "googlenet"):
            with self.subTest(golden):
                done = self.succeed("dev", "selftest", "engine", "--engine", "cuda", "--golden",
                                    GOLDEN / f"{golden}.json")
                self.assertIn("gradient norms", done.stdout)
                self.assertIn("host twin", done.stdout)

    def test_half_precision_is_held_against_f32_and_fused_against_separate_passes(self):
        done = self.succeed("dev", "selftest", "engine", "--engine", "cuda", "--precision", "fp16", "--model",
                            "mobilenet_v2", "--batch-size", "8", "--image-size", "64", timeout=300)
        self.assertIn("gradients, fused / (3 separate + 0.1)", done.stdout)
        self.assertNotIn("nothing was fused", done.stdout)

    def test_a_trial_trains_on_real_images_and_its_parts_sum_to_its_time(self):
        out = self.folder / "out"
        spec = self.spec(data__root=str(REAL_IMAGES), engine="cuda", model__image_size=32, measure__steps=3,
                         measure__repeats=1)
        self.succeed("--config", spec, "--set", "training.precision=fp16", "--output", out)
        row = self.rows(out)[0]
        self.assertEqual((row["engine"], row["precision"], row["emulated"]), ("cuda", "fp16", "false"))
        parts = ("wait", "upload", "compute", "exposed_communication", "update", "other")
        self.assertAlmostEqual(sum(float(row[f"{part}_share"]) for part in parts), 1, places=6, msg=row)

    def test_several_batches_a_step_train_as_one_that_holds_them_all(self):
        model = {"name": "resnet50", "image_size": 64, "batch_norm": "frozen"}
        losses = {}
        for batches, size in ((1, 4), (2, 2)):
            out = self.folder / f"{batches}"
            spec = self.spec(engine="cuda", model=model, measure={"warmup_steps": 0, "steps": 3, "repeats": 1},
                             training={"batch_size": size, "accumulate_steps": batches, "learning_rate": 1e-4})
            self.succeed("--config", spec, "--output", out)
            losses[batches] = [float(step["loss"]) for step in self.rows(out, "steps.csv")]
        self.assertEqual(len(set(losses[1])), 3)
        for one, several in zip(losses[1], losses[2], strict=True):
            self.assertAlmostEqual(one, several, delta=1e-3 * one, msg=losses)

    def test_a_dry_run_tells_the_memory_of_the_gpu(self):
        spec = self.spec(engine="cuda", training__batch_size=8)
        memory = {}
        for precision in ("f32", "fp16"):
            plan = self.succeed("--config", spec, "--set", f"training.precision={precision}", "--dry-run",
                                "--explain").stdout
            parts = re.findall(r"([0-9.]+) MB  (.+)", plan[plan.index("memory of a GPU"):])
            *lines, total = [float(megabytes) for megabytes, _ in parts]
            self.assertAlmostEqual(sum(lines), total, delta=0.3)
            memory[precision] = total
        self.assertLess(memory["fp16"], 0.8 * memory["f32"])


class GpuEpochs(EpochsTest):
    ENGINE = "cuda"
    IMAGES = 48  # the twin's loops are slow

    def test_an_interrupted_training_goes_on_to_the_bit(self):
        self.check_resume(ranks=None)

    def test_so_does_one_in_half_precision(self):
        self.check_resume(ranks=None, training__precision="fp16")

    @unittest.skipUnless((BINARY.parents[1] / "libchexbench_onednn.so").exists(), "built without oneDNN")
    def test_an_evaluation_gives_the_probabilities_that_cpus_give(self):
        self.train(self.training(training__epochs=1), self.folder / "out")
        rows = {}
        cpus = BINARY.parents[1] / "chexbench"  # the twin has no onednn
        for engine, program in (("cuda", BINARY), ("onednn", cpus)):
            judged = self.folder / engine
            self.ends_with(0, program, "evaluate", "--checkpoint", self.last(self.folder / "out"), "--data",
                           self.images, "--output", judged, "--set", f"engine={engine}")
            rows[engine] = self.rows(judged, "scores.csv")
        self.assertGreater(len(rows["cuda"]), 0)
        for ours, theirs in zip(rows["cuda"], rows["onednn"], strict=True):
            self.assertEqual(ours["file"], theirs["file"])
            for key in (key for key in ours if key.startswith("probability_")):
                self.assertAlmostEqual(float(ours[key]), float(theirs[key]), delta=1e-4, msg=ours["file"])

"""Optimizers and losses as people use them, and exclusive classes in the form of ImageNet, from data to scores."""

import json
import math
import struct
import unittest

from epochs import EpochsTest, read_checkpoint
from harness import HAS_ONEDNN, SystemTest, run

CLASSES = 6
HAS_JPEG = "this build writes no JPEGs" not in run("data", "synth", "/dev/null/none", "--images", "2", "--classes",
                                                   "2").stderr


def values_of(path):
    """The floats of each tensor of a checkpoint."""
    _, tensors, data = read_checkpoint(path)
    values = {}
    for name, tensor in tensors.items():
        begin, end = tensor["data_offsets"]
        if tensor["dtype"] == "F32":
            values[name] = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return values


@unittest.skipUnless(HAS_ONEDNN, "trains on the CPU")
class Options(EpochsTest):
    OPTIONS = {"training__optimizer": "adamw", "training__weight_decay": 0.05, "training__clip_gradient_norm": 0.5,
               "training__ema_decay": 0.9, "training__label_smoothing": 0.1, "training__class_weights": 2}

    def test_a_training_with_all_of_them_goes_on_to_the_bit(self):
        self.check_resume(ranks=None, **self.OPTIONS)

    def test_the_average_is_what_validates_and_what_is_kept_as_best(self):
        out = self.folder / "out"
        self.train(self.training(training__epochs=1, **self.OPTIONS), out)
        last, best = values_of(self.last(out)), values_of(self.last(out).with_name("best.safetensors"))
        weights = [name for name in best if "running_" not in name]
        self.assertTrue(all(best[name] == last[f"ema.{name}"] for name in weights))
        self.assertTrue(any(best[name] != last[name] for name in weights))
        judged = {}
        for name in ("best", "last"):
            told = self.succeed("evaluate", "--checkpoint", self.last(out).with_name(f"{name}.safetensors"), "--data",
                                self.images, "--format", "json").stdout
            judged[name] = json.loads(told)["labels"]
        self.assertEqual(judged["best"], judged["last"], "evaluate takes the average from either file")

    def test_a_training_without_an_average_does_not_go_on_with_one(self):
        out = self.folder / "out"
        self.train(self.training(training__epochs=1), out)
        spec = self.training(training__checkpoint=str(self.last(out)), training__ema_decay=0.9)
        self.fail_with(3, "--config", spec, says="had no moving average of the weights, so training.ema_decay cannot")

    def test_labels_that_are_no_classes_are_refused(self):
        self.fail_with(3, "--config", self.training(training__task="classes"),
                       says="training.task is classes, of which each image has exactly one")


@unittest.skipUnless(HAS_ONEDNN and HAS_JPEG, "trains on the CPU, on JPEGs")
class Classes(SystemTest):
    def setUp(self):
        super().setUp()
        self.images = self.folder / "set"
        self.succeed("data", "synth", self.images, "--images", "360", "--size", "64", "--classes", str(CLASSES))

    def training(self, **keys):
        return self.spec(**{
            "data": {"root": str(self.images), "format": "tfrecord", "layout": "imagenet",
                     "labels": {"classes": CLASSES}},
            "model": {"name": "mobilenet_v2", "image_size": 32}, "engine": "onednn", "pipeline": "optimized",
            "training": {"batch_size": 8, "task": "classes", "label_smoothing": 0.1, "epochs": 1},
            "measure": {"warmup_steps": 1}} | keys)

    def test_a_training_is_validated_and_judged_by_top1_and_top5(self):
        out = self.folder / "out"
        self.succeed("--config", self.training(training__epochs=2), "--output", out)
        epochs = self.report(out)["trials"][0]["repeats"][0]["epochs"]
        for epoch in epochs:
            self.assertIsNone(epoch["mean_auroc"])
            self.assertTrue(0 <= epoch["top1"] <= epoch["top5"] <= 1)
            low, high = epoch["top1_ci95"]
            self.assertTrue(low <= epoch["top1"] <= high)
        self.assertLess(abs(epochs[0]["training_loss"] - math.log(CLASSES)), 1.5)
        row = self.rows(out)[0]
        self.assertEqual(float(row["top1"]), max(epoch["top1"] for epoch in epochs))
        self.assertIn("reaches a top-1 accuracy of", (out / "report.html").read_text())
        checkpoint = next((out / "checkpoints").glob("*/last.safetensors"))
        data = ["--data", self.images, "--split", "val", "--set", "data.format=tfrecord"]
        judged = self.folder / "judged"
        self.succeed("evaluate", "--checkpoint", checkpoint, *data, "--output", judged)
        rows, evaluation = self.rows(judged, "scores.csv"), json.loads((judged / "evaluation.json").read_text())
        self.assertEqual(len(rows), 36)
        self.assertEqual(evaluation["task"], "classes")
        self.assertEqual(evaluation["top1"], sum(row["place"] == "1" for row in rows) / len(rows))
        self.assertEqual(evaluation["top5"], sum(int(row["place"]) <= 5 for row in rows) / len(rows))
        self.assertEqual(sum(one["images"] for one in evaluation["classes"]), len(rows))
        for row in rows:
            self.assertEqual(row["place"] == "1", row["class_1"] == row["labels"])
            self.assertGreaterEqual(float(row["probability_1"]), float(row["probability_2"]))
        other = self.folder / "ranks"
        self.succeed("evaluate", "--checkpoint", checkpoint, *data, "--output", other, ranks=2)
        self.assertEqual((other / "scores.csv").read_bytes(), (judged / "scores.csv").read_bytes())
        self.assertIn("top-5", self.succeed("evaluate", "--checkpoint", checkpoint, *data).stdout)

    def test_a_training_validates_with_the_shards_of_the_validation(self):
        out = self.folder / "out"
        told = self.succeed("--config", self.training(), "--output", out).stderr
        self.assertIn("the 36 images of split val validate, and all 324 of split train are trained on", told)
        self.assertEqual(self.report(out)["trials"][0]["repeats"][0]["epochs"][0]["validation_images"], 36)
        for shard in self.images.glob("validation-*"):
            shard.unlink()
        out = self.folder / "share"
        told = self.succeed("--config", self.training(training__validation_share=0.25), "--output", out).stderr
        self.assertNotIn("of split val validate", told)
        self.assertEqual(self.report(out)["trials"][0]["repeats"][0]["epochs"][0]["validation_images"], 81)

    def test_every_engine_takes_them(self):
        for engine in ("none", "emulated:v100", "onednn"):
            out = self.folder / engine.replace(":", "-")
            spec = self.training(training__epochs=0, engine=engine, measure__steps=3, measure__repeats=1,
                                 model__name="resnet50", model__image_size=224 if engine != "onednn" else 32)
            self.succeed("--config", spec, "--output", out)
            self.assertGreater(float(self.rows(out)[0]["images_per_s"]), 0)

    def test_ready_made_batches_have_as_many_classes(self):
        spec = self.training(data={"format": "synthetic", "labels": {"classes": 1000}}, training__epochs=0,
                             measure__steps=2, measure__repeats=1)
        self.succeed("--config", spec, "--output", self.folder / "out")

    def test_a_class_out_of_range_is_named_with_its_record(self):
        self.fail_with(3, "--config", self.training(data__labels__classes=CLASSES - 1),
                       says=f"expected a class from 1 to {CLASSES - 1}")

    def test_the_shipped_spec_runs_on_them(self):
        out = self.folder / "out"
        self.succeed("--config", "imagenet", "--set", f"data.root={self.images}", "--set", "engine=none",
                     "--set", f"data.labels.classes={CLASSES}", "--set", "measure.repeats=1", "--output", out)
        self.assertEqual(self.rows(out)[0]["model"], "resnet50")


if __name__ == "__main__":
    unittest.main()

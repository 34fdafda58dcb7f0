"""Optimizers and losses as people use them, and exclusive classes in the form of ImageNet, from data to scores."""

import collections
import json
import math
import re
import struct
import unittest

from browser import shared_tab
from epochs import EpochsTest, read_checkpoint
from harness import HAS_ONEDNN, SystemTest, run
from report_test import NEEDS_BROWSER
from web_server import Server

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
        self.check_confusions_and_certainty(rows, evaluation)
        curve = self.rows(judged, "reliability.csv")
        self.assertEqual({row["finding"] for row in curve}, {"most probable class"})
        self.assertEqual(sum(int(row["images"]) for row in curve), len(rows))

    def check_confusions_and_certainty(self, rows, evaluation):
        confused = collections.Counter((row["labels"], row["class_1"]) for row in rows if row["place"] != "1")
        told = evaluation["confusions"]
        self.assertEqual({(one["class"], one["taken_for"]): one["images"] for one in told}, confused)
        counts = [one["images"] for one in told]
        self.assertEqual(counts, sorted(counts, reverse=True))
        bins = evaluation["reliability"]
        self.assertEqual(sum(one["images"] for one in bins), len(rows))
        self.assertEqual(sum(one["positives"] for one in bins), sum(row["place"] == "1" for row in rows))
        apart = sum(abs(one["sum_of_probabilities"] - one["positives"]) for one in bins) / len(rows)
        self.assertAlmostEqual(evaluation["calibration_error"], apart)

    def of_many_classes(self, page):
        """The same page with 1000 classes, so many that not all are drawn, and names that are not HTML."""
        def edit(data):
            data["classes"] = [{"class": f"<i>n{i:08}</i> with a long name", "images": i % 3,
                                "top1": i / 1000 if i % 3 else None, "top5": 1 if i % 3 else None}
                               for i in range(1000)]
            data["confusions"] = [{"class": f"<i>n{i:08}</i> with a long name", "taken_for": "n00000001",
                                   "images": 100 - i, "of_images": 100} for i in range(1, 100)]
        begin, end = '<script type="application/json" id="data">', "</script>"
        text = page.read_text()
        at = text.index(begin) + len(begin)
        data = json.loads(text[at:text.index(end, at)])
        edit(data)
        many = page.with_name("many.html")
        many.write_text(text[:at] + json.dumps(data).replace("<", "\\u003c") + text[text.index(end, at):])
        return many

    @NEEDS_BROWSER
    def test_the_page_has_its_charts_in_each_width(self):
        out = self.folder / "out"
        self.succeed("--config", self.training(), "--output", out)
        self.succeed("evaluate", "--checkpoint", next((out / "checkpoints").glob("*/last.safetensors")), "--data",
                     self.images, "--split", "val", "--set", "data.format=tfrecord", "--output", out / "judged")
        page = out / "judged/evaluation.html"
        if "Chart.js v" not in page.read_text():
            self.skipTest("built without Chart.js")
        tab = shared_tab()
        for one in (page, self.of_many_classes(page)):
            with self.subTest(one.name):
                self.check_page(tab, one)

    def check_page(self, tab, page):
        many = page.name == "many.html"
        for width in (400, 1200):
            titles = tab.open_unfolded(page, width)
            self.assertIn(f"Top-1 accuracy of {'the 20 classes with the lowest' if many else 'all classes'}", titles)
            self.assertIn("Reliability of the most probable class", titles)
            rows = "document.querySelectorAll('#classes-table tbody tr').length"
            self.assertEqual(tab.evaluate(rows), 666 if many else CLASSES)
            self.assertEqual(tab.evaluate("document.querySelectorAll('main i').length"), 0)
            answer = tab.evaluate("document.querySelector('section.verdict p:not(.note)').textContent")
            self.assertRegex(answer, r"^Top-1 accuracy [01]\.\d{3}.*; top-5 accuracy [01]\.\d{3}.*, "
                                     r"over 36 images of \d+ classes\.$")
        self.assertEqual(tab.serious_findings(), [])
        self.assertEqual(tab.errors, [])

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
        spec = self.training(data={"format": "ready", "labels": {"classes": 1000}}, training__epochs=0,
                             measure__steps=2, measure__repeats=1)
        self.succeed("--config", spec, "--output", self.folder / "out")

    def test_a_class_out_of_range_is_named_with_its_record(self):
        self.fail_with(3, "--config", self.training(data__labels__classes=CLASSES - 1),
                       says=f"expected a class from 1 to {CLASSES - 1}")

    def test_ranks_share_the_walk_through_the_shards(self):
        seen, many = {}, self.folder / "many"  # a shard for each rank
        self.succeed("data", "synth", many, "--images", "1440", "--size", "32", "--classes", str(CLASSES))
        for ranks in (1, 2):
            with Server(many) as server:
                out = self.folder / f"out{ranks}"
                self.succeed("--config", self.training(data__root=server.url, training__epochs=0, engine="none",
                                                       measure__steps=2, measure__repeats=1),
                             "--output", out, ranks=ranks)
                # Only the walk reads those of the other split.
                seen[ranks] = sorted(path for path, _ in server.requests if "validation-" in path)
            self.assertEqual(self.report(out)["trials"][0]["images"], 1296)
        self.assertGreater(len(seen[1]), 0)
        self.assertEqual(seen[2], seen[1])

    def test_worlds_of_several_sizes_and_splits_share_it_too(self):
        out = self.folder / "out"
        spec = self.training(ranks=[1, 2], sweep={"data.split": ["train", "val", "all"]}, training__epochs=0,
                             engine="none", pipeline="naive", measure__steps=2, measure__repeats=1)
        self.succeed("--config", spec, "--output", out, ranks=3)
        images = sorted(trial["images"] for trial in self.report(out)["trials"])
        self.assertEqual(images, [36, 36, 324, 324, 360, 360])

    def test_each_rank_tells_the_same_of_a_damaged_shard(self):
        damaged = next(self.images.glob("**/validation-*"))  # of the second rank's share
        said = []
        with open(damaged, "r+b") as shard:
            shard.seek(8)
            shard.write(b"CRC!")
        for ranks in (1, 2):
            done = self.fail_with(3, "--config", self.training(training__epochs=0, engine="none"), "--output",
                                  self.folder / "out", ranks=ranks, says=damaged.name)
            said.append({re.sub(r".*error: (rank \d: )?", "", line) for line in done.stderr.splitlines()
                         if "error: " in line})
        self.assertEqual(len(said[0]), 1)
        self.assertEqual(said[1], said[0])

    def test_an_answer_advises_what_their_shards_can_do(self):
        done = self.succeed(self.images, "--time", "1", "--output", self.folder / "out")
        self.assertIn("images in tfrecord shards", done.stdout)
        self.assertNotIn("data convert", done.stdout)
        copy = self.folder / "copy"
        self.succeed("data", "stage", self.images, copy, "--split", "all", "--format", "tfrecord")
        self.succeed("--config", self.training(data__root=str(copy), training__epochs=0, engine="none"), "--output",
                     self.folder / "run")

    def test_the_shipped_spec_runs_on_them(self):
        out = self.folder / "out"
        self.succeed("--config", "imagenet", "--set", f"data.root={self.images}", "--set", "engine=none",
                     "--set", f"data.labels.classes={CLASSES}", "--set", "measure.repeats=1", "--output", out)
        self.assertEqual(self.rows(out)[0]["model"], "resnet50")

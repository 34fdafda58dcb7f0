"""chexbench evaluate: a trained network evaluated on a data set, and probabilities of single images."""

import csv
import json
import math
import shutil
import struct
import tempfile
import unittest
from pathlib import Path

from browser import shared_tab
from epochs import read_checkpoint
from harness import HAS_ONEDNN, REAL_IMAGES, SystemTest, run
from report_test import NEEDS_BROWSER

FIGURES = ("auroc", "average_precision", "brier")


def auroc(scores, labels):
    """By its definition: the share of pairs in order, ties as halves."""
    pairs = [(s > t) + (s == t) / 2 for s, has in zip(scores, labels) if has
             for t, other in zip(scores, labels) if not other]
    return sum(pairs) / len(pairs)


class Trained(SystemTest):
    """A network that was trained for an epoch, once for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        if not HAS_ONEDNN:
            raise unittest.SkipTest("built without oneDNN")
        cls.shared = Path(tempfile.mkdtemp(prefix="chexbench-evaluate-"))
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        cls.set = cls.shared / "set"
        run("data", "synth", cls.set, "--images", "120", "--size", "64")
        spec = cls.shared / "spec.json"
        spec.write_text(json.dumps({
            "experiment": "trained", "data": {"root": str(cls.set)}, "pipeline": "optimized", "engine": "onednn",
            "model": {"name": "mobilenet_v2", "image_size": 32}, "preprocess": {"crop": 0.9, "flip": True},
            "training": {"batch_size": 8, "epochs": 1}, "measure": {"warmup_steps": 1, "repeats": 1}}))
        done = run("--config", spec, "--output", cls.shared / "out")
        assert done.returncode == 0, done.stderr
        cls.checkpoint = next((cls.shared / "out/checkpoints").glob("*/last.safetensors"))

    def evaluate(self, out, *arguments, checkpoint=None, **options):
        """The rows of scores.csv, and evaluation.json."""
        self.succeed("evaluate", "--checkpoint", checkpoint or self.checkpoint, "--output", out, *arguments, **options)
        return self.rows(out, "scores.csv"), json.loads((out / "evaluation.json").read_text())

    def refuse(self, code, *arguments, says, checkpoint=None):
        self.fail_with(code, "evaluate", "--checkpoint", checkpoint or self.checkpoint, *arguments, says=says)

    def noted(self, name, notes):
        """Writes the checkpoint with other notes, made by notes() from its own."""
        path = self.folder / name
        metadata, tensors, data = read_checkpoint(self.checkpoint)
        header = json.dumps({"__metadata__": notes(metadata)} | tensors).encode()
        header += b" " * (-len(header) % 8)
        path.write_bytes(len(header).to_bytes(8, "little") + header + data)
        return path


class Evaluate(Trained):
    def test_the_scores_are_the_same_bytes_on_one_and_two_ranks(self):
        for crops in ([], ["--ten-crop"]):
            for ranks in (1, 2):
                self.evaluate(self.folder / str(ranks), "--data", self.set, "--split", "all", *crops, ranks=ranks)
            first, second = ((self.folder / ranks / "scores.csv").read_bytes() for ranks in "12")
            self.assertEqual(first, second)

    def test_shards_have_the_scores_of_their_images(self):
        self.evaluate(self.folder / "png", "--data", self.set)
        self.succeed("data", "convert", self.set, "--split", "test")
        self.evaluate(self.folder / "shards", "--data", self.set, "--set", "data.format=tfrecord")
        self.assertEqual(*((self.folder / name / "scores.csv").read_text() for name in ("png", "shards")))

    def test_scores_and_figures_agree(self):
        rows, evaluation = self.evaluate(self.folder / "out", "--data", self.set)
        listed = (self.set / "test_list.txt").read_text().split()
        self.assertEqual([row["file"] for row in rows], sorted(listed))
        self.assertEqual(evaluation["images"], len(listed))
        self.assertEqual(evaluation["network"], "mobilenet_v2")
        self.assertEqual(evaluation["image_size"], 32)
        with open(self.set / "Data_Entry_2017.csv", newline="") as table:
            said = {row["Image Index"]: row for row in csv.DictReader(table)}
        for row in rows:
            self.assertEqual(row["labels"], said[row["file"]]["Finding Labels"])
            self.assertEqual(row["patient"], said[row["file"]]["Patient ID"])
        judged = 0
        for finding in evaluation["labels"]:
            labels = [finding["label"] in row["labels"].split("|") for row in rows]
            scores = [float(row[f"probability_{finding['label']}"]) for row in rows]
            self.assertEqual(finding["positives"], sum(labels))
            brier = sum((score - label) ** 2 for score, label in zip(scores, labels)) / len(rows)
            self.assertAlmostEqual(finding["brier"], brier, places=6)
            self.assertEqual(sum(one["images"] for one in finding["reliability"]), len(rows))
            if 0 < sum(labels) < len(rows):
                judged += 1
                self.assertAlmostEqual(finding["auroc"], auroc(scores, labels), places=12)
        self.assertGreater(judged, 0)

    def test_curves_begin_and_end_where_they_must(self):
        out = self.folder / "out"
        _, evaluation = self.evaluate(out, "--data", self.set)
        judged = [label for label in evaluation["labels"] if label["auroc"] is not None]
        for label in judged:
            self.assertEqual(label["roc"]["sensitivity"], sorted(label["roc"]["sensitivity"]))
            self.assertEqual(label["roc"]["sensitivity"][-1], 1)
        points = self.rows(out, "roc.csv")
        self.assertEqual(len(points), 51 * len(evaluation["labels"]))
        self.assertEqual([float(row["sensitivity"]) for row in points if row["finding"] == judged[0]["label"]],
                         judged[0]["roc"]["sensitivity"])
        images = sum(int(row["images"]) for row in self.rows(out, "reliability.csv"))
        self.assertEqual(images, evaluation["images"] * len(evaluation["labels"]))

    @NEEDS_BROWSER
    def test_the_page_has_its_charts_in_each_width(self):
        self.evaluate(self.folder / "out", "--data", self.set)
        page = self.folder / "out/evaluation.html"
        if "Chart.js v" not in page.read_text():
            self.skipTest("built without Chart.js")
        tab = shared_tab()
        for width in (400, 1200):
            titles = tab.open_unfolded(page, width)
            self.assertIn("ROC curve, mean over findings", titles)
            self.assertIn("Reliability: Hernia", titles)
            self.assertEqual(tab.evaluate("document.querySelectorAll('#findings-table tbody tr').length"), 14)
        self.assertEqual(tab.serious_findings(), [])
        self.assertEqual(tab.errors, [])

    def test_standard_output_is_a_table_or_another_format(self):
        table = self.succeed("evaluate", "--checkpoint", self.checkpoint, "--data", self.set).stdout
        self.assertIn("mobilenet_v2 of", table)
        self.assertIn("bootstrap over patients", table)
        rows = list(csv.DictReader(self.succeed("evaluate", "--checkpoint", self.checkpoint, "--data", self.set,
                                                "--format", "csv").stdout.splitlines()))
        self.assertEqual(len(rows), 14)
        evaluation = self.told("evaluate", "--checkpoint", self.checkpoint, "--data", self.set)
        for row, finding in zip(rows, evaluation["labels"], strict=True):
            for figure in FIGURES:
                self.assertEqual(row[figure], "" if finding[figure] is None else repr(finding[figure]))

    def test_single_images_have_the_probabilities_of_their_set(self):
        rows, _ = self.evaluate(self.folder / "out", "--data", self.set)
        paths = [self.set / "images" / row["file"] for row in reversed(rows[:3])]
        single, evaluation = self.evaluate(self.folder / "single", *paths)
        self.assertEqual([row["file"] for row in single], [str(path) for path in paths])
        for one, row in zip(single, reversed(rows[:3]), strict=True):
            for key in (key for key in row if key.startswith("probability_")):
                self.assertAlmostEqual(float(one[key]), float(row[key]), places=5)
        self.assertEqual(len(evaluation["images"]), 3)
        table = self.succeed("evaluate", "--checkpoint", self.checkpoint, paths[0]).stdout
        self.assertRegex(table, rf"{paths[0]} +Atelectasis +0\.\d{{4}}\n")

    def test_maps_are_written_beside_the_probabilities(self):
        rows, _ = self.evaluate(self.folder / "out", "--data", self.set)
        paths = [self.set / "images" / row["file"] for row in rows[:2]]
        mapped, evaluation = self.evaluate(self.folder / "maps", *paths, "--cam", "2")
        for image, row, whole in zip(evaluation["images"], mapped, rows):
            for key in (key for key in row if key.startswith("probability_")):
                self.assertAlmostEqual(float(row[key]), float(whole[key]), places=5)
            most = sorted(image["probabilities"].values(), reverse=True)[:2]
            self.assertEqual([image["probabilities"][one["label"]] for one in image["class_maps"]], most)
            for one in image["class_maps"]:
                self.assertEqual(len(one["values"]), one["rows"] * one["columns"])
                logit = sum(one["values"]) / len(one["values"])
                self.assertAlmostEqual(1 / (1 + math.exp(-logit)), image["probabilities"][one["label"]], places=5)
                png = (self.folder / "maps/cam" / one["file"]).read_bytes()
                self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
                self.assertEqual(struct.unpack(">IIBB", png[16:26]), (32, 32, 8, 2))

    def test_ten_crops_give_other_probabilities(self):
        whole, _ = self.evaluate(self.folder / "whole", "--data", self.set)
        crops, evaluation = self.evaluate(self.folder / "crops", "--data", self.set, "--ten-crop")
        self.assertEqual(evaluation["crops"], 10)
        self.assertNotEqual(whole, crops)

    def test_weights_without_notes_need_the_name_of_their_network(self):
        plain = self.noted("plain.safetensors", lambda notes: {})
        self.refuse(2, "--data", self.set, checkpoint=plain, says=[str(plain), "add --set model.name"])
        rows, _ = self.evaluate(self.folder / "out", "--data", self.set, "--set", "model.name=mobilenet_v2",
                                "--set", "model.image_size=32", "--set", "preprocess.crop=0.9", checkpoint=plain)
        self.assertEqual(rows, self.evaluate(self.folder / "same", "--data", self.set)[0])

    def test_a_checkpoint_of_an_older_version_needs_the_size_of_its_images(self):
        old = self.noted("old.safetensors", lambda notes: {key: notes[key] for key in notes if key != "use"})
        self.refuse(2, "--data", self.set, checkpoint=old, says=[str(old), "--set model.image_size"])
        rows, _ = self.evaluate(self.folder / "out", "--data", self.set, "--set", "model.image_size=32",
                                "--set", "preprocess.crop=0.9", checkpoint=old)
        self.assertEqual(rows, self.evaluate(self.folder / "same", "--data", self.set)[0])


class BadInput(Trained):
    def test_maps_of_what_has_none(self):
        image = next((self.set / "images").iterdir())
        out = self.folder / "out"
        self.refuse(2, image, "--cam", "1", says="add --output DIR")
        self.refuse(2, "--data", self.set, "--cam", "1", "--output", out, says="--cam shows single images")
        self.refuse(2, image, "--ten-crop", "--cam", "1", "--output", out, says="--cam shows single images")
        self.refuse(2, image, "--cam", "1", "--output", out, "--set", "engine=emulated:v100",
                    says="maps are computed by engine onednn")

    def test_a_checkpoint_of_another_network(self):
        self.refuse(2, "--data", self.set, "--set", "model.name=resnet50",
                    says=[str(self.checkpoint), "it is a mobilenet_v2, and --set model.name says resnet50"])
        plain = self.noted("plain.safetensors", lambda notes: {})
        self.refuse(3, "--data", self.set, "--set", "model.name=resnet50", checkpoint=plain,
                    says=[str(plain), "no 'fc.weight'", "it is of another network"])

    def test_a_checkpoint_that_is_missing_or_none(self):
        missing = self.folder / "missing.safetensors"
        self.refuse(3, "--data", self.set, checkpoint=missing, says=str(missing))
        self.refuse(3, "--data", self.set, checkpoint=REAL_IMAGES / "README.md", says="README.md")

    def test_a_checkpoint_with_damaged_notes(self):
        for use in ("{", "[]", '{"model": {"image_size": -1}}'):
            damaged = self.noted("damaged.safetensors", lambda notes, use=use: notes | {"use": use})
            self.refuse(3, "--data", self.set, checkpoint=damaged, says=[str(damaged), "damaged: its 'use' is no spec"])
        unknown = self.noted("unknown.safetensors", lambda notes: notes | {"network": "net\x1b[1m"})
        self.refuse(3, "--data", self.set, checkpoint=unknown,
                    says=[str(unknown), "it is of the network 'net\\x1b[1m', which this version does not have"])

    def test_notes_set_nothing_beyond_the_use_of_the_network(self):
        use = {"model": {"image_size": 32}, "preprocess": {"crop": 0.9}, "engine": "none", "data": {"root": "x"},
               "training": {"batch_size": 3}}
        bold = self.noted("bold.safetensors", lambda notes: notes | {"use": json.dumps(use)})
        rows, _ = self.evaluate(self.folder / "out", "--data", self.set, checkpoint=bold)
        self.assertEqual(rows, self.evaluate(self.folder / "same", "--data", self.set)[0])

    def labelled(self, columns):
        """A set of two images with these labels, one image with each."""
        root = self.folder / "own"
        root.mkdir()
        for name in ("a.png", "b.png"):
            shutil.copy(next((self.set / "images").iterdir()), root / name)
        (root / "labels.csv").write_text(f"file,{','.join(columns)}\na.png{',1' * len(columns)}\n"
                                         f"b.png{',0' * len(columns)}\n")
        return root

    def test_labels_that_do_not_match(self):
        self.refuse(3, "--data", self.labelled(["Mass", "Nodule"]), "--split", "all",
                    says=[str(self.checkpoint), "it has 14 outputs", "2 labels (Mass, Nodule)", "--set data.labels"])

    def test_labels_in_another_order(self):
        self.refuse(3, "--data", self.labelled([f"Finding{number}" for number in range(14)]), "--split", "all",
                    says=["it was trained for 'Atelectasis' where", "'Finding0' (label 1 of 14)"])

    def test_a_split_without_positives_is_told_and_not_averaged(self):
        root = self.folder / "few"
        shutil.copytree(self.set, root)
        with open(root / "Data_Entry_2017.csv", newline="") as table:
            said = {row["Image Index"]: row["Finding Labels"] for row in csv.DictReader(table)}
        without = [name for name, labels in said.items() if "Hernia" not in labels.split("|")]
        (root / "test_list.txt").write_text("\n".join(without[:40]) + "\n")
        (root / "train_val_list.txt").write_text("\n".join(name for name in said if name not in without[:40]) + "\n")
        done = self.succeed("evaluate", "--checkpoint", self.checkpoint, "--data", root)
        self.assertIn("Hernia has no AUROC and is left out of the means: no image of the split has it",
                      " ".join(done.stdout.split()))
        _, evaluation = self.evaluate(self.folder / "out", "--data", root)
        self.assertIn("Hernia", evaluation["left_out_of_means"])
        for figure in FIGURES:
            kept = [one[figure] for one in evaluation["labels"] if one["label"] not in evaluation["left_out_of_means"]]
            self.assertAlmostEqual(evaluation["mean"][figure], sum(kept) / len(kept), places=12)

    def test_an_empty_split(self):
        root = self.folder / "empty"
        shutil.copytree(self.set, root)
        (root / "test_list.txt").write_text("")
        self.refuse(3, "--data", root, says=["split 'test'", "is empty"])

    def test_a_missing_data_set_or_image(self):
        self.refuse(3, "--data", self.folder / "nowhere", says="nowhere")
        self.refuse(3, self.folder / "nothing.png", says=["nothing.png", "no such file"])
        self.refuse(3, self.set, says=[str(self.set), "not a file", "--data"])

    def test_an_image_that_cannot_be_decoded(self):
        root = self.folder / "broken"
        shutil.copytree(self.set, root)
        victim = (root / "test_list.txt").read_text().split()[0]
        (root / "images" / victim).write_bytes(b"no image")
        self.refuse(3, "--data", root, says=[victim, "--set data.on_bad_record=skip"])
        self.refuse(3, root / "images" / victim, says=victim)
        done = self.succeed("evaluate", "--checkpoint", self.checkpoint, "--data", root,
                            "--set", "data.on_bad_record=skip")
        self.assertIn("1 of the", done.stderr)

    def test_options_that_contradict_each_other(self):
        image = next((self.set / "images").iterdir())
        self.refuse(2, says="--data ROOT")
        self.refuse(2, "--data", self.set, image, says="exclude each other")
        self.refuse(2, "--split", "test", image, says="--split requires --data")
        self.refuse(2, "--data", self.set, "--set", "data.split=val", says="--split")
        self.refuse(2, "--data", self.set, "--set", "engine=none", says="computes no probabilities")
        self.refuse(2, "--data", self.set, "--set", "data.format=ready", says="ready-made batches")
        self.refuse(2, "--data", self.set, "--set", "modle.name=x", says="model")

    def test_every_rank_finds_a_fault_and_one_tells_it(self):
        done = self.fail_with(3, "evaluate", "--checkpoint", self.checkpoint, "--data", self.folder / "nowhere",
                              ranks=2, says="nowhere")
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)

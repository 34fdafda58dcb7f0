"""Data sets laid out as CheXpert and MIMIC-CXR-JPG are published: found, answered, trained on, evaluated."""

import csv
import gzip
import json
import shutil
import unittest

from harness import HAS_ONEDNN, SystemTest, small_images

OBSERVATIONS = ("No Finding", "Enlarged Cardiomediastinum", "Cardiomegaly", "Lung Opacity", "Lung Lesion", "Edema",
                "Consolidation", "Pneumonia", "Atelectasis", "Pneumothorax", "Pleural Effusion", "Pleural Other",
                "Fracture", "Support Devices")


def value(image, label):
    """Blank, -1, 0 and 1, one after another."""
    return ("", "-1.0", "0.0", "1.0")[(image + label) % 4]


class Hospitals(SystemTest):
    def images(self):
        return sorted((small_images() / "images").iterdir())

    def chexpert(self):
        root = self.folder / "CheXpert-v1.0-small"
        rows = {"train": [], "valid": []}
        for i, image in enumerate(self.images()):
            part = "valid" if i % 4 == 0 else "train"
            path = f"{part}/patient{i // 2 * 2 + (part == 'valid'):05}/study1/view{i}_frontal.jpg"
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(image, (root / path).with_suffix(".png"))
            rows[part].append([f"{root.name}/{path}", "Male", 61, "Frontal", "AP", *(value(i, f) for f in range(14))])
        for part, lines in rows.items():
            with open(root / f"{part}.csv", "w", newline="") as out:
                csv.writer(out).writerows([["Path", "Sex", "Age", "Frontal/Lateral", "AP/PA", *OBSERVATIONS], *lines])
        return root

    def mimic(self):
        root = self.folder / "mimic-cxr-jpg"
        labels = [["subject_id", "study_id", *sorted(OBSERVATIONS)]]
        splits = [["dicom_id", "study_id", "subject_id", "split"]]
        for i, image in enumerate(self.images()):
            patient, study = 10000000 + i // 2, 50000000 + i
            path = root / f"files/p10/p{patient}/s{study}/{i:08x}-{i:08x}.png"
            path.parent.mkdir(parents=True)
            shutil.copy(image, path)
            labels.append([patient, study, *(value(i, OBSERVATIONS.index(name)) for name in sorted(OBSERVATIONS))])
            splits.append([path.stem, study, patient, "validate" if i % 4 == 0 else "train"])
        for name, lines in (("chexpert", labels), ("split", splits)):
            with gzip.open(root / f"mimic-cxr-2.0.0-{name}.csv.gz", "wt", newline="") as out:
                csv.writer(out).writerows(lines)
        return root

    def test_both_are_found_by_their_tables(self):
        for root, layout in ((self.chexpert(), "chexpert"), (self.mimic(), "mimic")):
            index = self.told("data", "index", "--explain", root)
            self.assertEqual(index["layout"], layout)
            self.assertEqual((index["images"], index["files"]), (24, 24))
            self.assertEqual(index["splits"]["train"], {"images": 18, "files": 18})
            self.assertEqual(index["splits"]["val"], {"images": 6, "files": 6})
            self.assertEqual(index["missing_files"] + index["orphan_files"], [])
            # A quarter of all values is 1 and a quarter -1, which is 1 by default.
            self.assertEqual(sum(label["images"] for label in index["labels"]), 24 * 14 // 2)
            ignoring = self.told("data", "index", "--explain", root, "--set", f"data.layout={layout}", "--set",
                                 "data.labels.uncertain=U-Ignore")
            self.assertEqual(ignoring["ignored_labels"], 24 * 14 // 4)

    def test_a_folder_alone_is_answered(self):
        for root in (self.chexpert(), self.mimic()):
            answer = self.succeed(root, "--time", "1", "--output", self.folder / root.name / "out").stdout
            self.assertIn("images/s", answer)

    def test_the_policy_is_named_as_in_the_paper(self):
        self.fail_with(2, "data", "index", self.chexpert(), "--set", "data.layout=chexpert", "--set",
                       "data.labels.uncertain=U-Maybe", says=["U-Ignore", "U-Zeros", "U-Ones"])

    @unittest.skipUnless(HAS_ONEDNN, "trains")
    def test_ignored_labels_are_left_out_of_training_and_scores(self):
        root = self.chexpert()
        keys = ("--set", "data.layout=chexpert", "--set", "data.labels.uncertain=U-Ignore",
                "--set", "data.labels.blank=U-Ignore")
        out = self.folder / "trained"
        spec = self.folder / "epoch.json"
        spec.write_text(json.dumps({
            "experiment": "ignoring", "data": {"root": str(root)}, "pipeline": "optimized", "engine": "onednn",
            "model": {"name": "mobilenet_v2", "image_size": 32}, "training": {"batch_size": 6, "epochs": 1},
            "measure": {"warmup_steps": 1, "repeats": 1}}))
        self.succeed("--config", spec, *keys, "--output", out)
        checkpoint = next((out / "checkpoints").glob("*/last.safetensors"))
        scores = self.folder / "scores"
        self.succeed("evaluate", "--checkpoint", checkpoint, "--data", root, "--split", "all", *keys,
                     "--output", scores)
        judged = json.loads((scores / "evaluation.json").read_text())
        for label in judged["labels"]:
            self.assertEqual((label["positives"], label["negatives"]), (6, 6), label)

"""Shards that the Python package `webdataset` reads, and shards that it writes."""

import csv
import hashlib
import json
import os
import unittest

from harness import IMAGES, REAL_IMAGES, ROOT, SystemTest, python_with

PACKAGE = ROOT / "build/webdataset"
PEER = ROOT / "tests/system/webdataset_peer.py"
PYTHON = python_with("numpy", "yaml") if PACKAGE.exists() else None
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{PACKAGE}/package:{PACKAGE}/braces", "PYTHONDONTWRITEBYTECODE": "1"}


@unittest.skipUnless(PYTHON, "needs the Python package webdataset, with NumPy and PyYAML: scripts/setup full brings it")
class WebDataset(SystemTest):
    def peer(self, *arguments, **options):
        return self.ends_with(0, PYTHON, PEER, *arguments, env=ENVIRONMENT, **options).stdout

    def findings(self, root):
        with open(root / "Data_Entry_2017.csv", newline="") as file:
            rows = {row["Image Index"]: row["Finding Labels"].split("|") for row in csv.DictReader(file)}
        return {name: [one for one in labels if one != "No Finding"] for name, labels in sorted(rows.items())}

    def test_it_reads_what_was_converted(self):
        root = self.real_images()
        self.succeed("data", "convert", root, "--split", "all", "--to", "webdataset")
        shards = sorted((root / "webdataset").glob("all-*.tar"))
        self.assertEqual(len(shards), 16)
        samples = json.loads(self.peer("read", *map(str, shards)))
        self.assertEqual(len(samples), IMAGES)
        findings = self.findings(root)
        for name, (label, digest) in samples.items():
            self.assertEqual(digest, hashlib.sha256((root / "images" / name).read_bytes()).hexdigest(), name)
            self.assertEqual(sum(label), len(findings[name]), name)

    def test_what_it_wrote_gives_the_same_tensors_as_the_pngs(self):
        root = self.real_images()
        (root / "webdataset").mkdir()
        self.peer("write", root, root / "webdataset", "all", input=json.dumps(self.findings(REAL_IMAGES)))
        self.assertEqual(self.told("data", "check", root)["records"], IMAGES)
        out = self.folder / "out"
        self.succeed(
            "--config", self.spec(data__root=str(root), data__format="webdataset", data__split="all"), "--output", out
        )
        self.assertGreater(float(self.rows(out)[0]["images_per_s"]), 0)

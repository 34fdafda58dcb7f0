"""Shared by the experiments of this folder: small specs over the X-rays of the tests, and running them."""

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("CHEXBENCH_BINARY", ROOT / "build/release/bin/chexbench"))
REAL_IMAGES = ROOT / "tests/data/nih"
OPS = [{"op": "list_files"}, {"op": "shard"}, {"op": "shuffle", "buffer": "all"}, {"op": "repeat"},
       {"op": "interleave"}, {"op": "map_and_batch"}, {"op": "prefetch"}]
# One thread that decodes, so that a delay of each image slows it by a known amount.
SERIAL_OPS = [{"op": "list_files"}, {"op": "shuffle", "buffer": "all"}, {"op": "repeat"}, {"op": "read"},
              {"op": "map", "parallel_calls": 1}, {"op": "batch"}]


def arguments(description, experiments):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--experiments", type=int, default=experiments, help="how many; default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the load")
    parser.add_argument("--output", type=Path, help="write the rows into this CSV file")
    return parser


def input_spec(pipelines, **measure):
    """A spec that compares pipelines, given as {name: ops}, without an engine."""
    return {"experiment": "truth", "data": {"root": str(REAL_IMAGES), "split": "all"}, "engine": "none",
            "training": {"batch_size": 16}, "measure": {"warmup_steps": 4, "steps": 10, "repeats": 6, **measure},
            "sweep": {"pipeline": [{"name": name, "ops": ops} for name, ops in pipelines.items()]}}


def emulated_spec(pipelines, **measure):
    """The same, feeding an emulated V100."""
    return {**input_spec(pipelines, **measure), "engine": "emulated:v100"}


def training_spec(pipelines, **measure):
    """The same, with a small training."""
    spec = input_spec(pipelines, **{"warmup_steps": 1, "steps": 3, **measure})
    return {**spec, "engine": "onednn", "model": {"name": "resnet50", "image_size": 64}, "training": {"batch_size": 8}}


def link_images(root, images):
    """Makes a set of that many images; each is a link to one of the X-rays in `root`/originals."""
    originals = sorted((root / "originals").iterdir())
    folders = [root / str(images) / name for name in ("with", "without")]
    for folder in folders:
        folder.mkdir(parents=True)
    for index in range(images):
        os.link(originals[index % len(originals)], folders[index % 2] / f"{index:06}.png")
    return root / str(images)


class Folders:
    """Runs experiments in separate folders, which exist until it is left."""

    def __init__(self):
        self.root = Path(tempfile.mkdtemp(prefix="chexbench-truth-"))
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root, ignore_errors=True)

    def new(self):
        self.number += 1
        return self.root / str(self.number)

    def run(self, spec, *options):
        """Runs a spec; returns the folder of the run and its report."""
        out = self.new()
        path = self.root / "spec.json"
        path.write_text(json.dumps(spec))
        chexbench("--config", path, "--output", out, "--quiet", *options)
        return out, json.loads((out / "report.json").read_text())


def chexbench(*options, codes=(0,)):
    done = subprocess.run([BINARY, *map(str, options)], capture_output=True, text=True)
    if done.returncode not in codes:
        sys.exit(f"chexbench {' '.join(map(str, options))} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def finding(report, kind):
    """The first finding of a kind, or None."""
    return next((found for found in report["findings"] if found["kind"] == kind), None)


def others_share(report):
    """The largest share of the cores that other processes used in a repeat."""
    shares = [(repeat["disturbance_others_s"] + repeat["disturbance_steal_s"]) / repeat["disturbance_core_s"]
              for trial in report["trials"] for repeat in trial["repeats"] if repeat["disturbance_core_s"] > 0]
    return max(shares, default=0)


def write(rows, path):
    if path is None:
        return
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)

"""Makes COMMIT.tar.xz: make.py BUILD/chexbench COMMIT. Files that the build of that commit cannot make are left out."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HOST = "some-host"
IMAGES = 24
INPUT = {"experiment": "input", "data": {"root": "set"}, "training": {"batch_size": 2}, "engine": "none", "ranks": 1,
         "model": {"image_size": 32}, "measure": {"warmup_steps": 1, "steps": 2, "repeats": 5},
         "sweep": {"pipeline": ["naive", "optimized"]}}
TRAINING = {"experiment": "training", "data": {"root": "set"}, "pipeline": "optimized", "engine": "onednn", "ranks": 1,
            "training": {"batch_size": 2, "epochs": 2}, "model": {"name": "mobilenet_v2", "image_size": 32},
            "measure": {"warmup_steps": 0, "repeats": 1}}


def chexbench(*arguments):
    done = subprocess.run(["chexbench", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"left out: {' '.join(arguments)}: {done.stderr.strip().splitlines()[-1]}")
    return done.returncode == 0


def run(spec, output):
    Path(f"{output}.json").write_text(json.dumps(spec))
    command = ("--config", f"{output}.json", "--output", output, "--quiet")
    return chexbench(*command, "--set", "measure.extra_repeats=0") or chexbench(*command)  # older ones have no such key


def zero_weights(checkpoint, path):
    """Weights of zero keep a checkpoint's tensors at zero, so that it can be packed."""
    content = checkpoint.read_bytes()
    size = int.from_bytes(content[:8], "little")
    tensors = {name: at for name, at in json.loads(content[8:8 + size]).items() if name != "__metadata__"}
    header = json.dumps(tensors).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(len(content) - 8 - size))


def train():
    if not run({**TRAINING, "training": {**TRAINING["training"], "epochs": 1}}, "random"):
        return
    zero_weights(next(Path("random/checkpoints").glob("*/best.safetensors")), Path("zero.safetensors"))
    run({**TRAINING, "model": {**TRAINING["model"], "weights": "zero.safetensors"}}, "training")


def make():
    chexbench("data", "synth", "set", "--images", str(IMAGES), "--size", "32")
    run(INPUT, "input")
    for form in ("tfrecord", "webdataset"):
        chexbench("data", "convert", "set", "--to", form, "--split", "train")
    chexbench("data", "convert", "set", "--to", "cached", "--split", "train", "--image-size", "32")
    chexbench("data", "stage", "set", "staged", "--split", "train")
    chexbench("calibrate", "--engine", "onednn", "--model", "mobilenet_v2", "--image-size", "32", "--batch-sizes", "2",
              "--warmup-steps", "1", "--steps", "2", "--repeats", "5", "--output", "profile.json")
    train()


def scrub(folder):
    """Removes the names of the machine and its folders from text files."""
    host = os.uname().nodename
    for path in folder.rglob("*.json*"):
        text = re.sub(rf"\b{re.escape(host)}\b", HOST, path.read_text())
        path.write_text(text.replace(str(folder), "."))


def is_unneeded(path):
    is_table_of_a_run = path.suffix == ".csv" and path.parts[0] in ("input", "training")
    return is_table_of_a_run or path.name in ("random", "random.json", "report.html", "csv-metadata.json")


def pack(folder, archive):
    def entry_of(entry):
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return None if is_unneeded(Path(entry.name)) else entry

    with tarfile.open(archive, "w:xz", preset=9) as packed:
        for path in sorted(folder.iterdir()):
            packed.add(path, path.name, filter=entry_of)


def main():
    binary, commit = Path(sys.argv[1]).resolve(), sys.argv[2]
    archive = Path(__file__).resolve().parent / f"{commit}.tar.xz"
    os.environ["PATH"] = f"{binary.parent}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make()
        scrub(Path(folder))
        pack(Path(folder), archive)
        os.chdir("/")


main()

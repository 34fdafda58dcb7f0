"""The commands that are killed, starved and cut off from power: how each continues, and its required outcome.

A workload keeps all of its files below one folder, its disk. prepare() writes its inputs there; command() begins it, or
continues it, depending on the disk's contents; outcome() is the part of the result that does not depend on timing.
"""

import hashlib
import json
import os
import shutil
import struct
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("CHEXBENCH_BINARY", ROOT / "build/release/bin/chexbench"))
WRITE_LOG = Path(os.environ.get("CHEXBENCH_WRITE_LOG", BINARY.parent.parent / "tests/kills/libwrite_log.so"))
HAS_ONEDNN = "onednn" in os.environ.get("CHEXBENCH_ENGINES", "onednn")
TIMEOUT_S = 600  # ends a hanging command; a busy machine may take minutes


def run(command, **options):
    """Runs a command to its end; returncode, text of stdout and stderr. @raises subprocess.TimeoutExpired"""
    return subprocess.run(command, **{"capture_output": True, "text": True, "timeout": TIMEOUT_S} | options)


def hash_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def tensors_of(path):
    """Hash of everything in a checkpoint except its metadata, which contains times."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    return hashlib.sha256(json.dumps(header, sort_keys=True).encode() + data[8 + length:]).hexdigest()


def left_over(folder):
    """Temporary files below it."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob(".*.tmp-*"))


def lasting(record):
    """A manifest or an evaluation without data about the run that wrote it: when, how long, what was already done."""
    passing = ("seconds", "kept", "shards_kept", "date_utc")
    return {key: value for key, value in record.items() if key not in passing}


class Workload:
    """Base of all. Subclasses set name and, where mpirun is to start it, ranks."""

    name = ""
    ranks = None
    unpromised = ()  # kinds of crash_states.py

    def __init__(self, ranks=None):
        self.ranks = ranks

    def launched(self, *arguments):
        launcher = ["mpirun", "--map-by", "socket", "-np", str(self.ranks)] if self.ranks else []
        return [*launcher, str(BINARY), *map(str, arguments)]

    def __str__(self):
        return f"{self.name} on {self.ranks} ranks" if self.ranks else self.name


def synthesize(folder, images=24, size=64):
    done = run([str(BINARY), "data", "synth", str(folder), "--images", str(images), "--size", str(size)])
    if done.returncode != 0:
        raise RuntimeError(done.stderr)


class Run(Workload):
    """A sweep of two trials by engine none."""

    name = "run"
    spec = {"experiment": "kills", "pipeline": "optimized", "training": {"batch_size": 2}, "engine": "none",
            "sweep": {"pipeline": ["naive", "optimized"]},
            "measure": {"warmup_steps": 1, "steps": 3, "repeats": 2, "extra_repeats": 0}}

    images = 24
    OCCASIONAL = ("notes.csv", "waits.csv")  # there if something was noticed, or waited for

    def prepare(self, disk):
        synthesize(disk / "set", self.images)
        (disk / "spec.json").write_text(json.dumps(self.spec | {"data": {"root": str(disk / "set")}}))

    def command(self, disk):
        where = "--resume" if (disk / "out/journal.jsonl").exists() else "--output"
        return self.launched("--config", disk / "spec.json", where, disk / "out")

    def outcome(self, disk):
        out = disk / "out"
        entries = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]
        report = json.loads((out / "report.json").read_text())
        return {"journal": sorted((entry["key"], entry["repeat"]["repeat"]) for entry in entries),
                "report": sorted((trial["key"], repeat["repeat"])
                                 for trial in report["trials"] for repeat in trial["repeats"]),
                "interrupted": report["interrupted"],
                "rows": (out / "trials.csv").read_text().count("\n"),
                "files": sorted(path.name for path in out.iterdir() if path.name not in self.OCCASIONAL),
                "left over": left_over(out)}


class Training(Run):
    """A training over epochs by engine onednn, whose checkpoints and losses must be the same to the bit."""

    name = "training"
    spec = {"experiment": "kills", "pipeline": "optimized", "engine": "onednn",
            "model": {"name": "mobilenet_v2", "image_size": 32}, "preprocess": {"flip": True, "crop": 0.9},
            "training": {"batch_size": 4, "epochs": 4, "learning_rate": 0.002, "schedule": "cosine"},
            "measure": {"warmup_steps": 1}}
    images = 48
    # Files written between the last epoch and the journal's line: end of the path, and how often it is renamed.
    LAST_FILES = (("/repeat.json", 1), ("/last.safetensors", spec["training"]["epochs"]))
    OCCASIONAL = (*Run.OCCASIONAL, "tensorboard")  # a training that cannot write there continues
    LEARNED = ("epoch", "learning_rate", "training_loss", "validation_loss", "mean_auroc", "findings")

    def outcome(self, disk):
        report = json.loads((disk / "out/report.json").read_text())
        epochs = report["trials"][0]["repeats"][0]["epochs"]
        checkpoints = {path.name: tensors_of(path) for path in (disk / "out").glob("checkpoints/*/*.safetensors")}
        return super().outcome(disk) | {"epochs": [{key: epoch[key] for key in self.LEARNED} for epoch in epochs],
                                        "checkpoints": checkpoints}


class Convert(Workload):
    """Shards or cached pixels of a set, byte for byte."""

    def __init__(self, to):
        super().__init__()
        self.name, self.to = f"convert to {to}", to

    def prepare(self, disk):
        synthesize(disk / "set")

    def command(self, disk):
        size = ["--image-size", 32] if self.to == "cached" else []
        return self.launched("data", "convert", disk / "set", "--split", "all", "--to", self.to, *size)

    def outcome(self, disk):
        files = {}
        for path in sorted((disk / "set").rglob("*")):
            if path.is_file() and path.suffix == ".json":  # its duration, and the work of an earlier run
                files[str(path.relative_to(disk))] = lasting(json.loads(path.read_text()))
            elif path.is_file():
                files[str(path.relative_to(disk))] = hash_of(path)
        return files


class Stage(Convert):
    """The copy of a set.

    A copy is known by its size and time, and all copies are synced at once before it is finished. A file system that
    keeps a size without its bytes (ext4 with data=writeback) may lose power in the middle: then a copy of zeros counts
    as finished, and its readers report that it is not an image.
    """

    unpromised = ("blank",)

    def __init__(self):
        super().__init__("stage")
        self.name = "stage"

    def command(self, disk):
        return self.launched("data", "stage", disk / "set", disk / "staged", "--split", "all")

    def outcome(self, disk):
        files = {}
        for path in sorted((disk / "staged").rglob("*")):
            if path.name.startswith("staged-"):
                files[path.name] = lasting(json.loads(path.read_text()))
            elif path.is_file():
                files[str(path.relative_to(disk))] = hash_of(path)
        return files


class Synth(Workload):
    """A synthetic set."""

    name = "synth"

    def prepare(self, disk):
        disk.mkdir(parents=True, exist_ok=True)

    def command(self, disk):
        return self.launched("data", "synth", disk / "made", "--images", 24, "--size", 64)

    def outcome(self, disk):
        return {str(path.relative_to(disk)): hash_of(path)
                for path in sorted((disk / "made").rglob("*")) if path.is_file()}


def workloads():
    """All that can run here, on one process, and under mpirun on 1 and 2 ranks."""
    found = [Run(), Convert("tfrecord"), Convert("webdataset"), Convert("cached"), Stage(), Synth()]
    if HAS_ONEDNN:
        found.append(Training())
    if shutil.which("mpirun"):
        found += [kind(ranks) for ranks in (1, 2) for kind in ([Run, Training] if HAS_ONEDNN else [Run])]
    return found


def undisturbed(workload, disk):
    """Prepares the disk and runs to the end; the outcome. @raises RuntimeError where it fails"""
    shutil.rmtree(disk, ignore_errors=True)
    disk.mkdir(parents=True)
    workload.prepare(disk)
    done = run(workload.command(disk))
    if done.returncode != 0:
        raise RuntimeError(f"{workload}: code {done.returncode} undisturbed: {done.stderr}")
    return workload.outcome(disk)


def differences(expected, found):
    """The differences between two outcomes: names, and a list's surplus entries."""
    differ = sorted(key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key))
    return [f"{key} {[item for item in found[key] if item not in expected[key]]}"
            if isinstance(found.get(key), list) and key in expected else key for key in differ]

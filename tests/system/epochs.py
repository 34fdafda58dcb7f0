"""Trainings over epochs, on any engine that can: a small set, its spec, and an interruption without a trace."""

import functools
import json
import signal
import struct
import subprocess

from harness import TIMEOUT_S, SystemTest, command_line, folder_of_process, run


def read_checkpoint(path):
    """Metadata, tensors by name, and the raw values of a safetensors file."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__", {})
    return metadata, header, data[8 + length:]


@functools.cache
def synthesized(images):
    """A data set that all tests of the process have in common."""
    root = folder_of_process() / "set"
    run("data", "synth", root, "--images", images, "--size", "64").check_returncode()
    return root


class EpochsTest(SystemTest):
    ENGINE = "onednn"
    IMAGES = 64

    def setUp(self):
        super().setUp()
        self.images = synthesized(self.IMAGES)

    def training(self, **keys):
        return self.spec(**{"data__root": str(self.images), "model": {"name": "mobilenet_v2", "image_size": 32},
                            "training": {"batch_size": 8, "epochs": 2, "learning_rate": 0.002, "schedule": "cosine"},
                            "preprocess": {"flip": True, "crop": 0.9}, "engine": self.ENGINE,
                            "measure": {"warmup_steps": 1}} | keys)

    def last(self, out):
        return next((out / "checkpoints").glob("*/last.safetensors"))

    def epochs_of(self, out):
        return self.report(out)["trials"][0]["repeats"][0]["epochs"]

    def train(self, spec, out, *arguments, ranks=None):
        self.succeed("--config", spec, "--output", out, *arguments, ranks=ranks)
        return self.epochs_of(out)

    def interrupt_behind_first_epoch(self, spec, out, ranks):
        process = subprocess.Popen(command_line(["--config", spec, "--output", out], ranks),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.await_true(lambda: list(out.glob("checkpoints/*/best.safetensors")), process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=TIMEOUT_S)
        self.assertNotEqual(process.returncode, 0, errors)

    def check_resume(self, ranks, **keys):
        spec = self.training(**{"training__epochs": 4, "training__warmup_epochs": 1, "pipeline": "optimized"} | keys)
        whole, parted = self.folder / "whole", self.folder / "parted"
        expected = self.train(spec, whole, ranks=ranks)
        self.interrupt_behind_first_epoch(spec, parted, ranks)
        done = json.loads(read_checkpoint(self.last(parted))[0]["epochs"])["repeat"]["epochs"]
        self.assertLess(len(done), 4)
        self.succeed("--config", spec, "--resume", parted, ranks=ranks)
        for wanted, got in zip(expected, self.epochs_of(parted), strict=True):
            for key in ("epoch", "learning_rate", "training_loss", "validation_loss", "mean_auroc", "findings"):
                self.assertEqual(got[key], wanted[key], f"{key} of epoch {wanted['epoch']}")
        self.assertEqual(read_checkpoint(self.last(parted))[1:], read_checkpoint(self.last(whole))[1:])

"""Weights between torchvision's networks and ours, by PyTorch itself."""

import os
import unittest
from array import array

from epochs import EpochsTest, read_checkpoint
from harness import BINARY, HAS_ONEDNN, REAL_IMAGES, ROOT

PEER = ROOT / "tests/system/torchvision_peer.py"
PYTHON = ROOT / "build/peers-venv/bin/python"
XRAY = REAL_IMAGES / "images/00000001_000.png"


@unittest.skipUnless(PYTHON.exists() and HAS_ONEDNN, "needs PyTorch: scripts/peers/setup brings it")
class Torchvision(EpochsTest):
    def peer(self, *arguments):
        self.ends_with(0, PYTHON, "-B", PEER, *arguments)

    def best(self, out):
        return self.last(out).with_name("best.safetensors")

    def test_the_best_checkpoint_loads_strictly(self):
        for name, size in (("mobilenet_v2", 32), ("googlenet", 32), ("alexnet", 64)):
            with self.subTest(name):
                out = self.folder / name
                self.train(self.training(model={"name": name, "image_size": size}, training__epochs=1), out)
                self.peer("load", name, self.best(out))

    def test_a_training_starts_from_what_pytorch_saved(self):
        saved = self.folder / "saved.safetensors"
        self.peer("save", "mobilenet_v2", saved)
        spec = self.training(model={"name": "mobilenet_v2", "image_size": 32, "weights": str(saved)},
                             training__epochs=1, training__learning_rate=1e-30)  # the weights stay
        self.train(spec, self.folder / "out")
        theirs, ours = self.values(saved), self.values(self.best(self.folder / "out"))
        self.assertEqual(sorted(theirs), sorted(ours))
        for name, values in theirs.items():
            if "running" not in name:
                self.assertLess(max(abs(a - b) for a, b in zip(ours[name], values, strict=True)), 1e-20, name)

    def test_weights_made_from_a_pth_compute_what_pytorch_does(self):
        for name, verb in (("mobilenet_v2", "pth"), ("densenet121", "old-pth")):
            with self.subTest(name):
                saved, made = self.folder / f"{name}.pth", self.folder / f"{name}.safetensors"
                self.peer(verb, name, saved)
                done = self.ends_with(0, PYTHON, "-B", ROOT / "scripts/weights", name, saved, made, "--check", XRAY,
                                      env=os.environ | {"CHEXBENCH_BINARY": str(BINARY)})
                self.assertIn("from those of PyTorch", done.stdout)

    def values(self, path):
        """The numbers of each tensor, where they are f32."""
        _, tensors, data = read_checkpoint(path)
        return {name: array("f", data[slice(*tensor["data_offsets"])]) for name, tensor in tensors.items()
                if tensor["dtype"] == "F32"}

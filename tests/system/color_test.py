"""Images in color: classes that differ only in color are learned in color and not in gray, and a checkpoint records
which it was."""

import json
import random
import unittest

from epochs import read_checkpoint
from harness import HAS_ONEDNN, SystemTest, png

SIZE = 40
IMAGES = 24  # of each class
# By libpng's weights of 9797, 19234 and 3737 of 32768, a pixel becomes the same gray with either tint: the sum of the
# weighted tints is from 0 to 32767, and the rest is cut off.
TINTS = {"orange": (60, -30, 0), "teal": (-60, 31, 0)}


def write_png(path, rows):
    """Writes rows of RGB pixels, unfiltered."""
    pixels = b"".join(b"\0" + bytes(value for pixel in row for value in pixel) for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(png(len(rows[0]), len(rows), color=2, rows=pixels))


@unittest.skipUnless(HAS_ONEDNN, "trains on the CPU")
class Color(SystemTest):
    def setUp(self):
        super().setUp()
        self.images = self.folder / "set"
        numbers = random.Random(5)
        for image in range(IMAGES):
            grays = [[numbers.randrange(70, 190) for _ in range(SIZE)] for _ in range(SIZE)]
            for name, tint in TINTS.items():
                write_png(self.images / name / f"{name}_{image:02}.png",
                          [[tuple(gray + part for part in tint) for gray in row] for row in grays])

    def training(self, color, **keys):
        return self.spec(**{
            "data": {"root": str(self.images), "layout": "folders", "split": "all", "color": color}, "engine": "onednn",
            "model": {"name": "mobilenet_v2", "image_size": 32}, "pipeline": "optimized",
            "training": {"batch_size": 4, "task": "classes", "epochs": 16, "learning_rate": 0.004,
                         "validation_share": 0},
            "measure": {"warmup_steps": 1}} | keys)

    def train(self, color, **keys):
        """Top-1 of the best epoch, and its checkpoint."""
        out = self.folder / "-".join([color, *map(str, keys.values())])
        self.succeed("--config", self.training(color, **keys), "--output", out)
        epochs = self.report(out)["trials"][0]["repeats"][0]["epochs"]
        return max(epoch["top1"] for epoch in epochs), next((out / "checkpoints").glob("*/best.safetensors"))

    def judged(self, checkpoint, *options):
        told = self.succeed("evaluate", "--checkpoint", checkpoint, "--data", self.images, "--split", "all", "--set",
                            "data.layout=folders", "--format", "json", *options).stdout
        return json.loads(told)["top1"]

    def test_what_color_alone_tells_is_learned_in_color(self):
        for deliver in ("f32", "u8"):
            top1, checkpoint = self.train("rgb", data__deliver=deliver)
            self.assertGreater(top1, 0.9, deliver)
        self.assertEqual(json.loads(read_checkpoint(checkpoint)[0]["use"])["data"]["color"], "rgb")
        top1_of_bytes = self.judged(checkpoint, "--set", "data.deliver=u8")
        self.assertEqual(top1_of_bytes, top1, "evaluate uses what the network was trained with")
        self.assertGreater(self.judged(checkpoint), 0.9, "also of floats, which are not rounded")
        self.assertEqual(self.judged(checkpoint, "--set", "data.color=gray"), 0.5, "and can be told otherwise")

    def test_what_color_alone_tells_is_not_learned_in_gray(self):
        top1, checkpoint = self.train("gray", training__epochs=2)
        self.assertEqual(top1, 0.5, "each gray image is in both classes, so it is right in one of them")
        self.assertEqual(json.loads(read_checkpoint(checkpoint)[0]["use"])["data"]["color"], "gray")
        self.assertEqual(self.judged(checkpoint), 0.5)

    def test_cached_pixels_are_those_of_the_images(self):
        self.fail_with(3, "--config", self.training("rgb", data__format="cached", data__deliver="u8"),
                       says="--image-size 32 --color rgb")
        self.succeed("data", "convert", self.images, "--split", "all", "--to", "cached", "--image-size", "32",
                     "--color", "rgb", "--set", "data.layout=folders")
        from_images = self.train("rgb", data__deliver="u8", training__epochs=1)
        from_cache = self.train("rgb", data__format="cached", data__deliver="u8", training__epochs=1)
        self.assertEqual(from_images[0], from_cache[0])
        for side in zip(*(read_checkpoint(path)[1:] for _, path in (from_images, from_cache)), strict=True):
            self.assertEqual(*side)

    def test_dry_run_counts_three_channels(self):
        held = {}
        for color in ("gray", "rgb"):
            spec = self.training(color, data__deliver="u8", engine="none", model__image_size=100,
                                 training={"batch_size": 4})
            told = self.succeed("--config", spec, "--dry-run", "--explain").stdout
            line = next(line for line in told.splitlines() if "delivered" in line)
            held[color] = line.split("x ")[-1]
        self.assertEqual(held, {"gray": "0.04 MB", "rgb": "0.12 MB"})

    def test_maps_of_an_image_in_color(self):
        _, checkpoint = self.train("rgb", training__epochs=1)
        image = self.images / "teal/teal_00.png"
        self.succeed("evaluate", "--checkpoint", checkpoint, image, "--cam", "1", "--output", self.folder / "maps")
        self.assertEqual(len(list((self.folder / "maps").glob("**/*.png"))), 1)

    def test_other_words_are_refused_with_those_that_are_known(self):
        self.fail_with(2, "--config", self.training("bgr"), says="data.color")
        self.fail_with(2, "data", "convert", self.images, "--to", "cached", "--color", "blue", says="--color")

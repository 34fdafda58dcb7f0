#!/usr/bin/env python3
"""A chest X-ray training that starved its GPU, rebuilt: before, and after (README.md).

    train.py DIR --log before.csv                       as it was
    train.py DIR --log after.csv --small FOLDER         from small copies, which it makes in FOLDER
    chexbench diagnose before.csv                       what is wrong with it

DIR may be any folder with PNGs or JPEGs. If PyTorch finds no GPU, one is simulated: the time of a step follows from
--images-per-s, by default a published V100. It needs PyTorch and torchvision (scripts/peers/setup).
"""

import argparse
import itertools
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hooks"))
from loading import After, Before, image_files, make_loader, shrink  # noqa: E402
from pytorch_steps import StepLog  # noqa: E402

import torch  # noqa: E402
import torchvision  # noqa: E402

FINDINGS = 8


class StandIn:
    """An accelerator of a known speed that uses no core."""

    def __init__(self, images_per_s):
        self.images_per_s = images_per_s

    def step(self, images):
        time.sleep(len(images) / self.images_per_s)


class Gpu:
    """DenseNet121 on the GPU."""

    def __init__(self):
        self.model = torchvision.models.densenet121(num_classes=FINDINGS).cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), 5e-4)

    def step(self, images):
        outputs = self.model(images.cuda())
        loss = torch.nn.functional.binary_cross_entropy_with_logits(outputs, torch.zeros_like(outputs))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main(options):
    torch.manual_seed(1)
    files = image_files(options.folder)
    images = After(shrink(files, options.small)) if options.small else Before(files)
    loader = make_loader(images, options.batch, options.workers)
    accelerator = StandIn(options.images_per_s) if options.images_per_s else Gpu()
    log = StepLog(options.log)
    for batch, _ in log.steps(itertools.islice(loader, options.steps)):
        accelerator.step(batch)
    log.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("--log", required=True, help="where the hook writes the steps")
    parser.add_argument("--small", metavar="FOLDER", help="train on small copies, which are kept there")
    parser.add_argument("--workers", type=int, default=torch.multiprocessing.cpu_count(), help="default: one a core")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--images-per-s", type=float, default=None if torch.cuda.is_available() else 223.9,
                        help="of the GPU that is stood in for; DenseNet121 in f32 on a V100: 223.9")
    main(parser.parse_args())

"""Inference in idiomatic PyTorch: decoded by OpenCV in a DataLoader, channels-last, eval and inference_mode.

usage: evaluation.py NETWORK run IMAGES [--batch B] [--threads T] [--workers W]   prints images/s, input included
       evaluation.py NETWORK save FILE.pth                                        writes weights that are freshly drawn

Loading and warming up the network are not counted; the first batch's wait is.
"""

import argparse
import itertools
import time
from pathlib import Path

import torch
import torchvision

from torch_input import DECODERS, Images

WARMUP_BATCHES = 3


def network(name):
    torch.manual_seed(1)
    return torchvision.models.get_model(name, weights=None, num_classes=14)


def rate(arguments):
    torch.set_num_threads(arguments.threads)
    model = network(arguments.network).eval().to(memory_format=torch.channels_last)
    files = sorted(str(path) for path in Path(arguments.place).glob("*.png"))
    loader = torch.utils.data.DataLoader(Images(files, DECODERS["opencv"]), arguments.batch,
                                         num_workers=arguments.workers)
    with torch.inference_mode():
        some = torch.zeros(arguments.batch, 3, 224, 224).to(memory_format=torch.channels_last)
        for _ in range(WARMUP_BATCHES):
            model(some)
        begin_s = time.perf_counter()
        rows = [torch.sigmoid(model(images.to(memory_format=torch.channels_last))) for images, _ in loader]
        end_s = time.perf_counter()
    scored = len(list(itertools.chain.from_iterable(rows)))
    return scored / (end_s - begin_s)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network")
    parser.add_argument("verb", choices=["run", "save"])
    parser.add_argument("place")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.verb == "save":
        torch.save(network(arguments.network).state_dict(), arguments.place)
    else:
        print(f"images/s: {rate(arguments)}")


if __name__ == "__main__":
    main()

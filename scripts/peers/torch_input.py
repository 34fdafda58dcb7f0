"""Input pipeline in PyTorch: a DataLoader that delivers normalized f32 batches of 224x224x3.

usage: torch_input.py DATA [--decoder pil|opencv|torchvision] [--workers W] ...     prints images/s
"""

import argparse
import glob
import os
import sys
import time

import numpy as np
import torch
from torchvision import io, transforms
from torchvision.transforms import v2

MEAN = [0.485, 0.456, 0.406]
STD = [0.229, 0.224, 0.225]
SIZE = [224, 224]


def decode_pil(path):
    from PIL import Image
    steps = transforms.Compose([transforms.Resize(SIZE, antialias=False), transforms.ToTensor(),
                                transforms.Normalize(MEAN, STD)])
    return steps(Image.open(path).convert("RGB"))


def decode_opencv(path):
    import cv2
    cv2.setNumThreads(0)
    gray = cv2.resize(cv2.imread(path, cv2.IMREAD_GRAYSCALE), SIZE).astype(np.float32) / 255
    return torch.from_numpy(np.stack([(gray - mean) / std for mean, std in zip(MEAN, STD)]))


def decode_torchvision(path):
    gray = io.decode_image(io.read_file(path), io.ImageReadMode.GRAY)
    gray = v2.functional.resize(gray, SIZE, antialias=False).float().div(255)
    return v2.functional.normalize(gray.expand(3, -1, -1), MEAN, STD)


DECODERS = {"pil": decode_pil, "opencv": decode_opencv, "torchvision": decode_torchvision}


class Images(torch.utils.data.Dataset):
    """The files over and over, `length` examples in all."""

    def __init__(self, files, length, decode):
        self.files, self.length, self.decode = files, length, decode

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.decode(self.files[index % len(self.files)]), torch.zeros(14)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--decoder", choices=sorted(DECODERS), default="opencv")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--warmup", type=int, default=10)
    arguments = parser.parse_args()
    files = sorted(glob.glob(os.path.join(arguments.data, "images", "*.png")))
    if not files:
        sys.exit(f"no images under {arguments.data}")
    torch.set_num_threads(1)
    # More than is measured: loading must not run dry, and so speed up, within the window.
    length = (arguments.warmup + arguments.steps + 4 * arguments.workers) * arguments.batch
    batches = iter(torch.utils.data.DataLoader(
        Images(files, length, DECODERS[arguments.decoder]), batch_size=arguments.batch,
        num_workers=arguments.workers, prefetch_factor=4, worker_init_fn=lambda _: torch.set_num_threads(1)))
    for _ in range(arguments.warmup):
        next(batches)
    start = time.perf_counter()
    for _ in range(arguments.steps):
        next(batches)
    print(f"images/s: {arguments.steps * arguments.batch / (time.perf_counter() - start):.2f}")


if __name__ == "__main__":
    main()

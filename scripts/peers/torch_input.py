"""Input pipeline in PyTorch: a DataLoader that delivers normalized f32 batches of 224x224x3.

usage: torch_input.py DATA [--decoder pil|opencv|torchvision] [--workers W] [--persistent] [--world N] ...

Prints images/s = world x batch x steps / wall time of the slowest rank, over consecutive epochs.
"""

import argparse

import numpy as np
import torch
from torchvision import io, transforms
from torchvision.transforms import v2

import ranks

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
    def __init__(self, files, decode):
        self.files, self.decode = files, decode

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return self.decode(self.files[index]), torch.zeros(14)


def endless(loader, sampler):
    """Batches of epoch after epoch, as in a training."""
    epoch = 0
    while True:
        sampler.set_epoch(epoch)
        yield from loader
        epoch += 1


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--decoder", choices=sorted(DECODERS), default="opencv")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--prefetch-factor", type=int, default=2)
    parser.add_argument("--persistent", action="store_true", help="workers live on from epoch to epoch")
    ranks.add_arguments(parser, warmup=10)
    return parser.parse_args()


def run_rank(arguments):
    files = ranks.images_under(arguments.data)
    torch.set_num_threads(1)
    images = Images(files, DECODERS[arguments.decoder])
    sampler = torch.utils.data.DistributedSampler(images, arguments.world, arguments.rank)
    loader = torch.utils.data.DataLoader(
        images, batch_size=arguments.batch, sampler=sampler, num_workers=arguments.workers, drop_last=True,
        prefetch_factor=arguments.prefetch_factor, persistent_workers=arguments.persistent,
        worker_init_fn=lambda _: torch.set_num_threads(1))
    ranks.time_window(arguments, endless(loader, sampler))


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    ranks.run(ARGUMENTS) if ARGUMENTS.rank is None else run_rank(ARGUMENTS)

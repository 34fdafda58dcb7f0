"""How a chest X-ray project loads its images, before and after the diagnosis; see train.py for the project."""

import os
from pathlib import Path

import numpy
import torch
from PIL import Image
from torchvision import transforms

SIZE = 224
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet
ENDINGS = {".png", ".jpg", ".jpeg"}


def image_files(folder):
    """All images below the folder, in the order of their names."""
    found = sorted(path for path in Path(folder).rglob("*") if path.suffix.lower() in ENDINGS)
    if not found:
        raise SystemExit(f"{folder}: no PNG or JPEG is in it; give the folder of a set, such as one of "
                         "`chexbench data synth DIR --images 200`")
    return found


def augmentations():
    return [transforms.RandomHorizontalFlip(), transforms.RandomRotation(10),
            transforms.RandomResizedCrop(SIZE, scale=(0.75, 1.0))]


def small_gray(path):
    """An image of SIZE x SIZE pixels in one channel: X-rays with several have the same in each."""
    with Image.open(path) as image:
        pixels = numpy.array(image)
    gray = Image.fromarray(pixels if pixels.ndim == 2 else pixels[:, :, 0])
    return transforms.Resize([SIZE, SIZE])(gray)


class Before(torch.utils.data.Dataset):
    """Decodes the published file each time, expands it to three channels, and resizes and varies all three."""

    def __init__(self, files, varied=True):
        self.files = files
        steps = augmentations() if varied else []
        self.transform = transforms.Compose([*steps, transforms.ToTensor(), transforms.Normalize(MEAN, STD)])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        with Image.open(self.files[index]) as image:
            pixels = numpy.array(image)
        channel = pixels[:, :, numpy.newaxis] if pixels.ndim == 2 else pixels[:, :, :1]
        colour = Image.fromarray(numpy.concatenate([channel] * 3, axis=2))
        return self.transform(transforms.Resize([SIZE, SIZE])(colour)), 0


class After(torch.utils.data.Dataset):
    """Reads copies that are as small as the network's input, varies one channel, and expands it to three at the end.

    The tensors are those of Before.
    """

    def __init__(self, copies, varied=True):
        self.copies = copies
        self.transform = transforms.Compose([*(augmentations() if varied else []), transforms.ToTensor()])
        self.normalize = transforms.Normalize(MEAN, STD)

    def __len__(self):
        return len(self.copies)

    def __getitem__(self, index):
        with Image.open(self.copies[index]) as image:
            channel = self.transform(image)
        return self.normalize(channel.expand(3, -1, -1)), 0


def shrink(files, folder):
    """Makes the small copy of each file once, and returns their paths. Existing copies are kept."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    copies = []
    for number, path in enumerate(files):
        copy = folder / f"{number:06}-{path.stem}.png"
        if not copy.exists():
            part = copy.with_suffix(f".part{os.getpid()}")
            small_gray(path).save(part, "png")
            part.rename(copy)
        copies.append(copy)
    return copies


class Endless(torch.utils.data.Sampler):
    """Batches of a shuffled set, endlessly: workers never restart, and no epoch begins."""

    def __init__(self, count, batch):
        self.count, self.batch = count, batch

    def __iter__(self):
        left = []
        while True:
            while len(left) < self.batch:
                left += torch.randperm(self.count).tolist()
            yield left[:self.batch]
            left = left[self.batch:]


def make_loader(images, batch, workers):
    return torch.utils.data.DataLoader(images, num_workers=workers, batch_sampler=Endless(len(images), batch))

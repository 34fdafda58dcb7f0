"""Decodes PNGs to 8-bit gray with one library of Python, on one thread, from bytes in memory.

usage: decode.py DECODER IMAGES [--seconds S]
       decode.py --list

Prints "version: V" and, for each kind of file, "KIND: MS ms" of CPU time an image. Kinds are those of
decode_benchmark: published (zlib level 6) and resaved (level 1); files of several channels are left out.
"""

import argparse
import struct
import sys
import time
from pathlib import Path


def pillow():
    import io

    import PIL
    from PIL import Image
    return PIL.__version__, lambda png: Image.open(io.BytesIO(png)).load()


def opencv():
    import cv2
    import numpy as np
    cv2.setNumThreads(0)
    return cv2.__version__, lambda png: cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_GRAYSCALE)


def torchvision():
    import torch
    import torchvision
    from torchvision import io
    torch.set_num_threads(1)
    return torchvision.__version__, lambda png: io.decode_image(
        torch.frombuffer(bytearray(png), dtype=torch.uint8), io.ImageReadMode.GRAY)


def tensorflow():
    import os
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf
    return tf.__version__, lambda png: tf.io.decode_png(png, channels=1)


def pyspng():
    import pyspng
    return pyspng.__version__, lambda png: pyspng.load(png, "L")


def spdl():
    from importlib.metadata import version

    import spdl.io
    gray = spdl.io.get_video_filter_desc(pix_fmt="gray")
    return version("spdl"), lambda png: spdl.io.to_numpy(spdl.io.load_image(png, filter_desc=gray))


DECODERS = {each.__name__: each for each in (pillow, opencv, torchvision, tensorflow, pyspng, spdl)}


def kind_of(png):
    """published, resaved, or None for a file of several channels."""
    color_type = png[25]
    data = png.index(b"IDAT") + 4
    return None if color_type != 0 else "published" if struct.unpack_from(">H", png, data)[0] == 0x789C else "resaved"


def milliseconds(decode, images, seconds):
    """CPU time of an image, from whole passes over the images, for at least this many seconds after a first pass."""
    for image in images:
        decode(image)
    passes, begin = 0, time.process_time()
    while passes == 0 or time.process_time() - begin < seconds:
        for image in images:
            decode(image)
        passes += 1
    return (time.process_time() - begin) / passes / len(images) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("decoder", choices=DECODERS, nargs="?")
    parser.add_argument("images", type=Path, nargs="?")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    if arguments.list:
        print(*DECODERS, sep="\n")
        return
    kinds = {}
    for path in sorted(arguments.images.glob("*.png")):
        png = path.read_bytes()
        kinds.setdefault(kind_of(png), []).append(png)
    kinds.pop(None, None)
    if not kinds:
        sys.exit(f"no gray PNGs in {arguments.images}")
    version, decode = DECODERS[arguments.decoder]()
    print(f"version: {version}")
    for kind, images in sorted(kinds.items()):
        print(f"{kind}: {milliseconds(decode, images, arguments.seconds):.4f} ms")


if __name__ == "__main__":
    main()

"""Input pipeline in NVIDIA DALI on the CPU: normalized f32 batches of 3x224x224.

usage: dali_input.py DATA [--threads T] ...     prints images/s
"""

import argparse
import time

from nvidia.dali import fn, pipeline_def, types

import ranks

MEAN = [123.7, 116.3, 103.5]
STD = [58.4, 57.1, 57.4]


@pipeline_def(device_id=None)
def chest_xrays(files):
    png, _ = fn.readers.file(files=files, random_shuffle=True)
    gray = fn.decoders.image(png, device="cpu", output_type=types.GRAY)
    gray = fn.resize(gray, size=[224, 224], interp_type=types.INTERP_LINEAR, antialias=False)
    return fn.crop_mirror_normalize(fn.cat(gray, gray, gray, axis=2), mean=MEAN, std=STD, output_layout="CHW")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--warmup", type=int, default=10)
    arguments = parser.parse_args()
    files = ranks.images_under(arguments.data)
    pipeline = chest_xrays(files, batch_size=arguments.batch, num_threads=arguments.threads)
    pipeline.build()
    for _ in range(arguments.warmup):
        pipeline.run()
    start = time.perf_counter()
    for _ in range(arguments.steps):
        pipeline.run()
    print(f"images/s: {arguments.steps * arguments.batch / (time.perf_counter() - start):.2f}")


if __name__ == "__main__":
    main()

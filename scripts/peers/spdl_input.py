"""Input pipeline in SPDL: threads that each decode a batch with FFmpeg; normalized f32 batches of 224x224x3.

usage: spdl_input.py DATA [--threads T] [--world N] ...

Prints images/s = world x batch x steps / wall time of the slowest rank, over consecutive epochs.
"""

import argparse
import random

import numpy as np
import spdl.io
from spdl.pipeline import PipelineBuilder

import ranks

MEAN = np.array([0.485, 0.456, 0.406], np.float32) * 255
STD = np.array([0.229, 0.224, 0.225], np.float32) * 255
SIZE = 224


def batches_of(files, batch):
    """File names of one batch after another, in a new order in every epoch."""
    order = random.Random(0)
    waiting = []
    while True:
        waiting += order.sample(files, len(files))
        while len(waiting) >= batch:
            yield waiting[:batch]
            del waiting[:batch]


def load(files):
    gray = spdl.io.to_numpy(spdl.io.load_image_batch(files, width=SIZE, height=SIZE, pix_fmt="gray"))
    return (gray.reshape(len(files), SIZE, SIZE, 1).astype(np.float32) - MEAN) / STD


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--threads", type=int, default=2)
    ranks.add_arguments(parser, warmup=10)
    return parser.parse_args()


def run_rank(arguments):
    files = ranks.images_under(arguments.data, arguments.rank, arguments.world)
    pipeline = (PipelineBuilder().add_source(batches_of(files, arguments.batch))
                .pipe(load, concurrency=arguments.threads, output_order="completion")
                .add_sink(2).build(num_threads=arguments.threads))
    with pipeline.auto_stop():
        ranks.time_window(arguments, iter(pipeline))


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    ranks.run(ARGUMENTS) if ARGUMENTS.rank is None else run_rank(ARGUMENTS)

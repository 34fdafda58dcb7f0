"""Input pipeline in Grain, with OpenCV's decoder: normalized f32 batches of 224x224x3.

usage: grain_input.py DATA [--threads T | --workers W] [--world N] ...

Threads of one process, or worker processes. Prints images/s = world x batch x steps / wall time of the slowest rank,
over consecutive epochs.
"""

import argparse

import cv2
import grain
import numpy as np

import ranks

MEAN = np.array([0.485, 0.456, 0.406], np.float32) * 255
STD = np.array([0.229, 0.224, 0.225], np.float32) * 255
SIZE = (224, 224)


def decode(path):
    gray = cv2.resize(cv2.imread(path, cv2.IMREAD_GRAYSCALE), SIZE).astype(np.float32)
    return (gray[..., None] - MEAN) / STD


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workers", type=int, default=0, help="processes that decode, each with one thread")
    ranks.add_arguments(parser, warmup=10)
    return parser.parse_args()


def run_rank(arguments):
    files = ranks.images_under(arguments.data, arguments.rank, arguments.world)
    cv2.setNumThreads(0)
    images = grain.MapDataset.source(files).seed(0).shuffle().repeat().map(decode)
    threads = 1 if arguments.workers else arguments.threads
    reading = grain.ReadOptions(num_threads=threads, prefetch_buffer_size=arguments.batch * threads)
    batches = images.to_iter_dataset(reading).batch(arguments.batch, drop_remainder=True)
    if arguments.workers:
        batches = batches.mp_prefetch(grain.MultiprocessingOptions(num_workers=arguments.workers))
    ranks.time_window(arguments, iter(batches))


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    ranks.run(ARGUMENTS) if ARGUMENTS.rank is None else run_rank(ARGUMENTS)

"""Several processes of one script whose windows begin together."""

import argparse
import glob
import os
import subprocess
import sys
import time


def add_arguments(parser, warmup):
    """The options of a window and of its ranks."""
    parser.add_argument("--world", type=int, default=1, help="ranks, each a process; prints the rate of all")
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)  # set for the processes that this one starts
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--warmup", type=int, default=warmup)


def images_under(data, rank=0, world=1):
    """The PNGs of a ChestX-ray14 folder that a rank reads, sorted; ends this program if there are none."""
    files = sorted(glob.glob(os.path.join(data, "images", "*.png")))[rank::world]
    if not files:
        sys.exit(f"no images under {data}")
    return files


def run(arguments):
    """Starts arguments.world ranks of this program, lets them begin together, and prints their rate."""
    command = [sys.executable, *sys.argv]
    ranks = [subprocess.Popen([*command, "--rank", str(rank)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
             for rank in range(arguments.world)]
    for rank in ranks:
        if rank.stdout.readline().strip() != "ready":
            sys.exit("a rank failed before its first batch")
    for rank in ranks:
        rank.stdin.write("go\n")
        rank.stdin.flush()
    slowest_s = max(float(rank.communicate()[0]) for rank in ranks)
    images = arguments.world * arguments.batch * arguments.steps
    print(f"images/s: {images / slowest_s:.2f}")


def time_window(arguments, batches):
    """To be called by a rank: takes batches until it is warm, waits for the others, and prints the window's seconds."""
    for _ in range(arguments.warmup):
        next(batches)
    print("ready", flush=True)
    sys.stdin.readline()
    start = time.perf_counter()
    for _ in range(arguments.steps):
        next(batches)
    print(time.perf_counter() - start)

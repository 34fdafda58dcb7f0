#!/usr/bin/env python3
"""Measures the cost of a hook: one training on the CPU, alternately with the hook and without it.

It needs PyTorch, or TensorFlow and Keras for --framework keras (scripts/peers/setup installs them). A network for 14
findings trains on ready-made images, because a slow loader would hide the hook's cost. Each round trains the same
batches twice, in alternating order, and gives the ratio of both times; the output is the median of all rounds with its
95 % interval. The time of a round is wall time; CPU time is also given, because other processes change it less.
"""

import argparse
import math
import os
import tempfile
import time
from pathlib import Path

FINDINGS = 14


def pytorch(options, log_path):
    """A function that trains one block, with the hook if asked."""
    import torch
    import torchvision
    from pytorch_steps import StepLog

    torch.manual_seed(1)
    torch.set_num_threads(options.threads)
    model = torchvision.models.get_model(options.model, num_classes=FINDINGS)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    shape = (options.steps * options.batch, 3, options.size, options.size)
    images = torch.utils.data.TensorDataset(torch.rand(shape), torch.zeros(shape[0], FINDINGS))
    loader = torch.utils.data.DataLoader(images, options.batch)
    log = StepLog(log_path)

    def train(hooked):
        for batch, labels in log.steps(loader) if hooked else loader:
            optimizer.zero_grad()
            torch.nn.functional.binary_cross_entropy_with_logits(model(batch), labels).backward()
            optimizer.step()

    return train


def keras(options, log_path):
    """The same for Keras, whose fit() takes a fresh iterator each time, with the hook and without it."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import numpy
    import tensorflow as tf
    from keras_steps import StepLog

    import keras as package
    tf.config.threading.set_intra_op_parallelism_threads(options.threads)
    package.utils.set_random_seed(1)
    shape = (options.steps * options.batch, options.size, options.size, 3)
    model = package.applications.MobileNetV2(input_shape=shape[1:], weights=None, classes=FINDINGS)
    model.compile(package.optimizers.SGD(0.01), "binary_crossentropy")
    images = numpy.random.default_rng(1).random(shape, "f4")
    data = tf.data.Dataset.from_tensor_slices((images, numpy.zeros((shape[0], FINDINGS), "f4"))).batch(options.batch)

    def train(hooked):
        model.fit(data, epochs=1, verbose=0, callbacks=[StepLog(log_path)] if hooked else [])

    return train


def measured(train, hooked):
    """Wall and CPU seconds of a block."""
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    train(hooked)
    return time.perf_counter() - wall_s, time.process_time() - cpu_s


def median_with_interval(values):
    """The median, and the order statistics that bracket it with 95 % confidence, or the extremes of few values."""
    values = sorted(values)
    count = len(values)
    half = 0.98 * math.sqrt(count)  # 1.96 standard deviations of a binomial count of 1/2
    low, high = max(0, math.floor(count / 2 - half)), min(count - 1, math.ceil(count / 2 + half) - 1)
    middle = (values[(count - 1) // 2] + values[count // 2]) / 2
    return middle, values[low], values[high]


def in_words(name, ratios):
    middle, low, high = (100 * (value - 1) for value in median_with_interval(ratios))
    return f"{name}: {middle:+.2f} % (95 % interval {low:+.2f} % to {high:+.2f} %)"


def main(options):
    with tempfile.TemporaryDirectory() as folder:
        train = {"pytorch": pytorch, "keras": keras}[options.framework](options, str(Path(folder) / "steps.csv"))
        for hooked in (False, True):
            train(hooked)  # the first steps also create kernels and threads
        wall, cpu, step_s = [], [], []
        for number in range(options.rounds):
            times = {hooked: measured(train, hooked) for hooked in ((False, True), (True, False))[number % 2]}
            wall.append(times[True][0] / times[False][0])
            cpu.append(times[True][1] / times[False][1])
            step_s.append(times[False][0] / options.steps)
        steps = sorted(step_s)
        print(f"{options.framework}, {options.rounds} rounds of {options.steps} steps each way, "
              f"{1e3 * steps[len(steps) // 2]:.1f} ms a step")
        print(in_words("wall time with the hook", wall))
        print(in_words("CPU time with the hook", cpu))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--framework", choices=("pytorch", "keras"), default="pytorch")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--steps", type=int, default=20, help="of a block")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--size", type=int, default=64, help="pixels a side")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--model", default="mobilenet_v2", help="of torchvision")
    main(parser.parse_args())

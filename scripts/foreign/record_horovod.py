#!/usr/bin/env python3
"""Records a tiny training of TensorFlow by Horovod: horovod-timeline.json in tests/data/foreign.

usage: mpirun -np 2 record_horovod.py FOLDER      (horovod and tensorflow-cpu; see README.md for building Horovod)

A step trains 60 ms, by sleeping; every second batch of the last rank is 120 ms late, and no other is late. One in 40 of
the timeline's cycle marks is kept, unchanged, so that the file is small.
"""

import os
import sys
import time
from pathlib import Path

STEPS = 24


def train(hvd, tf):
    model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])
    model.build((None, 4))
    hvd.broadcast_variables(model.variables, root_rank=0)
    optimizer = tf.keras.optimizers.legacy.SGD(0.01)

    @tf.function
    def reduce_and_update(images, labels):
        with hvd.DistributedGradientTape(tf.GradientTape()) as tape:
            loss = tf.reduce_mean((model(images) - labels) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))

    for step in range(STEPS):
        late = step % 2 == 1 and hvd.rank() == hvd.size() - 1
        time.sleep(0.12 if late else 0)
        time.sleep(0.06)
        reduce_and_update(tf.zeros((8, 4)), tf.zeros((8, 1)))


def thinned(source, path):
    """Writes the timeline `source` to `path` with one in 40 of its marks, line by line as Horovod wrote it."""
    kept, marks = [], 0
    for event in source.read_text().removesuffix("}]").split("},{"):
        marks += "CYCLE_START" in event
        if "CYCLE_START" not in event or marks % 40 == 1:
            kept.append(event)
    path.write_text("},{".join(kept) + "}]")


def main(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    whole = folder / "whole.json"
    os.environ |= {"HOROVOD_TIMELINE": str(whole), "HOROVOD_TIMELINE_MARK_CYCLES": "1", "TF_CPP_MIN_LOG_LEVEL": "2"}
    import horovod.tensorflow as hvd
    import tensorflow as tf

    hvd.init()
    train(hvd, tf)
    rank = hvd.rank()
    hvd.shutdown()
    if rank == 0:
        thinned(whole, folder / "horovod-timeline.json")
        whole.unlink()


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        sys.exit(0 if sys.argv[1:] == ["--help"] else 2)
    main(sys.argv[1])

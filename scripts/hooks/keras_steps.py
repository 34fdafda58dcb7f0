"""Logs the steps of a Keras training on TensorFlow for `chexbench diagnose`. Copy it next to the training:

    model.fit(dataset, epochs=epochs, callbacks=[StepLog("steps.csv")])
"""

import atexit
import itertools
import queue
import threading
import time

import keras
import tensorflow as tf


class StepLog(keras.callbacks.Callback):
    def __init__(self, path, rank=0):
        super().__init__()
        self.file = open(path, "w", buffering=1)  # by lines: a training that is killed leaves complete ones
        self.file.write("rank,epoch,wait_s,step_s,images\n")
        self.rank, self.unread = rank, queue.SimpleQueue()

    def on_train_begin(self, logs=None):  # Keras takes the batch inside its train_function, so that function is timed
        self.train = self.model.train_function
        self.model.train_function = self.step
        self.writer = threading.Thread(target=self.write_computed, daemon=True)
        self.writer.start()
        atexit.register(self.finish, 10)  # fit() that throws, such as when out of memory, never reaches on_train_end()

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch, self.start = epoch, time.perf_counter()  # making the data set's iterator is a wait, too

    def step(self, iterator):
        begin = self.start or time.perf_counter()
        batches = list(itertools.islice(iterator, self.model.steps_per_execution))
        fetched = time.perf_counter()
        if not batches:
            raise StopIteration
        logs = self.train(iter(batches))
        images = sum(int(tf.nest.flatten(batch)[0].shape[0]) for batch in batches)
        self.unread.put((self.epoch, self.start, begin, fetched, logs, images))
        self.start = None
        return logs

    def write_computed(self):
        """Waits for the loss of each step, in a separate thread, so that the training can run ahead of the GPU."""
        done = 0
        for epoch, start, begin, fetched, logs, images in iter(self.unread.get, None):
            last = max(done, start or 0)
            for value in tf.nest.flatten(logs):
                if hasattr(value, "numpy"):
                    value.numpy()
            done = time.perf_counter()
            wait_s = max(0, fetched - max(begin, last))  # the GPU's remaining work meanwhile is no wait
            self.file.write(f"{self.rank},{epoch},{wait_s},{done - last},{images}\n")

    def on_train_end(self, logs=None):
        self.model.train_function = self.train
        self.finish()
        atexit.unregister(self.finish)

    def finish(self, timeout_s=None):
        """Writes the rest; at exit only briefly, because a GPU that failed may never compute it."""
        self.unread.put(None)
        self.writer.join(timeout_s)

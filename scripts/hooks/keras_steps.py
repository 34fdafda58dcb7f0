"""Logs the steps of a Keras training on TensorFlow for `chexbench diagnose`. Copy it beside the training:

    model.fit(dataset, epochs=epochs, callbacks=[StepLog("steps.csv")])
"""

import itertools
import time

import keras
import tensorflow as tf


class StepLog(keras.callbacks.Callback):
    def __init__(self, path, rank=0):
        super().__init__()
        self.file = open(path, "w", buffering=1)  # by lines: a training that is killed leaves whole ones
        self.file.write("rank,epoch,wait_s,step_s,images\n")
        self.rank = rank

    def on_train_begin(self, logs=None):  # Keras takes the batch inside its train_function, so that is what is timed
        self.train = self.model.train_function
        self.model.train_function = self.step

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch, self.start = epoch, time.perf_counter()
        self.begin = self.start  # making the data set's iterator is a wait, too

    def step(self, iterator):
        begin = self.begin or time.perf_counter()
        batches = list(itertools.islice(iterator, self.model.steps_per_execution))
        wait_s = time.perf_counter() - begin
        if not batches:
            raise StopIteration
        logs = self.train(iter(batches))
        tf.test.experimental.sync_devices()  # otherwise what a GPU still computes would look like a wait
        images = sum(int(tf.nest.flatten(batch)[0].shape[0]) for batch in batches)
        end = time.perf_counter()
        self.file.write(f"{self.rank},{self.epoch},{wait_s},{end - self.start},{images}\n")
        self.start, self.begin = end, None
        return logs

    def on_train_end(self, logs=None):
        self.model.train_function = self.train

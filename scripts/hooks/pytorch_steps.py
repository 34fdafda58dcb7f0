"""Logs the steps of a PyTorch training for `chexbench diagnose`. Copy it next to the training:

    log = StepLog("steps.csv")
    for epoch in range(epochs):
        for images, labels in log.steps(loader):
            ...                                   # the training step as it was
"""

import atexit
import collections
import os
import time

import torch


class HostClock:
    """Times of a training on CPUs, where a call returns when it has finished computing."""

    def mark(self):
        return time.perf_counter()

    def passed(self, mark):
        return True

    def seconds(self, begin, end):
        return end - begin


class GpuClock:
    """Marks in the GPU's queue. A mark after a step passes when the GPU has computed it, and one after a fetch at once
    if the GPU is idle: the time between is its wait. The host reads marks only after they passed."""

    def mark(self):
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def passed(self, mark):
        return mark.query()

    def seconds(self, begin, end):
        return begin.elapsed_time(end) / 1e3


HOST, GPU = HostClock(), GpuClock()


def clock_of_now():
    return GPU if torch.cuda.is_initialized() else HOST


class StepLog:
    def __init__(self, path, rank=int(os.environ.get("RANK", 0)), count=lambda batch: len(batch[0])):
        self.file = open(path, "w", buffering=1)  # by lines: a training that is killed leaves complete ones
        self.file.write("rank,epoch,wait_s,step_s,images\n")
        self.rank, self.count, self.epoch, self.unread = rank, count, -1, collections.deque()
        atexit.register(self.close)

    def steps(self, loader):
        self.epoch += 1
        clock = clock_of_now()
        start = clock.mark()
        for batch in loader:
            fetched, images = clock.mark(), self.count(batch)
            yield batch
            end = clock.mark()
            self.unread.append((clock, self.epoch, start, fetched, end, images))
            self.write_passed()
            if clock is not clock_of_now():  # the first step of a training may be the one that moves it to the GPU
                clock = clock_of_now()
                end = clock.mark()
            start = end

    def write_passed(self):
        """Writes the steps that have been computed, and leaves the others for the next time."""
        while self.unread and self.unread[0][0].passed(self.unread[0][4]):
            clock, epoch, start, fetched, end, images = self.unread.popleft()
            self.file.write(
                f"{self.rank},{epoch},{clock.seconds(start, fetched)},{clock.seconds(start, end)},{images}\n"
            )

    def close(self):
        """Writes the steps that the GPU has yet to finish; called when the program ends."""
        while self.unread:
            self.write_passed()
            time.sleep(0.001)
        self.file.close()

"""Logs the steps of a PyTorch training for `chexbench diagnose`. Copy it beside the training:

    log = StepLog("steps.csv")
    for epoch in range(epochs):
        for images, labels in log.steps(loader):
            ...                                   # the training step as it was
"""

import os
import time

import torch


class StepLog:
    def __init__(self, path, rank=int(os.environ.get("RANK", 0)), count=lambda batch: len(batch[0])):
        self.file = open(path, "w", buffering=1)  # by lines: a training that is killed leaves whole ones
        self.file.write("rank,epoch,wait_s,step_s,images\n")
        self.rank, self.count, self.epoch = rank, count, -1

    def steps(self, loader):
        self.epoch += 1
        start = time.perf_counter()
        for batch in loader:
            wait_s = time.perf_counter() - start
            yield batch
            if torch.cuda.is_initialized():
                torch.cuda.synchronize()  # otherwise what the GPU still computes would look like a wait
            end = time.perf_counter()
            self.file.write(f"{self.rank},{self.epoch},{wait_s},{end - start},{self.count(batch)}\n")
            start = end

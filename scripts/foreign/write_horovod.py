#!/usr/bin/env python3
"""Writes a timeline as Horovod 0.28 writes it. It is no recording: its format follows horovod/common/timeline.cc.

Four ranks train 20 steps of 2 tensors. In the first step rank 0 learns of each tensor from each rank, and ticks say
so; then responses are cached, and only the first and the last rank that has a tensor are known. From one reduction to
the next gradient, a step computes 60 ms; in every second step the slowest rank also waits 40 ms for its batch.
"""

import argparse

STEPS = 20
TENSORS = ("DistributedOptimizer_Allreduce/cond/HorovodAllreduce_grads_0", "allreduce.fc.weight")


class Timeline:
    def __init__(self):
        self.text = '[\n{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros":'
        self.text += '1764135912000000}},\n'
        self.text += '{"name": "process_sort_index", "ph": "M", "pid": 0, "args": {"sort_index": 0}},\n'
        self.tensors = {}
        self.first = True

    def event(self, tensor, phase, at_us, name=None, args=None):
        self.text += "" if self.first else ","
        self.first = False
        if tensor not in self.tensors:
            pid = self.tensors[tensor] = len(self.tensors) + 1
            self.text += f'{{"name": "process_name", "ph": "M", "pid": {pid}, "args": {{"name": "{tensor}"}}}},\n'
            self.text += f'{{"name": "process_sort_index", "ph": "M", "pid": {pid}, '
            self.text += f'"args": {{"sort_index": {pid}}}}},\n'
        self.text += f'{{"ph": "{phase}"'
        self.text += "" if phase == "E" else f', "name": "{name}"'
        self.text += f', "ts": {at_us}, "pid": {self.tensors[tensor]}'
        self.text += ', "dur": 0' if phase == "X" else ""
        self.text += f', "args": {{{args}}}' if args else ""
        self.text += "}"


def reduce(timeline, tensor, at_us, ready_us, ticks):
    """One tensor: the first rank has it at `at_us`, the last one at `ready_us`. Returns when it is reduced."""
    timeline.event(tensor, "B", at_us, "NEGOTIATE_ALLREDUCE")
    for rank in range(4 if ticks else 0):
        timeline.event(tensor, "X", at_us + (ready_us - at_us) * rank // 3, str(rank))
    timeline.event(tensor, "E", ready_us)
    timeline.event(tensor, "B", ready_us + 100, "ALLREDUCE")
    timeline.event(tensor, "B", ready_us + 110, "NCCL_ALLREDUCE")
    timeline.event(tensor, "E", ready_us + 4900)
    end = '"dtype": "float32", "shape": "[1000, 2048]"'
    timeline.event(tensor, "E", ready_us + 5000, args=end)
    return ready_us + 5000


def main(path):
    timeline = Timeline()
    timeline.event("broadcast.fc.weight", "B", 1000, "NEGOTIATE_BROADCAST")
    timeline.event("broadcast.fc.weight", "E", 2000)
    timeline.event("broadcast.fc.weight", "B", 2100, "BROADCAST")
    timeline.event("broadcast.fc.weight", "E", 3000)
    end = 3000
    for step in range(STEPS):
        first = end + 55000
        ready = end + 60000 + (40000 if step % 2 else 0)
        for tensor in TENSORS:
            end = reduce(timeline, tensor, first, ready, ticks=step == 0)
            first = ready = end
    with open(path, "w") as file:
        file.write(timeline.text + "]")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    main(parser.parse_args().file)

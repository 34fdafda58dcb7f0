#!/usr/bin/env python3
"""A tiny training for TraceML, whose final_summary.json is in tests/data/foreign.

usage: traceml run record_traceml.py      (traceml-ai and torch; the summary is in logs/SESSION)

A batch takes 30 ms to load and 10 ms to train, by sleeping: 3/4 of the time is wait.
"""

import sys
import time


def main():
    import torch
    import traceml_ai as traceml

    class Images(torch.utils.data.Dataset):
        def __len__(self):
            return 320

        def __getitem__(self, index):
            time.sleep(0.03 / 8)
            return torch.zeros(4), torch.zeros(1)

    traceml.init(mode="auto")
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for images, labels in torch.utils.data.DataLoader(Images(), 8):
        with traceml.trace_step(model):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(images), labels).backward()
            time.sleep(0.01)
            optimizer.step()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    main()

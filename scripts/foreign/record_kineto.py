#!/usr/bin/env python3
"""Records a tiny training of PyTorch by torch.profiler: the traces in tests/data/foreign.

A batch takes 30 ms to load and 10 ms to train, by sleeping, so 3/4 of the time is wait. Only the trace's user
annotations are kept, with a twelfth of the other events, unchanged, so that the file is small.
"""

import argparse
import json
import time
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, schedule


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        time.sleep(0.03 / 8)
        return torch.zeros(4), torch.zeros(1)


def train(loader, after_step):
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for images, labels in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(images), labels).backward()
        time.sleep(0.01)
        optimizer.step()
        after_step()


def thinned(source, path):
    """Writes the trace `source` with a twelfth of its ordinary events to `path`, in torch.profiler's format."""
    trace = json.loads(source.read_text())
    events = enumerate(trace["traceEvents"])
    trace["traceEvents"] = [event for i, event in events if event.get("cat") == "user_annotation" or i % 12 == 0]
    path.write_text(json.dumps(trace, indent=1))


def main(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    whole = folder / "whole.json"
    steps = schedule(wait=1, warmup=1, active=18)
    with profile(activities=[ProfilerActivity.CPU], schedule=steps) as profiler:
        train(torch.utils.data.DataLoader(Images(), 8), profiler.step)
    profiler.export_chrome_trace(str(whole))
    thinned(whole, folder / "kineto-steps.json")
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        train(torch.utils.data.DataLoader(Images(), 8, num_workers=1), lambda: None)
    profiler.export_chrome_trace(str(whole))
    thinned(whole, folder / "kineto-no-steps.json")
    whole.unlink()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    main(parser.parse_args().folder)

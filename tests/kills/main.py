"""Kills, losses of power and shortages: whether the continued run ends as if nothing had happened.

  kills    kill -9 at random moments, and between the last checkpoint of a training and its line in the journal
  power    loss of power at every moment, from a log of the writes
  limits   a full disk at every block; few descriptors, threads, memory; a clock that jumps
  stopped  a rank that is stopped: the job's messages, and how it ends

Each part writes a CSV with a row for each attempt. The exit status is 5 if one did not end as promised.
"""

import argparse
import collections
import csv
import shutil
import sys
import tempfile
import time
from pathlib import Path

import kill_loop
import limits
import power_loss
from workloads import HAS_ONEDNN, ROOT, Convert, Run, Stage, Synth, Training, workloads


def kill_rows(arguments):
    yield from kill_loop.measure(workloads(), arguments.kills, arguments.seed)
    trainings = [workload for workload in workloads() if workload.name == Training.name]
    yield from kill_loop.measure_between(trainings, Training.LAST_FILES, arguments.seed)


def power_rows(arguments):
    for workload in workloads():
        if not workload.ranks:  # rank 0 writes everything, and its order of writes is that of one process
            yield from power_loss.measure(workload, arguments.states, arguments.seed)


def limit_cases(folder):
    """Functions that yield rows, with their subjects."""
    for workload in (Run(), Convert("tfrecord"), Convert("webdataset"), Convert("cached"), Stage(), Synth()):
        yield limits.disk_full(workload, folder)
    if HAS_ONEDNN:
        yield limits.disk_full(Training(), folder, step_kib=2048)
    for workload in (Run(), Convert("tfrecord")):
        yield limits.descriptors(workload, folder, range(5, 48))
        yield limits.threads(workload, folder, range(1, 16))
        yield limits.memory(workload, folder, range(96, 512, 8))
    if limits.FAKE_TIME.exists():
        yield limits.clock_jumps(folder)


def limit_rows(_):
    with tempfile.TemporaryDirectory(prefix="chexbench-limits-") as folder:
        for rows in limit_cases(folder):
            try:
                yield from rows
            except PermissionError as reason:
                print(f"skipped: {reason}", file=sys.stderr)


def stopped_rows(_):
    if not shutil.which("mpirun"):
        print("skipped: there is no mpirun here", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory(prefix="chexbench-stopped-") as folder:
        yield from limits.stopped_rank(folder, listen_s=75)
        yield from limits.stopped_rank(folder, listen_s=60, timeout_s=20)


# Rows of each part, the column for whether one is as promised, those by which they are counted, and those that only
# some rows have.
PARTS = {"kills": (kill_rows, "survived", ("workload", "ranks", "victim", "hit"), ()),
         "power": (power_rows, "equal", ("workload", "then"), ()),
         "limits": (limit_rows, "kept", ("workload", "shortage"), limits.SOMETIMES),
         "stopped": (stopped_rows, "kept", ("workload", "limit"), ())}


def measure(part, arguments):
    """Writes the CSV of a part and prints its table; how many rows are not as promised."""
    rows_of, good, by, sometimes = PARTS[part]
    began, counts, bad = time.monotonic(), collections.Counter(), collections.Counter()
    arguments.output.mkdir(parents=True, exist_ok=True)
    writer = None
    with open(arguments.output / f"{part}.csv", "w", newline="", buffering=1) as file:
        for row in rows_of(arguments):
            if not writer:
                writer = csv.DictWriter(file, [*row, *(name for name in sometimes if name not in row)], restval="",
                                        lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
            group = tuple(str(row[column]) for column in by)
            counts[group] += 1
            bad[group] += not row[good]
            if not row[good]:
                print(", ".join(f"{column} {value}" for column, value in row.items()), file=sys.stderr)
    print(f"{part}: {counts.total()} attempts, {bad.total()} not as promised, {time.monotonic() - began:.0f} s")
    for group, count in counts.items():
        print(f"  {' '.join(group):32} {count:6} attempts {bad[group]:4} not as promised")
    return bad.total()


def main():
    parser = argparse.ArgumentParser(prog="scripts/kill-loop", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (all)")
    parser.add_argument("--kills", type=int, default=200,
                        help="kills at random moments that came before the command's end (default: 200)")
    parser.add_argument("--states", type=int, help="states of a disk per workload at most (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of moments, victims and states (default: 1)")
    parser.add_argument("--output", type=Path, default=ROOT / "results/trust", metavar="DIR",
                        help="folder of the CSVs (default: results/trust)")
    arguments = parser.parse_args()
    for part in arguments.parts:
        if part not in PARTS:
            parser.error(f"no part '{part}': {', '.join(PARTS)}")
    sys.exit(5 if sum([measure(part, arguments) for part in arguments.parts or PARTS]) else 0)

"""Fails the N-th call of a class, for N = 1, 2, ... until none fails, and then runs the command again.

Classes: open, system-open (files outside of the data and results), read, short-read, write, short-write, fsync, rename
(also mkdir), close, mmap, malloc, thread, connect, mpi, mpi-poll. Each fails once and permanently (kind once and
always), on each rank alone. Each attempt checks: were code and message as promised, is finished work still there, and
did the second run end like an undisturbed one? results/trust/faults.csv gets a row for each loop. The exit status is 5
if a check failed.
"""

import argparse
import csv
import os
import sys
import time
from pathlib import Path

import fault_loop
from cases import STRIDES, cases
from fault_loop import KINDS, ROOT, loop

COLUMNS = ("class", "workload", "ranks", "rank", "kind", "stride", "calls_tried", "survived", "unpromised", "lost",
           "wrong", "in_libraries")
# Libraries that end the process themselves, or write through a null pointer, where they get no memory or no thread.
LIBRARIES = ("libhwloc", "libmpich", "libmpi", "libuc", "libdnnl", "libgomp", "libcurl", "libcrypto", "libspdlog")


def is_in_library(row):
    """Whether the call that failed was made by one of them: by the first frames that are not the C or C++ library's."""
    frames = [frame for frame in row["place"].split(" < ")
              if not frame.startswith(("libc.so", "libstdc++", "libgcc", "ld-linux", "libfaults"))]
    return bool(frames) and frames[0].startswith(LIBRARIES)


def summary(rows, head):
    """One line of the table: how many attempts, and how many of them ended badly in which way."""
    bad = [row for row in rows if not row["promised"] or row["lost"] or row["wrong"]]
    return head | {"calls_tried": len(rows), "survived": len(rows) - len(bad),
                   "unpromised": sum(not row["promised"] for row in rows),
                   "lost": sum(bool(row["lost"]) for row in rows),
                   "wrong": sum(bool(row["wrong"]) for row in rows),
                   "in_libraries": sum(not row["promised"] and is_in_library(row) for row in bad)}


def loops(arguments):
    for workload, classes in cases():
        for kind in classes:
            if arguments.fault not in ("all", kind) or arguments.workload not in (None, str(workload)):
                continue
            for mode in KINDS:
                for rank in range(workload.ranks) if workload.ranks else (None,):
                    yield workload, kind, mode, rank


def name_of(row):
    """The columns that distinguish loops, in the table's words and order."""
    return tuple("" if row[column] is None else str(row[column])
                 for column in ("workload", "ranks", "rank", "class", "kind"))


def measured(path):
    """Loop -> its row, of a table that was begun before."""
    with open(path, newline="") as file:
        return {name_of(row): row for row in csv.DictReader(file)}


def write_table(path, table):
    """Replaces the file as a whole, so that a table is complete whenever the loops are stopped."""
    with open(f"{path}.new", "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table[name] for name in sorted(table))
    os.replace(f"{path}.new", path)


def is_finer(stride, kept):
    """Whether a loop of this stride shows more than its row in the table (None if there is none)."""
    return kept is None or float(kept["stride"]) > stride


def failures(row):
    return int(row["calls_tried"]) - int(row["survived"])


def main():
    parser = argparse.ArgumentParser(prog="scripts/faults", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fault", nargs="?", default="all", metavar="CLASS", help="only this class, or 'all'")
    parser.add_argument("workload", nargs="?", metavar="WORKLOAD",
                        help="only this workload, as 'training' or 'training on 2 ranks'")
    parser.add_argument("--stride", type=float, help="try only every call whose number is larger by this share "
                        "(default: every call; of malloc 0.05, of system-open 0.1, of mpi-poll 0.5)")
    parser.add_argument("--most", type=int, help="attempts of a loop at most")
    parser.add_argument("--output", type=Path, default=ROOT / "results/trust/faults.csv", metavar="FILE",
                        help="the table (default: results/trust/faults.csv)")
    parser.add_argument("--resume", action="store_true",
                        help="keep the rows that the table has, unless a finer stride is asked for, and go on")
    parser.add_argument("--hang", type=int, default=fault_loop.TIMEOUT_S, metavar="SECONDS",
                        help="the longest that a command may take (default: %(default)s); raise it on a busy machine")
    arguments = parser.parse_args()
    fault_loop.TIMEOUT_S = arguments.hang
    began, failed = time.monotonic(), 0
    table = measured(arguments.output) if arguments.resume and arguments.output.exists() else {}
    for workload, kind, mode, rank in loops(arguments):
        stride = STRIDES.get(kind, 0.0) if arguments.stride is None else arguments.stride
        head = {"class": kind, "workload": workload.name, "ranks": workload.ranks or 1, "rank": rank, "kind": mode,
                "stride": stride}
        if is_finer(stride, table.get(name_of(head))):
            rows = list(loop(workload, kind, mode, rank, stride, arguments.most))
            for row in rows:
                if not row["promised"] or row["lost"] or row["wrong"]:
                    print(", ".join(f"{column} {value}" for column, value in row.items()), file=sys.stderr, flush=True)
            table[name_of(head)] = summary(rows, head)
            write_table(arguments.output, table)
            print(", ".join(f"{column} {value}" for column, value in table[name_of(head)].items()), flush=True)
        failed += failures(table[name_of(head)])
    print(f"{failed} attempts did not end as promised, {time.monotonic() - began:.0f} s")
    sys.exit(5 if failed else 0)

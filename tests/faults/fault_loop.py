"""Commands whose N-th call of a class fails, once or from then on, and the files and messages after that.

After the failed command, the resumed one must end like an undisturbed run.
"""

import functools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from workloads import BINARY, ROOT, differences, hash_of, run

LIBRARY = Path(os.environ.get("CHEXBENCH_FAULTS", ROOT / "build/release/tests/faults/libfaults.so"))
KINDS = ("once", "always")
TIMEOUT_S = 60  # main.py may set it
# Codes of apps/chexbench/README.md, and the reasons in a message: the system's, or the scarce resource.
PROMISED = {2, 3, 4, 6}
FILE = ("Too many open files", "Input/output error", "No space left")
SAYS = {"malloc": ("memory",), "mmap": ("memory", "Cannot allocate"), "thread": ("thread",), "mpi": ("MPI",),
        "mpi-poll": ("MPI",), "connect": ("unreachable", "connect")}
WRITTEN = ("write", "fsync", "rename", "close")  # code 0 would mean that all is on the disk
HARMLESS = ("short-read", "short-write")  # nothing fails: the rest must be requested


def numbers(stride):
    """1, 2, 3, ... with steps that grow to a share `stride` of the number: 0 is every number."""
    number = 1
    while True:
        yield number
        number += max(1, int(number * stride))


def with_fault(command, fault, log, disk):
    """The command with the library before each process of the program, the launcher left alone."""
    kind, number, mode, rank = fault
    variables = {"LD_PRELOAD": LIBRARY, "FAULT_CLASS": kind, "FAULT_AT": number, "FAULT_KIND": mode, "FAULT_LOG": log,
                 "FAULT_FOLDER": disk,
                 "UCX_MEM_MMAP_HOOK_MODE": "none"}  # otherwise MPICH's UCX would patch mmap
    if rank is not None:
        variables["FAULT_RANK"] = rank
    at = command.index(str(BINARY))
    return [*command[:at], "env", *(f"{name}={value}" for name, value in variables.items()), *command[at:]]


def ends(process):
    """Whether the process ends within TIMEOUT_S waits of a second, which take longer where the machine is busy."""
    for _ in range(TIMEOUT_S):
        try:
            process.wait(1)
            return True
        except subprocess.TimeoutExpired:
            pass
    return False


def call(command):
    """Like run(), without the output; a hang is code -SIGALRM, and its processes are ended."""
    with tempfile.TemporaryFile("w+") as told:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=told, text=True,
                                   start_new_session=True)
        code = process.returncode if ends(process) else -signal.SIGALRM
        if code == -signal.SIGALRM:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        told.seek(0)
        return subprocess.CompletedProcess(command, code, "", told.read())


def finished(disk):
    """A command's finished work: files under their own names, and the lines of a journal."""
    found = {}
    for path in disk.rglob("*"):
        name = str(path.relative_to(disk))
        if path.name == "journal.jsonl":
            for line in path.read_bytes().split(b"\n")[:-1]:
                found[f"{name}: {json.loads(line)['key']} {json.loads(line)['repeat']['repeat']}"] = line
        elif path.is_file() and (path.suffix in (".png", ".tfrecord", ".tar") or path.name.startswith("epoch-")):
            found[name] = hash_of(path)
    return found


def as_promised(kind, done):
    if done.returncode == 0:
        return kind not in WRITTEN
    says = SAYS.get(kind, FILE)
    return kind not in HARMLESS and done.returncode in PROMISED and any(text in done.stderr for text in says)


def place_of(log):
    """The function that failed, and its callers: libraries and offsets, for addr2line or nm."""
    frames = [re.sub(r"^.*/", "", line) for line in log.splitlines()[1:] if line.startswith("/") or "(" in line]
    return log.split(" ")[0], " < ".join(frames[2:12])


@functools.lru_cache(maxsize=None)
def pristine(workload, folder):
    """Prepares a disk and runs on it undisturbed: a copy of the prepared disk, and the outcome."""
    disk, kept = Path(folder) / "disk", Path(folder) / f"pristine-{abs(hash(str(workload)))}"
    shutil.rmtree(disk, ignore_errors=True)
    disk.mkdir(parents=True)
    workload.prepare(disk)
    shutil.copytree(disk, kept, symlinks=True)
    done = run(workload.command(disk))
    if done.returncode != 0:
        raise RuntimeError(f"{workload}: code {done.returncode} undisturbed: {done.stderr}")
    return kept, workload.outcome(disk)


def attempt(workload, folder, fault):
    """One row; None if fewer calls were made than `fault` needs. A hang is tried again: the machine may be busy."""
    row = attempt_once(workload, folder, fault)
    return attempt_once(workload, folder, fault) if row is not None and row["hung"] else row


def fresh(workload, folder):
    """A prepared disk, an empty log, and the outcome of an undisturbed run."""
    kept, expected = pristine(workload, folder)
    disk, log = Path(folder) / "disk", Path(folder) / "log"
    shutil.rmtree(disk, ignore_errors=True)
    shutil.copytree(kept, disk, symlinks=True)
    log.write_text("")
    return disk, log, expected


def attempt_once(workload, folder, fault):
    disk, log, expected = fresh(workload, folder)
    done = call(with_fault(workload.command(disk), fault, log, disk))
    text = log.read_text()
    if not text:
        return None
    after = finished(disk)
    first = differences(expected, workload.outcome(disk)) if done.returncode == 0 else []
    again = call(workload.command(disk))
    wrong = differences(expected, workload.outcome(disk)) if again.returncode == 0 else [again.stderr[-300:]]
    last = finished(disk)
    lost = [name for name, value in after.items() if last.get(name) != value]
    kind, number, mode, rank = fault
    function, place = place_of(text)
    told = [line for line in done.stderr.strip().splitlines() if line.strip()]
    return {"class": kind, "workload": workload.name, "ranks": workload.ranks or 1, "rank": rank, "kind": mode,
            "call": number, "function": function, "code": done.returncode, "promised": as_promised(kind, done),
            "lost": "; ".join(lost), "wrong": "; ".join(first + wrong), "told": " | ".join(told[-2:])[:300],
            "place": place, "hung": -signal.SIGALRM in (done.returncode, again.returncode)}


def loop(workload, kind, mode, rank=None, stride=0.0, most=None):
    """Rows for the calls 1, 2, ... until none fails."""
    with tempfile.TemporaryDirectory(prefix="chexbench-faults-") as folder:
        for index, number in enumerate(numbers(stride)):
            if most is not None and index >= most:
                return
            row = attempt(workload, folder, (kind, number, mode, rank))
            if row is None:
                return
            yield row

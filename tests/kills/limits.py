"""What a machine can run short of: room on the disk, descriptors, threads, memory; and a clock that jumps.

Each case sets one limit, steps it over what a workload needs, and asks for what is promised: code 0, or the code of
that shortage with a message that names it, and never a signal, a hang or an internal error. After a disk was full
and grew, the command that goes on must end as an undisturbed run.
"""

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

from kill_loop import TOKEN, processes
from workloads import BINARY, TIMEOUT_S, Run, differences, run, undisturbed

# Codes of the README: data (an input that cannot be opened), device (also memory and threads), output.
DATA, DEVICE, OUTPUT = 3, 4, 6
FAKE_TIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")


def row(workload, shortage, limit, done, codes, says, **more):
    """`codes` and `says` are what is promised beside code 0; the last line of stderr is what the user is told."""
    told = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""
    kept = done.returncode == 0 or (done.returncode in codes and any(text in done.stderr for text in says))
    return {"workload": str(workload), "shortage": shortage, "limit": limit, "code": done.returncode, "kept": kept,
            "told": told[:300]} | more


def call(command, **options):
    """As run(); a hang is code -SIGALRM."""
    try:
        return run(command, **options)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -signal.SIGALRM, "", f"hangs for {TIMEOUT_S} s")


@contextlib.contextmanager
def small_disk(folder, kib):
    """A file system of that size there. @raises PermissionError where nothing may be mounted"""
    folder.mkdir()
    mounted = run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", str(folder)])
    if mounted.returncode != 0:
        folder.rmdir()
        raise PermissionError(f"no file system can be mounted here: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        run(["umount", "--lazy", str(folder)])
        folder.rmdir()


def used_kib(folder):
    return sum(path.lstat().st_blocks for path in folder.rglob("*")) // 2


def disk_full(workload, folder, step_kib=4, most=None):
    """One row per size of the disk, from that of the inputs to that of the outputs."""
    disk = Path(folder) / "disk"
    expected = undisturbed(workload, disk)
    needed = used_kib(disk)
    shutil.rmtree(disk)
    disk.mkdir()
    workload.prepare(disk)
    least = used_kib(disk) + 4
    shutil.rmtree(disk)
    sizes = list(range(least, needed + 16 * step_kib, step_kib))
    for kib in sizes if most is None else sizes[::max(1, len(sizes) // most)]:
        with small_disk(disk, kib):
            workload.prepare(disk)
            done = call(workload.command(disk))
            run(["mount", "-o", f"remount,size={needed * 2 + 65536}k", str(disk)])
            again = call(workload.command(disk))
            wrong = differences(expected, workload.outcome(disk)) if again.returncode == 0 else [again.stderr[-200:]]
            yield row(workload, "disk", f"{kib} KiB", done, {OUTPUT}, ("No space left", "not enough room"),
                      resumed=not wrong, wrong="; ".join(wrong))


def limited(workload, folder, shortage, limit, values, codes, says):
    """One row per value of a limit of setrlimit()."""
    disk = Path(folder) / "disk"
    for value in values:
        shutil.rmtree(disk, ignore_errors=True)
        disk.mkdir()
        workload.prepare(disk)
        done = call(workload.command(disk), preexec_fn=lambda amount=value: resource.setrlimit(limit, (amount, amount)))
        yield row(workload, shortage, value, done, codes, says)


def descriptors(workload, folder, values):
    # With fewer than 5 the loader of shared libraries already fails, with its own words.
    return limited(workload, folder, "descriptors", resource.RLIMIT_NOFILE, values, {DATA, DEVICE, OUTPUT},
                   ("Too many open files",))


def memory(workload, folder, values):
    return limited(workload, folder, "memory", resource.RLIMIT_AS, [mib << 20 for mib in values], {DEVICE},
                   ("memory", "no more threads"))  # a thread's stack is memory, too


@contextlib.contextmanager
def most_tasks(count):
    """A cgroup for so many threads; its list of processes. @raises PermissionError where none can be made"""
    for root in ("/sys/fs/cgroup/pids", "/sys/fs/cgroup"):
        group = Path(root) / f"chexbench-limits-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / "pids.max").write_text(str(count))
            yield group / "cgroup.procs"
            return
        except FileNotFoundError:
            continue  # no such controller here
        finally:
            await_empty(group)
    raise PermissionError("no cgroup with a limit of threads can be made here")


def await_empty(group):
    give_up = time.monotonic() + TIMEOUT_S
    while time.monotonic() < give_up:
        try:
            group.rmdir()
            return
        except OSError:
            time.sleep(0.02)


def threads(workload, folder, values):
    disk = Path(folder) / "disk"
    for count in values:
        shutil.rmtree(disk, ignore_errors=True)
        disk.mkdir()
        workload.prepare(disk)
        with most_tasks(count) as members:
            done = call(workload.command(disk), preexec_fn=lambda: members.write_text(str(os.getpid())))
            yield row(workload, "threads", count, done, {DEVICE}, ("thread",))


class Slow(Run):
    """A run of a second or more, each image of which is late."""

    name = "slow run"
    spec = Run.spec | {"sweep": {}, "measure": {"warmup_steps": 1, "steps": 25, "repeats": 2, "extra_repeats": 0},
                       "pipeline": {"name": "slow", "ops": [
                           {"op": "list_files"}, {"op": "shard"}, {"op": "repeat"}, {"op": "read"},
                           {"op": "map", "delay_s": 0.01}, {"op": "batch"}]}}


def clock_jumps(folder, jumps=("+1h", "-1h", "+10y", "-10y")):
    """Jumps of the clock of the day in the middle of a run, by libfaketime; none may change what was measured."""
    workload, disk, offset = Slow(), Path(folder) / "disk", Path(folder) / "offset"
    undisturbed(workload, disk)

    def rate():
        report = json.loads((disk / "out/report.json").read_text())
        return [repeat["images_per_s"] for repeat in report["trials"][0]["repeats"]][-1]

    steady = rate()
    for jump in jumps:
        shutil.rmtree(disk / "out")
        offset.write_text("+0")
        process = subprocess.Popen(
            workload.command(disk), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "LD_PRELOAD": str(FAKE_TIME), "FAKETIME_TIMESTAMP_FILE": str(offset),
                 "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"})
        journal = disk / "out/journal.jsonl"
        while process.poll() is None and not (journal.exists() and journal.stat().st_size > 0):
            time.sleep(0.01)
        offset.write_text(jump)  # between the first repeat and the end of the second
        _, errors = process.communicate(timeout=TIMEOUT_S)
        done = subprocess.CompletedProcess([], process.returncode, "", errors)
        change = rate() / steady - 1 if process.returncode == 0 else float("nan")
        yield row(workload, "clock", jump, done, set(), (), changed_by=round(change, 3)) | {
            "kept": abs(change) < 0.5}  # an hour in a repeat of a second would change it a thousandfold


def stopped_ranks(folder, silence_s=15):
    """SIGSTOP of rank 1 of 2: within `silence_s` a message must name it; after SIGCONT the run ends."""
    workload, disk = Slow(ranks=2), Path(folder) / "disk"
    shutil.rmtree(disk, ignore_errors=True)
    disk.mkdir()
    workload.prepare(disk)
    told, token = Path(folder) / "told", str(os.getpid())
    with open(told, "w") as errors:
        process = subprocess.Popen(workload.command(disk), stdout=subprocess.DEVNULL, stderr=errors,
                                   env={**os.environ, TOKEN: token})
        journal = disk / "out/journal.jsonl"
        while process.poll() is None and not (journal.exists() and journal.stat().st_size > 0):
            time.sleep(0.01)
        ranks = sorted(number for number, program in processes(token).items() if program == str(BINARY.resolve()))
        length = told.stat().st_size
        for rank in ranks[1:]:
            os.kill(rank, signal.SIGSTOP)
        stopped = time.monotonic()
        while time.monotonic() < stopped + silence_s and process.poll() is None and told.stat().st_size == length:
            time.sleep(0.05)
        silent_s, message = time.monotonic() - stopped, told.read_text()[length:].strip()
        for rank in ranks[1:]:
            os.kill(rank, signal.SIGCONT)
        process.wait(TIMEOUT_S)
    done = subprocess.CompletedProcess([], process.returncode, "", message)
    yield row(workload, "stopped rank", f"{silence_s} s", done, set(), (), silent_s=round(silent_s, 1)) | {
        "kept": process.returncode == 0 and "rank 1" in message}

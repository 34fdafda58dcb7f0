"""Resources that a machine can run short of: room on the disk, descriptors, threads, memory; a clock that jumps; a
stopped rank.

Each case sets one limit, steps it through a workload's needs, and checks the promise: code 0, or the code of that
shortage with a message that names it, and never a signal, a hang or an internal error. After a full disk has grown, the
continued command must end like an undisturbed run.
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

from kill_loop import TOKEN, ranks_of, send
from workloads import TIMEOUT_S, Run, differences, run, undisturbed

# Codes of the README: data (an input that cannot be opened), device (also memory and threads), output.
DATA, DEVICE, OUTPUT = 3, 4, 6
SOMETIMES = ("resumed", "wrong", "said_s")  # columns that only some rows have
FAKE_TIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")


def row(workload, shortage, limit, done, codes, says, **more):
    """`codes` and `says` are promised besides code 0; the last line of stderr is the user's message."""
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
    some = sizes if most is None else sorted({*sizes[::max(1, len(sizes) // most)], sizes[-1]})
    for kib in some:
        with small_disk(disk, kib):
            workload.prepare(disk)
            done = call(workload.command(disk))
            run(["mount", "-o", f"remount,size={needed * 2 + 65536}k", str(disk)])
            again = call(workload.command(disk))
            wrong = differences(expected, workload.outcome(disk)) if again.returncode == 0 else [again.stderr[-200:]]
            yield row(workload, "disk", f"{kib} KiB", done, {OUTPUT}, ("free room there", "not enough room"),
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
    # With fewer than 5 the loader of shared libraries already fails, with its own message.
    return limited(workload, folder, "descriptors", resource.RLIMIT_NOFILE, values, {DATA, DEVICE, OUTPUT},
                   ("Too many open files",))


def memory(workload, folder, values):
    # Not by a cgroup: at its limit the kernel kills the process, which kill_loop.py covers.
    return limited(workload, folder, "memory", resource.RLIMIT_AS, [mib << 20 for mib in values], {DEVICE},
                   ("memory", "no more threads"))  # a thread's stack is memory, too


@contextlib.contextmanager
def most_tasks(count):
    """A cgroup for that many threads; its list of processes. @raises PermissionError if none can be made"""
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
    """A run of a second or more, with each image delayed by IMAGE_S."""

    name = "slow run"
    IMAGE_S = 0.01
    spec = Run.spec | {"sweep": {}, "measure": {"warmup_steps": 1, "steps": 25, "repeats": 2, "extra_repeats": 0},
                       "pipeline": {"name": "slow", "ops": [
                           {"op": "list_files"}, {"op": "shard"}, {"op": "repeat"}, {"op": "read"},
                           {"op": "map", "delay_s": IMAGE_S}, {"op": "batch"}]}}

    def begin(self, disk, **options):
        """Starts it anew, and returns its process once the first repeat is in the journal."""
        shutil.rmtree(disk, ignore_errors=True)
        disk.mkdir()
        self.prepare(disk)
        process = subprocess.Popen(self.command(disk), stdout=subprocess.DEVNULL, text=True, **options)
        journal = disk / "out/journal.jsonl"
        while process.poll() is None and not (journal.exists() and journal.stat().st_size > 0):
            time.sleep(0.01)
        return process


def repeat_seconds(disk):
    """The duration of the only trial's last repeat, as reported."""
    repeat = json.loads((disk / "out/report.json").read_text())["trials"][0]["repeats"][-1]
    return repeat["images_trained"] / repeat["images_per_s"]


def clock_jumps(folder, jumps=("+1h", "-1h", "+10y", "-10y")):
    """Jumps of the time of day in the middle of a run, by libfaketime; none may change the measurements.

    A repeat cannot be shorter than the delays of its images, nor longer than this process has waited for it, no matter
    how busy the machine is; a jump would make it negative or hours long.
    """
    workload, disk, offset = Slow(), Path(folder) / "disk", Path(folder) / "offset"
    training, measure = workload.spec["training"], workload.spec["measure"]
    least_s = training["batch_size"] * measure["steps"] * workload.IMAGE_S / os.cpu_count()
    for jump in jumps:
        offset.write_text("+0")
        started = time.monotonic()
        process = workload.begin(disk, stderr=subprocess.PIPE, env={
            **os.environ, "LD_PRELOAD": str(FAKE_TIME), "FAKETIME_TIMESTAMP_FILE": str(offset),
            "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1"})
        offset.write_text(jump)  # between the first repeat and the end of the second
        _, errors = process.communicate(timeout=TIMEOUT_S)
        took_s = time.monotonic() - started
        done = subprocess.CompletedProcess([], process.returncode, "", errors)
        said_s = repeat_seconds(disk) if process.returncode == 0 else float("nan")
        yield row(workload, "clock", jump, done, set(), (), said_s=round(said_s, 3)) | {
            "kept": process.returncode == 0 and least_s < said_s < took_s}


def lines_of(process, told, stopped, until_s):
    """Seconds since `stopped`, and text, of each line that comes until then or until the process ends."""
    lines, seen = [], told.read_text().count("\n")
    while time.monotonic() < stopped + until_s:
        ended = process.poll() is not None
        new = told.read_text().splitlines()[seen + len(lines):]
        lines += [(time.monotonic() - stopped, line) for line in new]
        if ended:
            break
        time.sleep(0.05)
    return lines


def stopped_rank(folder, listen_s, timeout_s=None):
    """SIGSTOP of rank 1 of 2: the job's messages, and how it ends.

    Without comm.timeout_s a line must name the rank within 10 s and then every 60 s, and after SIGCONT the run ends
    with code 0. With it, it ends with code 4, its journal is kept, and the resumed run ends like an undisturbed one.
    """
    workload, disk, told = Slow(ranks=2), Path(folder) / "disk", Path(folder) / "told"
    if timeout_s:
        workload.spec = workload.spec | {"comm": {"timeout_s": timeout_s}}
    expected, token = undisturbed(workload, disk), str(os.getpid())
    with open(told, "w") as errors:
        process = workload.begin(disk, stderr=errors, env={**os.environ, TOKEN: token})
        stopped = time.monotonic()
        ranks = ranks_of(token)
        send(ranks[-1], signal.SIGSTOP)
        lines = [(at_s, line) for at_s, line in lines_of(process, told, stopped, listen_s) if "rank 1" in line]
        send(ranks[-1], signal.SIGCONT)
        process.wait(TIMEOUT_S)
    times = [0.0, *(at_s for at_s, _ in lines)]
    measured = (disk / "out/journal.jsonl").read_text().count("\n")
    again = call(workload.command(disk))
    wrong = differences(expected, workload.outcome(disk)) if again.returncode == 0 else [again.stderr[-200:]]
    done = subprocess.CompletedProcess([], process.returncode, "", "\n".join(line for _, line in lines))
    pauses = [later - earlier for earlier, later in zip(times, times[1:])]
    ends_well = (process.returncode == 4 and measured == 1) if timeout_s else (
        process.returncode == 0 and len(pauses) > (listen_s - 10) // 60 and max(pauses) < 62)
    silent_s = pauses[0] if pauses else listen_s
    yield row(workload, "stopped rank", f"comm.timeout_s {timeout_s or 0}", done, set(), (),
              silent_s=round(silent_s, 1), lines_at_s=" ".join(f"{at:.1f}" for at in times[1:]),
              resumed=not wrong, wrong="; ".join(wrong)) | {"kept": ends_well and not wrong and silent_s < 11}

"""kill -9 at random moments: of the process, of a rank, of mpirun, or of everything that the job started on this node.

The continued command must then end with code 0 and the same outcome as an undisturbed run, and no process may be left.
A kill counts only if the command was still running. Moments between two writes, which are too short to be hit at
random, are hit by write_log.cpp, which stops the process there.
"""

import collections
import ctypes
import itertools
import os
import random
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from workloads import BINARY, TIMEOUT_S, WRITE_LOG, differences, run, undisturbed

TOKEN = "CHEXBENCH_KILLS_TOKEN"
# How long processes of a job may outlive the kill before they count as left. A lost rank ends a job within 10 s; on a
# busy machine it may take longer.
ENDING_S = 60
DURATIONS = 5  # the latest ones, whose median is how long a workload takes
MISSES = 20  # in a row, before the loop gives up
PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans():
    """Makes this process the parent of its children's orphans, so that it can reap them.

    If process 1 reaps nothing, as in many containers, they would stay zombies.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this process cannot adopt orphans")


def processes(token, states="RSDTt"):
    """Programs, by id, of the processes that were started with this token in their environment and are in a state."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if f"{TOKEN}={token}\0".encode() not in (entry / "environ").read_bytes():
                continue
            if (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] in states:
                found[int(entry.name)] = os.readlink(entry / "exe")
        except OSError:
            continue  # it ended meanwhile
    return found


def ranks_of(token):
    return sorted(number for number, program in processes(token).items() if program == str(BINARY.resolve()))


def send(number, what=signal.SIGKILL):
    try:
        os.kill(number, what)
    except ProcessLookupError:
        pass  # it ended by itself


def reap(numbers):
    """Those that are still there, even if only as zombies. To the program a zombie's temporary files are in use."""
    for number in numbers:
        try:
            os.waitpid(number, os.WNOHANG)
        except ChildProcessError:
            pass  # it has another parent, or is reaped
    return [number for number in numbers if Path(f"/proc/{number}").exists()]


def await_end(token, seen):
    """Waits until no process of the job is left, and those `seen` are reaped; those that still run after ENDING_S."""
    give_up = time.monotonic() + ENDING_S
    while (processes(token) or reap(seen)) and time.monotonic() < give_up:
        time.sleep(0.02)
    return processes(token)


def await_stop(process, token, count):
    """Continues a process that stops itself until it has stopped `count` times; False if the command ended earlier."""
    while process.poll() is None:
        for number in processes(token, "T"):
            count -= 1
            if count == 0:
                return True
            send(number, signal.SIGCONT)
        time.sleep(0.01)
    return False


class Case:
    """A workload, its outcome, and how long it takes."""

    def __init__(self, workload, disk, victims):
        self.workload, self.disk = workload, disk
        self.victims = itertools.cycle(victims)
        self.victim = next(self.victims)
        self.expected = undisturbed(workload, disk)
        self.durations = collections.deque(maxlen=DURATIONS)
        self.kills = 0  # since the duration was measured

    def begin(self):
        shutil.rmtree(self.disk, ignore_errors=True)
        self.disk.mkdir(parents=True)
        self.workload.prepare(self.disk)

    def whole_s(self):
        """The median of the latest; a new one every DURATIONS kills, because the machine is shared."""
        while not self.durations or self.kills >= DURATIONS:
            self.kills = 0
            self.begin()
            started = time.monotonic()
            run(self.workload.command(self.disk))
            self.durations.append(time.monotonic() - started)
        return statistics.median(self.durations)


class KillLoop:
    """Kills the workloads alternately; rows as dicts."""

    def __init__(self, workloads, folder, seed):
        adopt_orphans()
        self.chance = random.Random(seed)
        self.folder = Path(folder)
        self.cases = [Case(workload, self.folder / str(number),
                           ("rank", "mpirun", "all") if workload.ranks else ("process",))
                      for number, workload in enumerate(workloads)]

    def rows(self, kills):
        """Attempts until that many kills came before the command's end. @raises RuntimeError if none does"""
        landed = misses = 0
        cases = itertools.cycle(self.cases)
        case = next(cases)
        while landed < kills:
            moment_s = self.chance.uniform(0, case.whole_s())
            row = self._kill(case, lambda process, _, moment_s=moment_s: await_moment(process, moment_s, case))
            row["moment"] = f"{moment_s:.3f} s"
            yield row
            if row["hit"] == "killed":
                landed, misses, case = landed + 1, 0, next(cases)
            elif (misses := misses + 1) == MISSES:
                raise RuntimeError(f"{case.workload}: {MISSES} kills in a row came after its end")

    def rows_between(self, moments):
        """One row for each (path's end, number): victims are killed when that file was renamed so often."""
        for case in self.cases:
            for victim, (path, count) in itertools.product(("rank", "mpirun", "all") if case.workload.ranks
                                                           else ("process",), moments):
                case.victim = victim
                stops = {"LD_PRELOAD": str(WRITE_LOG), "WRITE_LOG": str(self.folder / "log"),
                         "WRITE_LOG_FOLDER": str(case.disk), "WRITE_LOG_STOP_AT": path}
                row = self._kill(case, lambda process, token, count=count: await_stop(process, token, count), stops)
                yield row | {"moment": f"after {path.lstrip('/')} {count}"}

    def _kill(self, case, await_it, environment=None):
        case.begin()
        victim, command = case.victim, case.workload.command(case.disk)
        token = str(self.chance.getrandbits(64))
        killed, code, seen = self._run_and_kill(command, victim, await_it, token, environment or {})
        left = await_end(token, seen)
        for number in left:
            send(number)
        begun = time.monotonic()
        try:
            done = run(case.workload.command(case.disk))
            code_2, wrong = done.returncode, done.stderr.strip().splitlines()[-1:]
        except subprocess.TimeoutExpired:
            code_2, wrong = None, [f"hangs for {TIMEOUT_S} s"]
        if code_2 == 0:
            wrong = self._wrong(case, done)
        if code != 0 and not killed:
            wrong = [f"code {code} before anything was killed", *wrong]
        if killed and code != 0:  # with 0, its end could not be stopped any more
            case.kills, case.victim = case.kills + 1, next(case.victims)
        return {"workload": case.workload.name, "ranks": case.workload.ranks or "", "victim": killed or victim,
                "moment": "", "hit": "killed" if killed and code != 0 else "ended first", "left": len(left),
                "code": code_2, "second_run_s": round(time.monotonic() - begun, 2),
                "survived": code_2 == 0 and not wrong and not left, "wrong": "; ".join(wrong)[:300]}

    @staticmethod
    def _wrong(case, done):
        try:
            wrong = differences(case.expected, case.workload.outcome(case.disk))
        except (OSError, ValueError, KeyError) as error:
            wrong = [f"{type(error).__name__}: {error}"]
        return wrong + [line for line in done.stderr.splitlines() if "training again" in line]

    def _run_and_kill(self, command, victim, await_it, token, environment):
        """The killed process (None: it had ended), the command's code, and its processes at that time."""
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**os.environ, TOKEN: token, **environment})
        await_it(process, token)
        running, ranks = processes(token), ranks_of(token)
        if victim == "rank" and not ranks:
            victim = "mpirun"  # it has not started any yet
        if process.poll() is not None:
            return None, process.returncode, list(running)
        victims = {"all": list(running), "rank": ranks and [self.chance.choice(ranks)]}.get(victim, [process.pid])
        for number in victims:
            send(number)
        for number in running:
            send(number, signal.SIGCONT)
        return victim, process.wait(TIMEOUT_S), list(running)


def await_moment(process, moment_s, case):
    """Waits that long; a command that ended earlier shows its duration."""
    started = time.monotonic()
    try:
        process.wait(moment_s)
        case.durations.append(time.monotonic() - started)
    except subprocess.TimeoutExpired:
        pass


def measure(workloads, kills, seed):
    """Rows until so many kills came before the end, shared out over the workloads."""
    with tempfile.TemporaryDirectory(prefix="chexbench-kills-") as folder:
        yield from KillLoop(workloads, folder, seed).rows(kills)


def measure_between(workloads, moments, seed):
    """Rows of kills right after files took their names: (end of the path, how often it was renamed)."""
    with tempfile.TemporaryDirectory(prefix="chexbench-kills-") as folder:
        yield from KillLoop(workloads, folder, seed).rows_between(moments)

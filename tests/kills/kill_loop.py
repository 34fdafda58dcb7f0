"""kill -9 at random moments: of the process, of a rank, of mpirun, or of everything that the job started on this node.

The command that goes on must then end with code 0 and with what an undisturbed run ends with, and no process may be
left.
"""

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from workloads import BINARY, TIMEOUT_S, differences, run, undisturbed

TOKEN = "CHEXBENCH_KILLS_TOKEN"
# How long processes of a job may outlive what was killed; a lost rank ends a job within 10 s.
ENDING_S = 15


def processes(token):
    """Ids of the running processes that were started with this token in their environment, by what they run."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if f"{TOKEN}={token}\0".encode() not in (entry / "environ").read_bytes():
                continue
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
            if state != "Z":
                found[int(entry.name)] = os.readlink(entry / "exe")
        except OSError:
            continue  # it ended meanwhile
    return found


def kill(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it ended by itself


def await_end(token, seen):
    """Waits until no process of the job is left, and those `seen` are reaped; those that still run after ENDING_S.

    To the program a process that nobody has reaped yet is there, so its temporary files stay.
    """
    give_up = time.monotonic() + ENDING_S
    while (processes(token) or any(Path(f"/proc/{number}").exists() for number in seen)) and time.monotonic() < give_up:
        time.sleep(0.02)
    return processes(token)


class KillLoop:
    """Kills workloads in turn; rows as dicts."""

    def __init__(self, workloads, folder, seed):
        self.chance = random.Random(seed)
        self.folder = Path(folder)
        self.cases = []
        for number, workload in enumerate(workloads):
            disk = self.folder / str(number)
            expected = undisturbed(workload, disk)
            self._begin(workload, disk)
            started = time.monotonic()
            run(workload.command(disk))
            self.cases.append((workload, disk, expected, time.monotonic() - started))

    @staticmethod
    def _begin(workload, disk):
        shutil.rmtree(disk, ignore_errors=True)
        disk.mkdir(parents=True)
        workload.prepare(disk)

    def rows(self, kills):
        for number in range(kills):
            yield {"kill": number} | self._kill(*self.cases[number % len(self.cases)])

    def _kill(self, workload, disk, expected, whole_s):
        self._begin(workload, disk)
        victim = self.chance.choice(["rank", "mpirun", "all"]) if workload.ranks else "process"
        moment_s = self.chance.uniform(0, whole_s)
        token = str(self.chance.getrandbits(64))
        ended, seen = self._run_and_kill(workload.command(disk), victim, moment_s, token)
        left = await_end(token, seen)
        for process in left:
            kill(process)
        begun = time.monotonic()
        try:
            done = run(workload.command(disk))
            code, wrong = done.returncode, done.stderr.strip().splitlines()[-1:]
        except subprocess.TimeoutExpired:
            code, wrong = None, [f"hangs for {TIMEOUT_S} s"]
        if code == 0:
            try:
                wrong = differences(expected, workload.outcome(disk))
            except (OSError, ValueError, KeyError) as error:
                wrong = [f"{type(error).__name__}: {error}"]
        return {"workload": workload.name, "ranks": workload.ranks or "", "victim": victim,
                "moment_s": round(moment_s, 3),
                "had_ended": ended, "left": len(left), "code": code, "second_run_s": round(time.monotonic() - begun, 2),
                "survived": code == 0 and not wrong and not left, "wrong": "; ".join(wrong)[:300]}

    def _run_and_kill(self, command, victim, moment_s, token):
        """Whether the command had ended before it was to be killed, and the processes that it had."""
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env={**os.environ, TOKEN: token})
        time.sleep(moment_s)
        ended = process.poll() is not None
        running = processes(token)
        if victim in ("process", "mpirun"):
            victims = [process.pid]
        elif victim == "all":
            victims = list(running)
        else:
            ranks = sorted(number for number, program in running.items() if program == str(BINARY.resolve()))
            victims = [self.chance.choice(ranks)] if ranks else [process.pid]
        for number in victims:
            if not ended:
                kill(number)
        process.wait(TIMEOUT_S)
        return ended, list(running)


def measure(workloads, kills, seed):
    """Rows of so many kills, shared out over the workloads."""
    with tempfile.TemporaryDirectory(prefix="chexbench-kills-") as folder:
        yield from KillLoop(workloads, folder, seed).rows(kills)

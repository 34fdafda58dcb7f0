"""Loss of power at every moment: the possible states of a disk, and whether the second run copes.

A workload runs once, with write_log.cpp preloaded. For each prefix of its log, and each kind of state that
crash_states.py computes, the disk is put into that state, and the continuing command is run: it must end with code 0
and the same outcome as an undisturbed run. If the first run had ended with code 0, the disk must have all of that
without another run.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from crash_states import KINDS, Disk, contents, read_log, signature
from workloads import WRITE_LOG, differences, run, undisturbed


def lay_out(disk, state):
    """Gives the folder exactly this state. Inputs keep their modification times."""
    for path in list(disk.iterdir()):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path, content in contents(state).items():
        if content is None:
            os.makedirs(path, exist_ok=True)
        else:
            with open(path, "wb") as file:
                file.write(content)


def spread(things, most):
    """At most that many of them, from the first to the last."""
    if not most or len(things) <= most:
        return things
    return [things[i * (len(things) - 1) // (most - 1)] for i in range(most)]


class PowerLoss:
    """The states of one workload, and the rows from running it again from them."""

    def __init__(self, workload, folder, seed=1):
        self.workload, self.seed = workload, seed
        self.disk = Path(folder) / "disk"
        self.expected = undisturbed(workload, self.disk)
        self._record(Path(folder) / "log")

    def _record(self, log):
        log.unlink(missing_ok=True)
        shutil.rmtree(self.disk)
        self.disk.mkdir()
        self.workload.prepare(self.disk)
        model = Disk(self.disk)
        environment = {**os.environ, "LD_PRELOAD": str(WRITE_LOG), "WRITE_LOG": str(log),
                       "WRITE_LOG_FOLDER": str(self.disk)}
        done = run(self.workload.command(self.disk), env=environment)
        if done.returncode != 0:
            raise RuntimeError(f"{self.workload}: code {done.returncode} while it was recorded: {done.stderr}")
        self.states, self.lost = [], {}
        kinds = [kind for kind in KINDS if kind not in self.workload.unpromised]
        seen = set()
        records = read_log(log)
        for number, record in enumerate(records, 1):
            model.apply(record)
            self.lost.update((name, number) for name in model.lost() if name not in self.lost)
            for kind in kinds:
                state = model.state(kind, self.seed)
                if signature(state) not in seen:
                    seen.add(signature(state))
                    self.states.append((number, kind, state))
        self.moments = len(records)
        self.end = [(kind, model.state(kind, self.seed)) for kind in KINDS]
        self._check_replay(model)

    def _check_replay(self, model):
        """Whether the log has every change: replaying it must give the actual contents."""
        replayed = contents(model.state("killed", self.seed))
        there = {str(path): path.read_bytes() if path.is_file() else None for path in self.disk.rglob("*")}
        if replayed != there:
            raise RuntimeError(f"{self.workload}: the log lacks changes of {differences(replayed, there)}")

    def rows(self, most=None):
        """Runs the workload again from each state, or from so many of them; yields rows as dicts."""
        for kind, state in self.end:
            lay_out(self.disk, state)
            yield self._row(self.moments, kind, "no run", 0, self._wrong())
        for moment, kind, state in spread(self.states, most):
            lay_out(self.disk, state)
            try:
                done = run(self.workload.command(self.disk))
            except subprocess.TimeoutExpired as reason:
                yield self._row(moment, kind, "second run", None, [str(reason)])
                continue
            wrong = self._wrong() if done.returncode == 0 else done.stderr.strip().splitlines()[-1:]
            yield self._row(moment, kind, "second run", done.returncode, wrong)

    def _wrong(self):
        try:
            return [name for name in differences(self.expected, self.workload.outcome(self.disk))]
        except (OSError, ValueError, KeyError) as error:
            return [f"{type(error).__name__}: {error}"]

    def _row(self, moment, kind, after, code, wrong):
        return {"workload": str(self.workload), "moment": moment, "moments": self.moments, "state": kind, "then": after,
                "code": code, "equal": not wrong and code == 0, "wrong": "; ".join(wrong)[:300]}


def measure(workload, most=None, seed=1):
    """Rows of one workload in a separate folder."""
    with tempfile.TemporaryDirectory(prefix="chexbench-power-") as folder:
        loss = PowerLoss(workload, folder, seed)
        for name, moment in loss.lost.items():
            yield {"workload": str(workload), "moment": moment, "moments": loss.moments, "state": "guaranteed",
                   "then": "no run", "code": 0, "equal": False, "wrong": f"the name of a synced file is lost: {name}"}
        yield from loss.rows(most)

"""Children that end in time: a budget for all of them together, and every process of a child killed at its deadline."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass

GRACE_S = 4  # between asking a child to end and killing it: enough for it to write its measurements


class Budget:
    """Seconds for everything, from now on."""

    def __init__(self, seconds, clock=time.monotonic):
        self.seconds = seconds
        self._clock = clock
        self._end_s = clock() + seconds

    def left_s(self):
        """The part that a child may take until it is asked to end."""
        return max(0.0, self._end_s - GRACE_S - 1 - self._clock())


@dataclass
class Done:
    """The outcome of a child; `cut` if its time ran out."""
    code: int
    output: str
    errors: str
    cut: bool
    seconds: float


def run(command, limit_s, log, environment=None):
    """Runs a command with its output in LOG.out and LOG.err: files, because a surviving grandchild could hold a
    pipe."""
    start = time.monotonic()
    out, err = log.with_name(log.name + ".out"), log.with_name(log.name + ".err")
    with out.open("w") as output, err.open("w") as errors:
        try:
            child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                                     stderr=errors, env={**os.environ, **(environment or {})}, start_new_session=True)
        except OSError as error:
            return Done(127, "", str(error), False, 0.0)
        cut = False
        try:
            child.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            cut = True
        finally:  # even an interrupt of this program must leave no child behind
            _end(child)
    code = -signal.SIGKILL if child.returncode is None else child.returncode
    return Done(code, out.read_text(errors="replace"), err.read_text(errors="replace"), cut, time.monotonic() - start)


def _end(child):
    """Ends the rest of the child's session, first politely."""
    if child.poll() is None:
        _signal(child, signal.SIGTERM)
        try:
            child.wait(timeout=GRACE_S)
        except subprocess.TimeoutExpired:
            pass
    _signal(child, signal.SIGKILL)
    try:
        child.wait(timeout=GRACE_S)
    except subprocess.TimeoutExpired:
        pass  # it hangs in the driver, where no signal reaches it


def _signal(child, number):
    try:
        os.killpg(child.pid, number)
    except ProcessLookupError:
        pass  # all of them have ended

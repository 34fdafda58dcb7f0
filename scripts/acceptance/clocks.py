"""The clock and the power of the first GPU while a child runs, by nvidia-smi: rows are compared at one clock only."""

import contextlib
import statistics
import subprocess

COMMAND = ["nvidia-smi", "--id=0", "--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits", "-lms", "500"]


@contextlib.contextmanager
def watched(log):
    """Yields a function that returns the samples so far: none on a machine without nvidia-smi."""
    file = log.with_name(log.name + ".clocks")
    with file.open("w") as output:
        try:
            child = subprocess.Popen(COMMAND, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL)
        except OSError:
            yield dict
            return
        try:
            yield lambda: read(file.read_text())
        finally:
            child.kill()
            child.wait()


def read(text):
    """Medians over the half of the samples with the most power, which is when the GPU worked."""
    samples = []
    for line in text.splitlines():
        try:
            clock_mhz, power_w = map(float, line.split(","))
        except ValueError:
            continue  # cut off, or a figure that this GPU does not report
        samples.append((power_w, clock_mhz))
    busy = sorted(samples)[len(samples) // 2:]
    if not busy:
        return {}
    return {"sm_clock_mhz": statistics.median(clock for _, clock in busy),
            "power_w": round(statistics.median(power for power, _ in busy), 1)}

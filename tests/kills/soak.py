"""One trial for a long time, from a shaped store that sometimes fails: what grows, and whether the rate drifts.

The store is a web server of this machine that answers 503, hangs up, or sends half of an answer, once in a while.
"""

import argparse
import csv
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))
from web_server import Server, die_in_the_middle, hang_up, say  # noqa: E402
from workloads import BINARY, ROOT, synthesize  # noqa: E402

STORE_IMAGES_PER_S = 24  # a twentieth of a core
# The engine takes a little less than the store delivers, so that all buffers are full from the warm-up on. Otherwise
# the machine's other work would decide when they are fullest, and when memory grows to that.
ENGINE_IMAGES_PER_S = 20
BATCH = 64  # steps are recorded, so few of them
SAMPLE_S = 5
BLOCKS = 30
FAILS_ONE_OF = 40
# The part of the run in which caches and pools fill; slopes exclude it.
WARM_UP_SHARE = 0.5
MIB = 1 << 20


class Misbehaving:
    """Fails one request in FAILS_ONE_OF, alternating between three ways; counts them."""

    def __init__(self):
        self.requests = self.failed = 0
        self.ways = (say(503), hang_up, die_in_the_middle)

    def __call__(self, handler):
        handler.server.requests.clear()  # it would keep a record of each
        handler.server.authorizations.clear()
        if not handler.path.endswith(".png"):
            return False
        self.requests += 1
        if self.requests % FAILS_ONE_OF:
            return False
        self.ways[self.failed % len(self.ways)](handler)
        self.failed += 1
        return True


def sample(process):
    """RSS in bytes, threads, open descriptors; None once it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
        fields = dict(line.split(":", 1) for line in status.splitlines())
        return (int(fields["VmRSS"].split()[0]) * 1024, int(fields["Threads"]), len(os.listdir(f"/proc/{process}/fd")))
    except (OSError, KeyError):
        return None


def slope(times_h, values):
    """Least squares: slope per hour and half of its 95 % interval; NaN of fewer than three points."""
    count = len(times_h)
    if count < 3:
        return math.nan, math.nan
    middle, mean = statistics.fmean(times_h), statistics.fmean(values)
    spread = sum((time_h - middle) ** 2 for time_h in times_h)
    rise = sum((time_h - middle) * (value - mean) for time_h, value in zip(times_h, values)) / spread
    residuals = sum((value - mean - rise * (time_h - middle)) ** 2 for time_h, value in zip(times_h, values))
    # Student's t of 95 % by its expansion about the normal quantile (Abramowitz and Stegun 26.7.5), to 1 % from 3 on.
    freedom = count - 2
    quantile = 1.960 + 2.372 / freedom + 2.823 / freedom ** 2 + 2.556 / freedom ** 3
    return rise, quantile * math.sqrt(residuals / freedom / spread)


def blocks(rows, key, count=BLOCKS):
    """Means of that many blocks of equal time, as (times in h, values): neighbouring samples are not independent."""
    begin_s, whole_s = rows[0]["elapsed_s"], rows[-1]["elapsed_s"] - rows[0]["elapsed_s"]
    parts = {}
    for row in rows:
        parts.setdefault(min(count - 1, int(count * (row["elapsed_s"] - begin_s) / max(whole_s, 1e-9))), []).append(row)
    return ([statistics.fmean(row["elapsed_s"] for row in part) / 3600 for part in parts.values()],
            [statistics.fmean(row[key] for row in part) for part in parts.values()])


def profile():
    """An accelerator of the engine's rate (configs/accelerators/README.md)."""
    return {"name": "soak", "device": "none", "entries": [
        {"model": "resnet50", "image_size": 224, "precision": "f32", "batch_size": BATCH,
         "images_per_s": ENGINE_IMAGES_PER_S, "includes_update": True, "includes_communication": False,
         "source": "scripts/soak"}]}


def spec_of(url, minutes, profile_path):
    return {"experiment": "soak", "data": {"root": url, "split": "all"}, "pipeline": "optimized",
            "engine": f"emulated:{profile_path}",
            "store": {"shape": {"latency_ms": 5, "jitter_ms": 5, "iops": STORE_IMAGES_PER_S}},
            "training": {"batch_size": BATCH},
            "measure": {"warmup_steps": 1, "steps": max(1, round(60 * minutes * ENGINE_IMAGES_PER_S / BATCH)),
                        "repeats": 1, "extra_repeats": 0, "page_cache": "as_is"}}


def soak(folder, minutes):
    """Runs; rows of samples, the server's counts, exit code, stderr's last line."""
    images, out = folder / "set", folder / "out"
    synthesize(images, images=240, size=256)
    misbehaving, rows = Misbehaving(), []
    with Server(images, misbehaving) as server, open(folder / "log", "w+") as log:
        (folder / "soak.json").write_text(json.dumps(profile()))
        (folder / "spec.json").write_text(json.dumps(spec_of(server.url, minutes, folder / "soak.json")))
        process = subprocess.Popen([str(BINARY), "--config", str(folder / "spec.json"), "--output", str(out),
                                    "--set", "pipeline.prefetch[1].buffer=2"],  # "auto" may grow at any time
                                   stdout=subprocess.DEVNULL, stderr=log)
        started = time.monotonic()
        try:
            while process.poll() is None:
                elapsed_s, taken = time.monotonic() - started, sample(process.pid)
                if taken:
                    rows.append(dict(zip(("elapsed_s", "rss_bytes", "threads", "descriptors", "requests"),
                                         (round(elapsed_s, 1), *taken, misbehaving.requests))))
                time.sleep(SAMPLE_S)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                process.wait(60)
        log.seek(0)
        return rows, misbehaving, process.returncode, (log.read().strip().splitlines() or [""])[-1]


def summary(rows):
    """(what, unit, mean, slope per hour, half of its 95 % interval) of each figure after the warm-up."""
    kept = [row for row in rows if row["elapsed_s"] >= WARM_UP_SHARE * rows[-1]["elapsed_s"]]
    for earlier, row in zip(kept, kept[1:]):
        row["rate"] = (row["requests"] - earlier["requests"]) / (row["elapsed_s"] - earlier["elapsed_s"])
    lines = []
    for what, unit, key, scale in (("RSS", "MiB", "rss_bytes", MIB), ("threads", "", "threads", 1),
                                   ("descriptors", "", "descriptors", 1), ("rate", "requests/s", "rate", 1)):
        times_h, values = blocks(kept[1:], key)
        values = [value / scale for value in values]
        lines.append((what, unit, statistics.fmean(values), *slope(times_h, values)))
    return lines


def main():
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=480, help="how long the trial takes (default: 480)")
    parser.add_argument("--output", type=Path, default=ROOT / "results/trust/soak.csv", metavar="FILE",
                        help="CSV of the samples (default: results/trust/soak.csv)")
    arguments = parser.parse_args()
    if arguments.minutes <= 0:
        parser.error("--minutes: it must be above 0")
    with tempfile.TemporaryDirectory(prefix="chexbench-soak-") as folder:
        rows, server, code, last = soak(Path(folder), arguments.minutes)
    if len(rows) < 6:
        sys.exit(f"scripts/soak: the run ended too early: code {code}: {last}")
    with open(arguments.output, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{rows[-1]['elapsed_s'] / 60:.1f} minutes, {server.failed} of {server.requests} requests failed,"
          f" code {code}; after {WARM_UP_SHARE:.0%} of that:")
    print(f"{'':12} {'mean':>10} {'slope an hour':>16} {'95 % interval':>16}")
    for what, unit, mean, rise, half in summary(rows):
        print(f"{what:12} {mean:10.2f} {rise:+16.3f} {f'+- {half:.3f}':>16} {unit}")
    sys.exit(0 if code == 0 else 5)

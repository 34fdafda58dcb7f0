"""Runs two sides alternately (A B A B ...), round by round, and reports how much faster one of them is.

A ratio is taken within a round, where both sides see the same machine, and then over the rounds: the median, with the
least and the largest. So load that comes and goes cancels out, and the rest shows in the range.
"""

import argparse
import csv
import datetime
import functools
import json
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
# Settings that make each library use its code for an instruction set. ISA-L has no such switch.
ISA_ENVIRONMENT = {
    "native": {},
    "avx2": {
        "CHEXBENCH_ISA": "avx2", "DNNL_MAX_CPU_ISA": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2",
        "ATEN_CPU_CAPABILITY": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "OPENCV_CPU_DISABLE": "AVX512_SKX,AVX512_CNL,AVX512_CLX,AVX512_ICL"},
}


@dataclass
class Case:
    """One comparison: both commands must print figures that the readers understand."""
    name: str
    ours: list
    peer: list
    packages: tuple = ()  # Python packages whose versions are the peer's
    uses: tuple = ()  # the CPU's kind, and the instruction sets of each side
    ours_rates: list = field(default_factory=list)
    peer_rates: list = field(default_factory=list)

    def ratios(self):
        return [ours / peer for ours, peer in zip(self.ours_rates, self.peer_rates)]


def add_arguments(parser):
    """The options of all comparisons."""
    parser.add_argument("--chexbench", type=Path, default=ROOT / "build/release/bin/chexbench")
    parser.add_argument("--python", type=Path, default=ROOT / "build/peers-venv/bin/python",
                        help="of the environment that scripts/peers/setup made")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--isa", choices=sorted(ISA_ENVIRONMENT), default="native")
    parser.add_argument("--case", action="append", default=[], metavar="TEXT",
                        help="only cases whose name holds TEXT; may be given several times")
    parser.add_argument("--output", type=Path, help="write every round's figures into this CSV file")


def parse(parser):
    arguments = parser.parse_args()
    arguments.environment = {**os.environ, **ISA_ENVIRONMENT[arguments.isa]}
    for name in ("chexbench", "python"):
        path = getattr(arguments, name)
        if not path.exists():
            parser.error(f"no {path}; run scripts/{'quickstart' if name == 'chexbench' else 'peers/setup'} first")
    return arguments


def run(command, environment):
    """The standard output of a command; ends this program with the command's own message if it fails."""
    done = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed with {done.returncode}:\n{done.stderr[-3000:]}")
    return done.stdout


def figure(output, name="images/s"):
    """The number after 'name:' in a peer's output."""
    for line in reversed(output.splitlines()):
        if line.startswith(name + ": "):
            return float(line.removeprefix(name + ": "))
    sys.exit(f"no '{name}:' in:\n{output[-2000:]}")


def chexbench_rate(output):
    """images/s of the one trial in chexbench's CSV."""
    rows = list(csv.DictReader(output.splitlines()))
    if len(rows) != 1 or not rows[0]["images_per_s"]:
        sys.exit(f"expected one measured trial, got:\n{output[-2000:]}")
    return float(rows[0]["images_per_s"])


def take_turns(cases, arguments):
    wanted = [case for case in cases if not arguments.case or any(text in case.name for text in arguments.case)]
    for case in wanted:  # early, because an error after hours of rounds would lose them
        case.uses = (cpu_kind(arguments), ours_uses(arguments), peer_uses(case, arguments))
    for number in range(1, arguments.rounds + 1):
        for case in wanted:
            case.ours_rates.append(chexbench_rate(run(case.ours, arguments.environment)))
            case.peer_rates.append(figure(run(case.peer, arguments.environment)))
            print(f"round {number}/{arguments.rounds}  {case.name}: {case.ours_rates[-1]:.1f} against "
                  f"{case.peer_rates[-1]:.1f} images/s, {case.ratios()[-1]:.2f}x", file=sys.stderr, flush=True)
    return wanted


def cpu_name():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


@functools.cache
def doctor(chexbench, isa):
    """The output of `chexbench doctor` on this machine, limited to the instruction set of both sides."""
    command = [chexbench, "doctor", "--format", "json"]
    done = subprocess.run(command, env={**os.environ, **ISA_ENVIRONMENT[isa]}, capture_output=True, text=True)
    return json.loads(done.stdout)  # its exit code is about GPUs


def cpu_kind(arguments):
    """The CPU's generation and its unused features: "Zen 4, not used: AVX-512 (the hypervisor hides it)"."""
    found = doctor(arguments.chexbench, arguments.isa)["machine"]
    unused = "".join(f", not used: {name}" for name in found["unused_instruction_sets"])
    return (found["cpu_kind"] or "unknown kind") + unused


def ours_uses(arguments):
    found = doctor(arguments.chexbench, arguments.isa)
    return f"preprocessing {found['preprocessing_instruction_set']}, training {found['training_instruction_sets']}"


# One convolution each: oneDNN prints the instruction set that it uses.
ONE_CONVOLUTION = {
    "torch": "import torch as t; t.nn.functional.conv2d(t.ones(16, 64, 56, 56), t.ones(64, 64, 3, 3))",
    "tensorflow_cpu": "import tensorflow as t; t.nn.conv2d(t.ones((1, 9, 9, 16)), t.ones((3, 3, 16, 16)), 1, 'SAME')"}


def peer_uses(case, arguments):
    """The instruction set of the peer's oneDNN; empty if it has none or does not print it."""
    for package in case.packages:
        if package in ONE_CONVOLUTION:
            verbose = {**arguments.environment, "ONEDNN_VERBOSE": "1", "TF_ENABLE_ONEDNN_OPTS": "1"}
            output = run([arguments.python, "-c", ONE_CONVOLUTION[package]], verbose)
            return next((line.split("isa:", 1)[1] for line in output.splitlines() if ",isa:" in line), "")
    return ""


def machine(arguments):
    """Where and when, in one line."""
    return (f"{cpu_name()} ({cpu_kind(arguments)}), {len(os.sched_getaffinity(0))} CPUs, instruction set "
            f"{arguments.isa}, {datetime.date.today().isoformat()}, {arguments.rounds} alternating rounds; "
            f"chexbench uses: {ours_uses(arguments)}")


def package_versions(names, arguments):
    """The version of each package of the peers' environment, by name."""
    if not names:
        return {}
    code = "import sys, importlib.metadata as m\nfor name in sys.argv[1:]: print(m.version(name))"
    return dict(zip(names, run([arguments.python, "-c", code, *names], arguments.environment).split()))


def chexbench_version(arguments):
    """The program's version, with the commit of this checkout."""
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    version = run([arguments.chexbench, "--version"], arguments.environment).strip()
    return f"{version} ({commit.stdout.strip() or 'no git'})"


def markdown(cases, peer_heading, arguments):
    versions = package_versions(sorted({name for case in cases for name in case.packages}), arguments)
    lines = [f"| {peer_heading} | version | chexbench {chexbench_version(arguments)}, images/s | peer, images/s | "
             "ratio: median (least to largest) |", "|---|---|---|---|---|"]
    for case in cases:
        ratios = case.ratios()
        peer_version = ", ".join(f"{name} {versions[name]}" for name in case.packages)
        lines.append(f"| {case.name} | {peer_version} | {statistics.median(case.ours_rates):.1f} | "
                     f"{statistics.median(case.peer_rates):.1f} | "
                     f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |")
    return "\n".join(lines)


def write_csv(cases, arguments):
    if arguments.output is None:
        return
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    with arguments.output.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "round", "chexbench_images_per_s", "peer_images_per_s", "ratio", "isa", "cpu", "date",
                         "cpu_kind", "chexbench_uses", "peer_uses"])
        for case in cases:
            for number, (ours, peer) in enumerate(zip(case.ours_rates, case.peer_rates), 1):
                writer.writerow([case.name, number, ours, peer, f"{ours / peer:.3f}", arguments.isa, cpu_name(),
                                 datetime.date.today().isoformat(), *case.uses])
    print(f"wrote {arguments.output}", file=sys.stderr)


def main_parser(text):
    return argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)

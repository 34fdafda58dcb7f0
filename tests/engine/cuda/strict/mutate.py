#!/usr/bin/env python3
"""Removes the waits, records, marks, barriers and host copies of the GPU engine from its sources, one at a time, and
reports those that no test over the strict stand-in detects.

  mutate.py [--build DIR] [PATTERN]   only places whose "file:line: text" contains PATTERN

Builds and runs cuda_strict_test for each place, in the working tree itself, which must have no changes; it takes some
15 s a place. A survivor is a statement whose absence no test finds; see README.md for why the known ones are harmless.
Exit status: 0 no other survivor, 1 some.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
KNOWN = Path(__file__).with_name("README.md")
FILES = ["lib/engine/cuda/runtime/*.cpp", "lib/engine/cuda/runtime/stream.hpp", "lib/engine/cuda/training/*.cpp",
         "lib/engine/cuda/convolution/plan_bench.cpp", "lib/comm/nccl/nccl_world.cpp",
         "lib/comm/nccl/bucket_clock.cpp"]
# Whole statements that order work or move it between host and device.
STATEMENT = re.compile(
    r"^\s*(?:check_cuda\(|nccl::check\(|check\()?\s*(?:\w+(?:\.|->))*"
    r"(?:wait_for|wait_until|record|mark|synchronize|copy_to_device|copy_to_host|clear|join|cudaStreamWaitEvent|"
    r"cudaEventRecord|cudaEventRecordWithFlags|cudaEventSynchronize|cudaStreamSynchronize|cudaDeviceSynchronize|"
    r"cudaSetDevice|cudaGetLastError)\(.*\);\s*(?://.*)?$")


def places():
    """(file, number of the line) of every such statement that is on one line."""
    for pattern in FILES:
        for file in sorted(ROOT.glob(pattern)):
            for number, line in enumerate(file.read_text().splitlines()):
                if STATEMENT.match(line):
                    yield file, number, line.strip()


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test(build):
    """The outcome of the test: "killed by ..." or "survived"."""
    if run("cmake", "--build", build, "--target", "cuda_strict_test").returncode:
        return "killed by the compiler"
    try:
        done = subprocess.run([ROOT / build / "bin/cuda_strict_test", "--gtest_brief=1", "--gtest_fail_fast"],
                              capture_output=True, text=True, timeout=600)
    except subprocess.TimeoutExpired:
        return "killed by a test that never ends"
    if done.returncode == 0:
        return "survived"
    failed = re.search(r"\[  FAILED  \] (\S+)", done.stdout)
    return f"killed by {failed.group(1) if failed else f'exit status {done.returncode}'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="the build tree (default: %(default)s)")
    parser.add_argument("pattern", nargs="?", default="")
    options = parser.parse_args()
    known = KNOWN.read_text()
    unexplained = 0
    for file, number, text in places():
        name = f"{file.relative_to(ROOT)}:{number + 1}: {text}"
        if options.pattern not in name:
            continue
        original = file.read_text()
        lines = original.splitlines(keepends=True)
        lines[number] = f"if (false) {text}\n"  # still compiled, so that nothing becomes unused
        try:
            file.write_text("".join(lines))
            outcome = test(options.build)
        finally:
            file.write_text(original)
        if outcome == "survived":
            explained = f"`{file.relative_to(ROOT)}: {text}`" in known
            outcome += ", as explained" if explained else ", UNEXPLAINED"
            unexplained += not explained
        print(f"{outcome}: {name}", flush=True)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())

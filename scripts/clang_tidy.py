#!/usr/bin/env python3
"""Runs clang-tidy over compiled sources, on all cores, but not again over one that passed with the same contents.

A source passed if ~/.cache/chexbench-tidy has a file named after the hash of all of clang-tidy's input: the source, the
project's headers that it includes, directly or not, the flags, .clang-tidy, and the versions of other headers and of
clang-tidy itself. Prints findings only; exits with 1 if there are any.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "chexbench-tidy"
INCLUDE = re.compile(rb'^#include "([^"]+)"', re.MULTILINE)
GCC = subprocess.run(["g++", "-print-file-name=include"], capture_output=True, text=True, check=True).stdout.strip()
# Warnings that only g++ knows must not count, nor unity sources that include sources, nor what libstdc++'s own
# std::stable_sort uses. omp.h is GCC's. cudnn-frontend, which only conv_plans.cpp includes, takes minutes.
ARGUMENTS = ["--quiet", f"--extra-arg=-idirafter{GCC}",
             "--checks=-bugprone-suspicious-include", "--extra-arg=-Wno-unknown-warning-option",
             "--extra-arg=-Wno-unused-command-line-argument", "--extra-arg=-Wno-overlength-strings",
             "--extra-arg=-Wno-deprecated-declarations"]
FETCHED = ROOT / "build/clang-tidy/data/bin/clang-tidy"  # by scripts/setup, on x86-64
TOOL = str(FETCHED) if FETCHED.exists() else shutil.which("clang-tidy")
LEFT_OUT = "/conv_plans.cpp"


@functools.cache
def contents(path):
    return path.read_bytes()


def add_included(path, folders, found):
    """Adds the file and all of the project's that it includes, directly or not, to `found`."""
    if path in found:
        return
    found.add(path)
    for name in INCLUDE.findall(contents(path)):
        places = (folder / name.decode() for folder in (path.parent, *folders))  # an absolute name replaces the folder
        place = next(filter(Path.is_file, places), None)
        if place:
            add_included(place, folders, found)


def key(command, common):
    folders = [Path(folder) for folder in re.findall(r"-I(\S+)", command["command"])]
    found = set()
    add_included(Path(command["file"]), folders, found)
    digest = hashlib.sha256(common + command["command"].replace(str(ROOT), "").encode())
    for path in sorted(found):
        digest.update(f"{path}\0".replace(str(ROOT), "").encode() + contents(path).replace(str(ROOT).encode(), b""))
    return digest.hexdigest()


def versions():
    """Returns the versions of everything outside the checkout: from Debian, of CUDA, from PyPI."""
    debian = subprocess.run(["dpkg-query", "-W"], capture_output=True, check=True).stdout
    cuda = Path("/usr/local/cuda/version.json")
    pinned = sorted((ROOT / "scripts/requirements").iterdir())
    return debian + b"".join(path.read_bytes() for path in (cuda, *pinned) if path.is_file())


def check(build, command, common):
    """Returns clang-tidy's findings in a source, "" if none."""
    passed = CACHE / key(command, common)
    if passed.exists():
        return ""
    done = subprocess.run([TOOL, "-p", build, *ARGUMENTS, command["file"]], capture_output=True, text=True)
    if done.returncode == 0:
        passed.touch()
        return ""
    return done.stdout or done.stderr or f"{command['file']}: clang-tidy ended with {done.returncode}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="a build folder with compile_commands.json")
    parser.add_argument("files", nargs="*", help="sources as compile_commands.json names them; all without one")
    arguments = parser.parse_args()
    if TOOL is None:
        sys.exit("clang_tidy.py: there is no clang-tidy; install it by scripts/setup lint")
    build, files = arguments.build, arguments.files
    CACHE.mkdir(parents=True, exist_ok=True)
    commands = json.loads((build / "compile_commands.json").read_text())
    if files:
        compiled = {one["file"]: one for one in commands}
        wanted = [str((ROOT / name).resolve()) for name in files]
        for name in wanted:
            if name not in compiled:
                sys.exit(f"clang_tidy.py: {name} is not compiled in {build}")
        commands = [compiled[name] for name in wanted]
    else:
        commands = [one for one in commands if one["file"].endswith((".cpp", ".cxx")) and LEFT_OUT not in one["file"]]
    common = "".join(ARGUMENTS).encode() + (ROOT / ".clang-tidy").read_bytes() + versions()
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        findings = list(filter(None, pool.map(lambda one: check(build, one, common), commands)))
    print("".join(findings), end="")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

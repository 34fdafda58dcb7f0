"""The rules of this project that no ready-made linter knows; prints each breach as FILE:LINE: text.

usage: lint_rules.py            (in the repository root; exit status 1 where a rule is broken)

- link law: a room includes only rooms that lib/README.md lets it use
- wraps: a third-party header appears only in the folder that wraps it, and a header that includes one is private to it
- marks: no to-do marks, no `#ifdef` in C++ bodies
- links: every relative link of a README leads to a file
- length: files over 400 lines are named, as a warning
"""

import re
import subprocess
import sys
from pathlib import Path

LINK_LINE = re.compile(r"^(\w+)\s+-> (.+)$", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')
MARKDOWN_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
MARK = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")  # written so that this file holds none
CONDITIONAL = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef)\b")
ANY_ROOM_MAY_USE = {"core", "spec"}
WRAPPED_BY = {  # pattern of a third-party header: the folders whose files may include it
    r"opencv2/": ["lib/data"],
    r"isa-l(\.h|/)": ["lib/data"],
    r"zlib\.h": ["lib/data"],
    r"(curl|nfsc)/": ["lib/data"],
    r"(dnnl|oneapi/)": ["lib/engine/onednn"],
    r"(cudnn|cublas)": ["lib/engine/cuda"],
    r"cuda_runtime": ["lib/engine/cuda", "lib/comm/nccl"],
    r"mpi\.h": ["lib/comm"],
    r"nccl\.h": ["lib/comm/nccl"],
    r"nlohmann/": ["lib/spec", "lib/report"],
    r"spdlog/": ["lib/core"],
    r"hwloc": ["lib/core"],
    r"nvml\.h": ["lib/measure"],
    r"cupti": ["lib/measure/kernel_time"],
    r"CLI/": ["apps"],
}
# Where a function runs, on the host or on a device too, nothing but its own head can say.
MAY_BE_CONDITIONAL = {Path("lib/engine/cuda/kernels/host_device.hpp")}
LONGEST_FILE_LINES = 400


def tracked(*patterns):
    """The files that git knows or would add, by glob pattern."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        check=True, capture_output=True, text=True)
    return [Path(name) for name in sorted(set(listing.stdout.split("\n"))) if name and Path(name).exists()]


def allowed_rooms():
    """Room -> rooms it may include, from the link lines of lib/README.md."""
    rooms = {path.name for path in Path("lib").iterdir() if path.is_dir()}
    lines = dict(LINK_LINE.findall(Path("lib/README.md").read_text()))
    return {room: ANY_ROOM_MAY_USE | {room} | set(lines.get(room, "").split(", ")) - {""}
            for room in rooms | {"apps"}} | {"core": {"core"}, "spec": {"core", "spec"}}


def included(path):
    """(line number, header) of every #include of a file."""
    for number, line in enumerate(path.read_text().split("\n"), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1) or found.group(2)


def room_of(path):
    return path.parts[1] if path.parts[0] == "lib" else "apps"


def link_law(path, allowed):
    room = room_of(path)
    for number, header in included(path):
        used = header.split("/")[0]
        if used in allowed and used not in allowed[room] and Path("lib", header).exists():
            yield number, f"{room} may not include {header}: see the link lines in lib/README.md"


def wrappers(header):
    """The folders that may include a third-party header, or a header that includes one; None: any."""
    for pattern, folders in WRAPPED_BY.items():
        if re.match(pattern, header):
            return folders
    path = Path("lib", header)
    if not path.exists():
        return None
    return next((folders for _, used in included(path) if not Path("lib", used).exists()
                 for folders in [wrappers(used)] if folders), None)


def wraps(path):
    for number, header in included(path):
        folders = wrappers(header)
        if folders and not any(path.is_relative_to(folder) for folder in folders):
            yield number, f"{header} belongs to {', '.join(folders)}"


def marks(path):
    for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
        if MARK.search(line):
            yield number, "a mark of unfinished work"
        if path.suffix in (".cpp", ".hpp") and path not in MAY_BE_CONDITIONAL and CONDITIONAL.match(line):
            yield number, "conditional compilation: choose a sibling file in CMake instead"


def links(path):
    for number, line in enumerate(path.read_text().split("\n"), 1):
        for target in MARKDOWN_LINK.findall(line):
            if "://" not in target and not (path.parent / target).exists():
                yield number, f"link to {target}, which does not exist"


def breaches():
    allowed = allowed_rooms()
    sources = tracked("lib/*.cpp", "lib/*.hpp", "apps/*.cpp", "apps/*.hpp")
    for path in sources:
        for rule in (lambda p: link_law(p, allowed), wraps):
            yield from ((path, *breach) for breach in rule(path))
    for path in tracked("*.cpp", "*.hpp", "*.py", "*.cmake", "*.txt", "*.md", "*.sh", "scripts", ".ci"):
        if not path.is_relative_to("tests/data"):
            yield from ((path, *breach) for breach in marks(path))
    for path in tracked("*.md"):
        yield from ((path, *breach) for breach in links(path))


def warn_of_long_files():
    for path in tracked("*.cpp", "*.hpp", "*.py"):
        lines = path.read_text().count("\n")
        if lines > LONGEST_FILE_LINES:
            print(f"{path}: warning: {lines} lines, more than {LONGEST_FILE_LINES}")


def main():
    warn_of_long_files()
    broken = 0
    for path, number, text in breaches():
        print(f"{path}:{number}: {text}")
        broken += 1
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

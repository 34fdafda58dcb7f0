"""The rules of this project that no ready-made linter knows; prints each breach as FILE:LINE: text.

usage: lint_rules.py            (in the repository root; exit status 1 where a rule is broken)

- link lines: a room includes only rooms that the link lines of lib/README.md let it use; a room's own README.md has
  those of its inner rooms
- kinds: a kind of engine (an inner room of engine) is included within engine only
- wraps: a third-party header appears only in the folder that wraps it, and a header that includes one is private to it
- ops: code asks for properties of an op (OpRule), and compares no name of one
- marks: no to-do marks, no `#ifdef` in C++ bodies
- hashes: pip fetches nothing without --require-hashes; a FILE.whl is local
- links: every relative link of a README leads to a file
- helpers: no two source files of a target define the same helper in an anonymous namespace: they could not be compiled
  together
- shown: each test that a document names as `NAME` in the last column of a table, "test", is in tests
- columns: at most 120 in Python and CMake files, and 100 in Markdown except for tables, code, and links that cannot
  break
- words: documents and comments use the idiom of a native speaker, for the worst of what is not
- standard: a header reaches the standard header of what it uses by its own includes; scripts/build-bare, which compiles
  each source alone, has these headers precompiled and cannot see it
- length: files over 400 lines are named, as a warning
"""

import functools
import re
import subprocess
import sys
from pathlib import Path

LINK_LINE = re.compile(r"^([\w/]+)\s+-> (.+)$")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')
MARKDOWN_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
MARK = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")  # written so that this file contains none
PIP_FETCHES = re.compile(r"\bpip3?\b(?:\"|')?\s[^|;&]*?\b(?:install|download|wheel)\b|\bpip(?:x|3)? install\b")
PIP_IS_BOUND = re.compile(r"--require-hashes|\bFILE\.whl\b")
OP_NAME = re.compile(r'\b(?:\w+_)?op *[!=]= *"|"\w+", *&(?:spec::)?OpSpec::op\b')
WORDS = {  # pattern: what to say instead
    r"beside": "next to, with, against", r"in turn": "alternately, one after the other",
    r"of (?:its|their) own": "separate", r"whoever": "the one that", r"li(?:ves|ved) off": "uses", r"whence": "so",
    r"others took": "other processes used", r"t(?:ells?|old) of": "reports", r"(?:to|can) be had": "available",
    r"ha(?:s|ve) it that": "says that", r"one's own": "your own", r"such as it is": "as it is", r"anew": "again",
    r"for want of": "without", r"shall": "must", r"(?:is|are|be) taken for": "mistaken for",
    r"differs? much": "varies too much", r"of no use": "useless", r"(?:where|there)(?:in|of)": "in it",
    r"in so far|insofar": "if, where", r"nothing to say": "empty", r"last words": "last lines",
    r"at the least": "at least", r"may be (?:its|their) doing": "may cause it", r"reckons? with": "assumes",
    r"(?:table|page|document|section) (?:says|tells|knows)": "has", r"and its like": "and others",
}
STANDARD_NAMES = {  # standard header: names in std that need it
    "array": "array", "atomic": "atomic", "chrono": "chrono", "condition_variable": "condition_variable",
    "cstdint": "int64_t uint64_t int32_t uint32_t int16_t uint16_t int8_t uint8_t", "deque": "deque",
    "exception": "exception_ptr", "filesystem": "filesystem", "fstream": "ifstream ofstream", "functional": "function",
    "limits": "numeric_limits", "list": "list", "map": "map multimap", "memory": "unique_ptr shared_ptr weak_ptr",
    "mutex": "mutex lock_guard unique_lock once_flag", "optional": "optional", "set": "set multiset", "span": "span",
    "string": "string", "string_view": "string_view", "thread": "thread jthread", "tuple": "tuple",
    "unordered_map": "unordered_map", "unordered_set": "unordered_set", "variant": "variant", "vector": "vector",
}
STANDARD_HEADER = {name: header for header, names in STANDARD_NAMES.items() for name in names.split()}
BRING = {"filesystem": {"string", "string_view"}, "string": {"string_view"}, "json.hpp": {"string", "map", "vector"}}
COMMENT = {".md": re.compile(r"(.*)"), **dict.fromkeys((".cpp", ".hpp", ".json"), re.compile(r"(?:^|\s)//(.*)"))}
CONDITIONAL = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef)\b")
ANY_ROOM_MAY_USE = {"core", "spec"}
WRAPPED_BY = {  # pattern of a third-party header: the folders whose files may include it
    r"opencv2/": ["lib/image"],
    r"dcmtk/": ["lib/image"],
    r"isa-l(\.h|/)": ["lib/image", "lib/formats"],
    r"zlib\.h": ["lib/image", "lib/formats"],
    r"(curl|nfsc|openssl)/": ["lib/storage"],
    r"pugixml": ["lib/storage"],
    r"(dnnl|oneapi/)": ["lib/engine/onednn"],
    r"(cudnn|cublas)": ["lib/engine/cuda"],
    r"cuda_runtime": ["lib/engine/cuda", "lib/comm/nccl"],
    r"mpi\.h": ["lib/comm"],
    r"nccl\.h": ["lib/comm/nccl"],
    r"nlohmann/": ["lib/spec", "lib/results", "lib/report", "lib/verbs", "lib/formats", "lib/dataset"],
    r"spdlog/": ["lib/core"],
    r"nvml\.h": ["lib/measure"],
    r"cupti": ["apps/kernel_time"],
    r"CLI/": ["apps"],
}
# Only a function's own declaration can state whether it also runs on a device.
MAY_BE_CONDITIONAL = {Path("lib/engine/cuda/kernels/element.hpp")}
LONGEST_FILE_LINES = 400
LONGEST_LINE = {".py": 120, ".cmake": 120, ".txt": 120, ".md": 100}
# In an anonymous namespace, at the start of a line: a type; a variable; a function, up to its parameters.
ANONYMOUS = re.compile(r"^namespace (?:([\w:]+) )?\{$")
TYPE = re.compile(r"^(?:struct|class|union|enum(?: class| struct)?) (\w+)\b(?!.*;$)")
VARIABLE = re.compile(
    r"^(?!using |namespace |return |template|friend )[\w:][^(){}=]*[\s&*>](\w+)(?:\[[^\]]*\])*\s*(?:=|\{|;)"
)
FUNCTION = re.compile(r"^(?!using |return |template|friend |typedef )[\w:\[][^(){}=;]*?[\s&*>](operator\W+|\w+)\(")
TWIN = re.compile(r"_(plain|avx2|avx512)\.cpp$")  # CMake compiles these alone


def tracked(*patterns):
    """The files that git knows or would add, by glob pattern."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        check=True, capture_output=True, text=True)
    return [Path(name) for name in sorted(set(listing.stdout.split("\n"))) if name and Path(name).exists()]


def all_rooms():
    """Every folder of lib, by its path: an inner folder is an inner room."""
    return {str(path.relative_to("lib")) for path in Path("lib").glob("**") if path != Path("lib")}


def link_lines():
    """(README.md, line number, room, rooms it may include) of every link line of lib and of its rooms' READMEs."""
    for readme in tracked("lib/*README.md"):
        prefix = "".join(f"{part}/" for part in readme.parent.parts[1:])
        for number, line in enumerate(readme.read_text().split("\n"), 1):
            if found := LINK_LINE.match(line):
                yield readme, number, prefix + found[1], {prefix + name for name in found[2].strip().split(", ")}


def included(path):
    """(line number, header) of every #include of a file."""
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if found := INCLUDE.match(line):
            yield number, found[1] or found[2]


def room_of(path):
    return str(path.parent.relative_to("lib")) if path.parts[0] == "lib" else "apps"


def with_outer_rooms(room):
    parts = room.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]


def may_use(room, used, lines):
    """An inner room may use its outer rooms, and what they may use; an outer room may use its inner rooms."""
    if used in with_outer_rooms(room) or room in with_outer_rooms(used):
        return True
    shared = [outer for outer in with_outer_rooms(room) if outer in with_outer_rooms(used)]
    if shared and not any(line.startswith(f"{shared[0]}/") for line in lines):
        return True  # no link line is about the inside of this room
    if with_outer_rooms(room)[-1] == "core":
        return False
    allowed = {"core"} if with_outer_rooms(room)[-1] == "spec" else set(ANY_ROOM_MAY_USE)
    for outer in with_outer_rooms(room):
        allowed |= lines.get(outer, set())
    return any(outer in allowed for outer in with_outer_rooms(used))


def link_law(path, lines):
    room = room_of(path)
    for number, header in included(path):
        if Path("lib", header).exists() and not may_use(room, str(Path(header).parent), lines):
            yield number, f"{room} may not include {header}: see the link lines in README.md of lib or of an outer room"


def kinds(path):
    """Rooms get engines of any kind from engine/registry.hpp."""
    if path.is_relative_to("lib/engine"):
        return
    for number, header in included(path):
        kind = Path("lib", header).parent
        if kind.is_relative_to("lib/engine") and kind != Path("lib/engine"):
            yield number, f"{header} is private to engine: see engine/registry.hpp"


def bad_link_lines():
    """Rooms in link lines that do not exist."""
    rooms = all_rooms() | {"apps"}
    for readme, number, room, used in link_lines():
        for name in sorted(({room} | used) - rooms):
            yield readme, number, f"the link line of {room} names {name}, which is no folder of lib"


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


def ops(path):
    for number, line in enumerate(path.read_text().split("\n"), 1):
        if OP_NAME.search(line):
            yield number, "an op by its name: ask for a property of its rule, OpRule in lib/spec/ops.hpp"


def marks(path):
    for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
        if MARK.search(line):
            yield number, "a mark of unfinished work"
        if path.suffix in (".cpp", ".hpp") and path not in MAY_BE_CONDITIONAL and CONDITIONAL.match(line):
            yield number, "conditional compilation: choose a sibling file in CMake instead"


def hashes(path):
    """Commands of pip, over lines joined by a backslash, that download without hashes."""
    lines = path.read_text(errors="replace").split("\n")
    for number, line in enumerate(lines, 1):
        command = line
        for following in lines[number:]:
            if not command.endswith("\\"):
                break
            command = command[:-1] + following
        if not line.lstrip().startswith("#") and PIP_FETCHES.search(command) and not PIP_IS_BOUND.search(command):
            yield number, "pip without --require-hashes: pin what it fetches in a file of scripts/requirements"


def links(path):
    for number, line in enumerate(path.read_text().split("\n"), 1):
        for target in MARKDOWN_LINK.findall(line):
            if "://" not in target and not (path.parent / target).exists():
                yield number, f"link to {target}, which does not exist"


@functools.cache
def names_in_tests():
    return {name for path in tracked("tests/*.cpp", "tests/*.py")
            for name in re.findall(r"\w+", path.read_text())}


def shown(path):
    of_tests = False
    for number, line in enumerate(path.read_text().split("\n"), 1):
        of_tests = line.startswith("|") and (of_tests or line.endswith("| test |"))
        for name in re.findall(r"`(\w+)`", line.rsplit(" | ", 1)[-1]) if of_tests else []:
            if name not in names_in_tests():
                yield number, f"{name} is not in tests"


def words(path):
    for number, line in enumerate(path.read_text().split("\n"), 1):
        found = COMMENT[path.suffix].search(line)
        text = re.sub(r"`[^`]*`|\([^)]*\.md[^)]*\)", "", found[1]) if found else ""
        for pattern, better in WORDS.items():
            if said := re.search(rf"\b(?:{pattern})\b", text, re.IGNORECASE):
                yield number, f"'{said[0]}': say {better}"


def columns(path):
    """Lines that are too long. Markdown's tables and fenced code are left out, and words that cannot be broken."""
    limit = LONGEST_LINE[path.suffix]
    fenced = False
    for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
        if path.suffix == ".md":
            fence = line.lstrip().startswith(("```", "~~~"))
            fenced ^= fence
            if fence or fenced or line.lstrip().startswith("|") or line.startswith("    "):
                continue
            words = [word for word in line.split() if word not in ("-", "*", ">")]
            if (len(words) == 1 or MARKDOWN_LINK.sub("](x)", line) != line
                and len(MARKDOWN_LINK.sub("](x)", line)) <= limit):
                continue
        if len(line) > limit:
            yield number, f"{len(line)} columns, more than {limit}"


def parameter_types(text):
    """The types of a parameter list, as written, without the parameters' names and values."""
    text = re.sub(r"\s+", " ", text)
    parts, depth, begin = [], 0, 0
    for at, character in enumerate(text + ","):
        depth += (character in "(<[{") - (character in ")>]}")
        if character == "," and depth == 0:
            parts.append(text[begin:at].split("=")[0].strip())
            begin = at + 1
    return ", ".join(re.sub(r"(?<=[\w>&*\]]) ?(?<=[ &*>])\w+$", "", part).strip() for part in parts)


def parameter_list(lines, number, begin):
    """The text between parentheses, the first of them just before `begin` of a line."""
    text = lines[number][begin:] + " " + " ".join(lines[number + 1:number + 12])
    depth = 1
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[:at]
    return text


def helpers(path):
    """(line number, what) of each type, variable and function that an anonymous namespace of a file defines."""
    lines = path.read_text().split("\n")
    spaces = []
    for number, line in enumerate(lines):
        if opened := ANONYMOUS.match(line):
            spaces.append(opened[1] or "")
        elif line.startswith("}  // namespace") and spaces:
            spaces.pop()
        elif spaces and "" in spaces:
            where = "::".join(name for name in spaces if name) + "::"
            if found := TYPE.match(line):
                yield number + 1, where + found[1]
            elif found := FUNCTION.match(line):
                types = parameter_types(parameter_list(lines, number, found.end()))
                if not lines[number].startswith(("struct ", "class ")):
                    yield number + 1, f"{where}{found[1]}({types})"
            elif found := VARIABLE.match(line):
                yield number + 1, where + found[1]


def target_folder(path):
    """The folder whose CMakeLists.txt compiles a source file."""
    return next((folder for folder in path.parents if (folder / "CMakeLists.txt").exists()), Path())


@functools.cache
def compiled_alone(folder):
    path = folder / "CMakeLists.txt"
    return path.exists() and "UNITY_BUILD OFF" in path.read_text()


def alternatives(path, other):
    """Whether CMake compiles one of two files or the other, such as NAME_isal.cpp or NAME_absent.cpp."""
    return path.parent == other.parent and path.stem.rsplit("_", 1)[0] in (other.stem.rsplit("_", 1)[0], other.stem)


def helpers_that_clash():
    seen = {}
    for path in tracked("lib/*.cpp", "apps/*.cpp"):
        if path.suffix != ".cpp" or TWIN.search(path.name) or compiled_alone(target_folder(path)):
            continue
        for what, number in {what: number for number, what in helpers(path)}.items():
            for other in seen.setdefault((target_folder(path), what), []):
                if not alternatives(path, other) and not alternatives(other, path):
                    yield path, number, f"{what} is in {other}, too: share it in a header or give it another name"
                    break
            seen[(target_folder(path), what)].append(path)


@functools.cache
def reached_headers(path):
    """The standard headers that a header's includes lead to, through the project's headers."""
    reached = set()
    for found in filter(None, map(INCLUDE.match, path.read_text().split("\n"))):
        project, system = found.groups()
        if system:
            name = system.rsplit("/", 1)[-1]
            reached |= {name} | BRING.get(name, set())
        elif (Path("lib") / project).exists():
            reached |= reached_headers(Path("lib") / project)
    return reached


def unreached_headers(path):
    reached, missing = reached_headers(path), {}
    for number, line in enumerate(path.read_text().split("\n"), 1):
        for name in re.findall(r"\bstd::(\w+)", line.split("//")[0]):
            header = STANDARD_HEADER.get(name)
            if header and header not in reached:
                missing.setdefault(header, (number, f"std::{name} needs <{header}>"))
    return missing.values()


def apply(paths, *rules, but=()):
    """The breaches of rules in files, except those within the folders or files `but`."""
    for path in paths:
        if not any(path.is_relative_to(folder) for folder in but):
            yield from ((path, *breach) for rule in rules for breach in rule(path))


def breaches():
    lines = {room: used for _, _, room, used in link_lines()}
    yield from bad_link_lines()
    sources = tracked("lib/*.cpp", "lib/*.hpp", "apps/*.cpp", "apps/*.hpp")
    yield from apply(sources, lambda path: link_law(path, lines), kinds, wraps, ops)
    yield from apply(tracked("lib/*.hpp"), unreached_headers)
    yield from apply(tracked("*.cpp", "*.hpp", "*.py", "*.cmake", "*.txt", "*.md", "*.sh", "scripts", ".ci"), marks,
                     but=["tests/data"])
    yield from apply(tracked("scripts", ".ci", "tests/*.py", "tests/*.sh", "tests/slurm", "*.cmake"), hashes,
                     but=["scripts/lint_rules.py", "tests/system/lint_rules_test.py"])
    yield from apply(tracked("*.md"), links, shown)
    yield from apply(tracked("*.md", "*.cpp", "*.hpp", "configs/*.json"), words,
                     but=["results/studies"])  # which scripts/reproduce writes
    yield from apply(tracked("*.py", "*.cmake", "*CMakeLists.txt", "*.md"), columns, but=["tests/data"])
    yield from helpers_that_clash()


def warn_of_long_files():
    for path in tracked("*.cpp", "*.hpp", "*.py"):
        lines = path.read_text().count("\n")
        if lines > LONGEST_FILE_LINES:
            print(f"{path}: warning: {lines} lines, more than {LONGEST_FILE_LINES}")


def main():
    if sys.argv[1:]:
        print(__doc__.strip(), file=sys.stdout if sys.argv[1:] == ["--help"] else sys.stderr)
        return 0 if sys.argv[1:] == ["--help"] else 2
    warn_of_long_files()
    found = [f"{path}:{number}: {text}" for path, number, text in breaches()]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

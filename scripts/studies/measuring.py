"""Runs chexbench for a study: each run in a separate folder, which is kept, so that an interrupted study continues."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from plotting.tables import OLD_FORMATS  # noqa: E402

BINARY = Path(os.environ.get("CHEXBENCH_BINARY", ROOT / "build/release/bin/chexbench"))


class StudyError(Exception):
    """Why a study cannot continue, and the remedy. `code` is the exit status."""

    def __init__(self, text, code=2):
        super().__init__(text)
        self.code = code


def say(text):
    print(text, file=sys.stderr, flush=True)


def chexbench(*options, ranks=1, mapping=("--map-by", "socket")):
    """Runs chexbench on `ranks` ranks; returns its stdout. Its own messages and progress go to stderr."""
    launcher = ["mpirun", *mapping, "-np", str(ranks)] if ranks > 1 else []
    try:
        done = subprocess.run([*launcher, BINARY, *map(str, options)], stdout=subprocess.PIPE, text=True, check=False)
    except FileNotFoundError as error:
        raise StudyError(f"{error.filename} is missing: build it first (cmake --preset release && "
                         "cmake --build --preset release), or run scripts/quickstart") from error
    if done.returncode != 0:
        raise StudyError(f"chexbench ended with {done.returncode}; its message is above. What was measured is kept: "
                         "run the same command again to go on", done.returncode)
    return done.stdout


def is_complete(report):
    return not report["interrupted"] and not any(trial["partial"] for trial in report["trials"])


def read_report(folder):
    """The report of a run that is complete, or None."""
    try:
        report = json.loads((folder / "report.json").read_text())
    except (OSError, ValueError):
        return None
    for trial in report["trials"]:
        data = trial["spec"]["data"]
        data["format"] = OLD_FORMATS.get(data["format"], data["format"])
    return report if is_complete(report) else None


def as_stated(config, settings, ranks, mapping):
    return {"config": str(config.relative_to(ROOT)), "settings": settings, "ranks": ranks, "mapping": list(mapping)}


def note_of(folder):
    """The file next to a run's folder that states its settings."""
    return folder.with_name(folder.name + ".json")  # with_suffix() would cut a name that has a dot


def is_of(folder, stated):
    """Whether `folder` has a run, complete or not, with these settings."""
    note = note_of(folder)
    return note.exists() and json.loads(note.read_text()) == stated


def kept(folder, config, settings, ranks=1, mapping=("--map-by", "socket")):
    """The report of a complete run in `folder`, or None."""
    return read_report(folder) if is_of(folder, as_stated(config, settings, ranks, mapping)) else None


def measured(folder, config, settings, ranks=1, mapping=("--map-by", "socket")):
    """The report of a run; taken from `folder` if it is complete there, otherwise measured or continued."""
    report = kept(folder, config, settings, ranks, mapping)
    if report is not None:
        return report
    stated = as_stated(config, settings, ranks, mapping)
    place = "--resume" if is_of(folder, stated) and (folder / "journal.jsonl").exists() else "--output"
    if place == "--output":
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        note_of(folder).write_text(json.dumps(stated, indent=1) + "\n")
    sets = [text for setting in settings for text in ("--set", setting)]
    progress = "always" if sys.stderr.isatty() else "never"  # mpirun stands between the ranks and the terminal
    chexbench("--config", config, *sets, place, folder, "--quiet", "--progress", progress, ranks=ranks,
              mapping=mapping)
    report = read_report(folder)
    if report is None:
        raise StudyError(f"{folder} holds no complete run: run the same command again to go on", 6)
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)  # gigabytes that only an interrupted run needs
    return report


def read_csv(path):
    try:
        with open(path, newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise StudyError(f"{path}: cannot read it: {error.strerror}", 3) from error


def read_spec(path):
    """A spec or a profile: JSON with // comments."""
    try:
        return json.loads(re.sub(r"(^|\s)//.*$", "", path.read_text(), flags=re.MULTILINE))
    except OSError as error:
        raise StudyError(f"{path}: cannot read it: {error.strerror}", 3) from error
    except ValueError as error:
        raise StudyError(f"{path}: it is no JSON: {error}", 2) from error

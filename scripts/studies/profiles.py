"""Reads chexbench's accelerator profiles: the trainings that have a speed, and whether a source measured it."""

import json
import re

from measuring import ROOT, StudyError


def path_of(device):
    return ROOT / "configs/accelerators" / f"{device}.json"


def entries(device):
    """The entries of a device's profile as in its file, each with `computed`; none of a device without a profile."""
    path = path_of(device)
    if not path.exists():
        return []
    try:
        found = json.loads(re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE))["entries"]
    except (OSError, ValueError, KeyError) as error:
        raise StudyError(f"{path}: cannot read it as a profile: {error}", 3) from error
    return [{"computed": False, **entry} for entry in found]


def speed_of(entry):
    """What a figure says of where the speed of one GPU comes from."""
    return "computed" if entry["computed"] else "published"

"""Reads chexbench's accelerator profiles: the trainings that have a speed, and whether a source measured it."""

from measuring import ROOT, read_spec


def path_of(device):
    return ROOT / "configs/accelerators" / f"{device}.json"


def entries(device):
    """The entries of a device's profile as in its file; none of a device without a profile."""
    return read_spec(path_of(device))["entries"] if path_of(device).exists() else []


def is_computed(entry):
    """Whether no source gives the speed: a roofline computed it."""
    return entry.get("computed", False)


def speed_of(entry):
    """What a figure says of where the speed of one GPU comes from."""
    return "computed" if is_computed(entry) else "published"

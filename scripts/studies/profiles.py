"""Reads chexbench's accelerator profiles: the trainings that have a speed, and whether a source measured it."""

from measuring import ROOT, read_spec


FOLDER = ROOT / "configs/accelerators"
PROGRAMS = ("MXNet", "Keras", "PyTorch", "Torch", "NV-Caffe", "TensorFlow")  # Keras's sources name TensorFlow, too


def path_of(device, folder=FOLDER):
    return folder / f"{device}.json"


def entries(device, folder=FOLDER):
    """The entries of a device's profile as in its file; none for a device without a profile in the folder."""
    path = path_of(device, folder)
    return read_spec(path)["entries"] if path.is_file() else []


def is_computed(entry):
    """Whether the speed was computed by a roofline, not taken from a source."""
    return entry.get("computed", False)


def speed_of(entry):
    """A figure's words for the source of one GPU's speed."""
    return "computed" if is_computed(entry) else "published"


def program_of(source):
    """The program that a speed was measured with, by its source's words."""
    return next((name for name in PROGRAMS if name.lower() in source.lower()), "program unknown")

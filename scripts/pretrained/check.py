"""Compares the program with converted weights to PyTorch with the original file."""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy
import torch
import torchvision
from PIL import Image

from . import names, safetensors

SIZE, LABELS = 224, 14  # evaluate's outputs for weights without labels
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
TOLERANCE = 1e-4  # of a probability in f32


def by_our_names(state, like):
    """PyTorch's own tensors of the file under the names of `like`, with a head of LABELS rows."""
    shapes = {name: list(tensor.shape) for name, tensor in like.items() if "num_batches" not in name}
    ordered = {name: shapes[name] for name in sorted(shapes, key=lambda name: "running" in name)}
    tensors, head = names.tensors_of(state, ordered, torch.Tensor)
    for name in (f"{head}.weight", f"{head}.bias"):
        tensors[name] = torch.cat([tensors[name]] * -(-LABELS // len(tensors[name])))[:LABELS]
    return tensors


def network_of(name, path):
    options = {"aux_logits": False, "init_weights": False} if name == "googlenet" else {}
    made = torchvision.models.get_model(name, weights=None, num_classes=LABELS, **options)
    made.load_state_dict(by_our_names(torch.load(path, map_location="cpu", weights_only=True), made.state_dict()),
                         strict=False)  # counters of batches are missing
    return made.eval()


def image(path, color):
    pixels = numpy.array(Image.open(path).convert("L" if color == "gray" else "RGB").convert("RGB"))
    channels = torch.from_numpy(pixels).permute(2, 0, 1).float()[None]
    resized = torch.nn.functional.interpolate(channels, size=(SIZE, SIZE), mode="bilinear", align_corners=False)
    return (resized / 255 - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1)


def with_labels(path):
    """The tensors of a file of weights, with a head of LABELS rows, as in by_our_names()."""
    tensors = safetensors.read(path)
    head = next(name for name in reversed(tensors) if name.endswith(".weight") and len(tensors[name][0]) == 2)
    for name in (head, head[:-len("weight")] + "bias"):
        (outputs, *rest), data = tensors[name]
        tensors[name] = ((LABELS, *rest), (data * -(-LABELS // outputs))[:len(data) // outputs * LABELS])
    return tensors


def ours(binary, arguments):
    """The program's probabilities of the images, by their names, from OUTPUT with a head of LABELS rows."""
    with tempfile.TemporaryDirectory() as folder:
        cut = Path(folder) / "cut.safetensors"
        safetensors.write(cut, with_labels(arguments.output), {})
        done = subprocess.run(
            [binary, "evaluate", "--checkpoint", str(cut), *map(str, arguments.check), "--set",
             f"model.name={arguments.network}", "--set", f"engine={arguments.engine}", "--set",
             f"data.color={arguments.color}", "--format", "json"],
            capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)["images"]
    return {Path(row["file"]).name: list(row["probabilities"].values()) for row in rows}


def run(binary, arguments):
    """Prints the largest difference; 0 if it is within the tolerance, else 5."""
    network = network_of(arguments.network, arguments.file)
    computed = ours(binary, arguments)
    largest = 0
    with torch.inference_mode():
        for path in arguments.check:
            theirs = torch.sigmoid(network(image(path, arguments.color)))[0].tolist()
            largest = max(largest, *(abs(a - b) for a, b in zip(theirs, computed[path.name], strict=True)))
    verdict = "the same" if largest <= TOLERANCE else "NOT the same"
    print(f"check: probabilities of {len(computed)} images differ by {largest:.1e} at most from those of PyTorch "
          f"{torch.__version__}: {verdict} (tolerance {TOLERANCE:g})")
    return 0 if largest <= TOLERANCE else 5

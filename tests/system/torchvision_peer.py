"""The other side of torchvision_test.py, run by a Python that has PyTorch.

usage: torchvision_peer.py load NETWORK FILE   loads FILE strictly into torchvision's network; exit status 0 if it fits
       torchvision_peer.py save NETWORK FILE     writes that network, freshly drawn
       torchvision_peer.py pth NETWORK FILE      the same, by torch.save(), with a head of 1000 outputs
       torchvision_peer.py old-pth NETWORK FILE  the same in PyTorch's older format
"""

import json
import struct
import sys
from pathlib import Path

import torch
import torchvision

from epochs import read_checkpoint

DTYPES = {"F32": torch.float32, "I64": torch.int64}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def network(name, outputs=14):
    torch.manual_seed(1)
    options = {"aux_logits": False, "init_weights": True} if name == "googlenet" else {}
    return torchvision.models.get_model(name, weights=None, num_classes=outputs, **options)


def read(path):
    _, tensors, data = read_checkpoint(Path(path))
    return {name: torch.frombuffer(bytearray(data[slice(*tensor["data_offsets"])]), dtype=DTYPES[tensor["dtype"]])
            .reshape(tensor["shape"]) for name, tensor in tensors.items()}


def write(path, tensors):
    header, blobs, at = {}, [], 0
    for name, tensor in tensors.items():
        blob = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def main():
    verb, name, path = sys.argv[1:]
    if verb == "load":
        network(name).load_state_dict(read(path), strict=True)
    elif verb == "save":
        write(path, network(name).state_dict())
    else:
        torch.save(network(name, 1000).state_dict(), path, _use_new_zipfile_serialization=verb == "pth")


if __name__ == "__main__":
    main()

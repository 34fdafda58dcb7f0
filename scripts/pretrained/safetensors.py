"""Writes and reads safetensors files of f32 tensors."""

import json
import os
import struct
from pathlib import Path


def write(path, tensors, metadata):
    """tensors: name -> (shape, bytes of f32). Written under a temporary name and then renamed."""
    header, at = {"__metadata__": metadata}, 0
    for name, (shape, data) in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path = Path(path)
    half_written = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with open(half_written, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for _, data in tensors.values():
                file.write(data)
        half_written.replace(path)
    finally:
        half_written.unlink(missing_ok=True)


def read(path):
    """The tensors written by write(): name -> (shape, bytes of f32)."""
    data = Path(path).read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    return {name: (tuple(of["shape"]), data[start + of["data_offsets"][0]:start + of["data_offsets"][1]])
            for name, of in header.items()}

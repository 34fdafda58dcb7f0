"""Runs where the Python package `webdataset` can be imported; called by webdataset_test.py.

webdataset_peer.py read SHARD...              prints a JSON object: file name -> [labels, SHA-256 of the image]
webdataset_peer.py write ROOT FOLDER SPLIT    writes ROOT/images and its labels, which stdin has
                                              as JSON, into FOLDER/SPLIT-NNNNNN.tar
"""

import hashlib
import json
import sys
from pathlib import Path

import webdataset


def read(shards):
    samples = {}
    for sample in webdataset.WebDataset(shards, shardshuffle=False):
        labels = json.loads(sample["json"])
        samples[labels["filename"]] = [labels["label"], hashlib.sha256(sample["png"]).hexdigest()]
    json.dump(samples, sys.stdout)


def write(root, folder, split):
    with webdataset.ShardWriter(f"{folder}/{split}-%06d.tar", maxcount=5, verbose=0) as writer:
        for name, findings in json.load(sys.stdin).items():
            writer.write({"__key__": Path(name).stem, "png": (Path(root) / "images" / name).read_bytes(),
                          "json": {"label": findings}})


if sys.argv[1] == "read":
    read(sys.argv[2:])
else:
    write(*sys.argv[2:])

#!/usr/bin/env python3
"""Makes the seeds of every fuzz target: small inputs that its parser accepts, and some that it refuses.

usage: make_seeds.py FOLDER      (FOLDER/TARGET/NAME are the seeds, FOLDER/TARGET.dict is a dictionary for libFuzzer)

Existing files are kept, or replaced by the same bytes. A dictionary contains the words in the seeds of its target and,
for experiments and pipelines, those of configs/schema.json. The functions NAME_seeds() of the folder seeds give the
seeds of the target NAME, as pairs of a name and bytes.
"""

import re
import sys
from pathlib import Path

from seeds import dicoms, images, records, servers, tables, texts


def makers():
    """Target -> the function that gives its seeds."""
    for module in (dicoms, images, records, servers, tables, texts):
        for name, make in vars(module).items():
            if name.endswith("_seeds"):
                yield name.removesuffix("_seeds"), make


WORD = re.compile(rb"[A-Za-z_&%<][A-Za-z0-9_./;-]{2,30}")
SCHEMA = Path(__file__).resolve().parents[2] / "configs" / "schema.json"
MOST_WORDS = 2000


def dictionary(target, seeds):
    """The text of the dictionary of a target."""
    texts_of_seeds = list(seeds)
    if target in ("experiment", "pipeline"):
        texts_of_seeds.append(SCHEMA.read_bytes())
    words = sorted({word for text in texts_of_seeds for word in WORD.findall(text)})
    return "".join(f'"{word.decode()}"\n' for word in words[:MOST_WORDS])


def main(folder):
    for target, make in makers():
        place = Path(folder) / target
        place.mkdir(parents=True, exist_ok=True)
        seeds = dict(make())
        for name, data in seeds.items():
            (place / name).write_bytes(data)
        place.with_suffix(".dict").write_text(dictionary(target, seeds.values()))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

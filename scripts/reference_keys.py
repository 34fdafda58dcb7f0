#!/usr/bin/env python3
"""Writes configs/keys.md, the reference of all keys of a spec, from configs/schema.json.

usage: reference_keys.py
"""

import argparse
import json
import re
from pathlib import Path

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
SWEPT = re.compile(r" Can be swept where .+\.$")  # which the error of a sweep states
NO_LIMIT = 1e6  # higher maxima are beyond any use, and only stop typing errors
HEAD = """# The keys of a spec

`scripts/reference_keys.py` makes this page from `schema.json`: change a description in `lib/spec`.
[configs](README.md) explains how keys work together.

A value of another type or out of its range is an error, and so is a key that is set where it has no
meaning ("Only where"), or swept where it makes no difference. `null` restores any default.
"""
OPS = """
## The ops of a pipeline

[Pipelines](README.md#ops) are lists of these ops:

| op | what it does |
|---|---|
"""


def cell(text):
    return text.replace("<", "&lt;").replace("*", "\\*").replace("|", "\\|")


def value_cell(value):
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value == "" else f"`{json.dumps(value).strip(chr(34))}`"


def limits(schema):
    """The range of a number, in words."""
    low, high, above = (schema.get(name) for name in ("minimum", "maximum", "exclusiveMinimum"))
    words = f" above {above:g}" if above is not None else f" from {low:g}" if low is not None else ""
    return words + (f" to {high:g}" if high is not None and high < NO_LIMIT else "")


def kinds(schema, refs):
    """Each value or type that a key takes, in words."""
    if "$ref" in schema:
        return kinds(refs[schema["$ref"].rsplit("/", 1)[1]], refs)
    if "anyOf" in schema:
        return [kind for part in schema["anyOf"] if "deprecated" not in part for kind in kinds(part, refs)]
    if "enum" in schema:
        return [value_cell(value) for value in schema["enum"]]
    if begins := re.match(r"\^(\w+:)", schema.get("pattern", "")):
        return [f"`{begins[1]}...`"]
    names = {"string": "text", "array": "list", "null": "`null`"}
    return [names.get(schema["type"], schema["type"]) + limits(schema)]


def row(name, schema, refs, meaning):
    types = ", ".join(dict.fromkeys(kinds(schema, refs)))
    return f"| `{name}` | {types} | {value_cell(schema['default'])} | {cell(meaning)} |\n"


def table(rows):
    return "\n| key | type or values | default | meaning |\n|---|---|---|---|\n" + "".join(rows)


def keys(node, path=""):
    """(path, schema) of every key that has a value."""
    for name, value in node["properties"].items():
        if "properties" in value and name != "sweep":
            yield from keys(value, f"{path}{name}.")
        elif "default" in value:
            yield f"{path}{name}", value


def page(schema):
    """The text of keys.md."""
    refs = schema["$defs"]
    sections = {}
    for path, value in keys(schema):
        meaning = SWEPT.sub("", value["description"])
        sections.setdefault(path.rpartition(".")[0] or "The spec", []).append(row(path, value, refs, meaning))
    text = HEAD + "".join(f"\n## {section}\n{table(rows)}" for section, rows in sections.items())

    ops = {name: value for name, value in refs.items() if "op" in value.get("properties", {})}
    text += OPS + "".join(f"| `{name}` | {cell(op['description'])} |\n" for name, op in ops.items())
    parameters = {f"pipeline.{name}.{key}": value for name, op in ops.items() for key, value in op["properties"].items()
                  if key not in ("op", "delay_s")}
    parameters["pipeline.OP.delay_s"] = ops["shard"]["properties"]["delay_s"]
    return text + table(row(path, value, refs, value["description"]) for path, value in parameters.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    (CONFIGS / "keys.md").write_text(page(json.loads((CONFIGS / "schema.json").read_text())))


if __name__ == "__main__":
    main()

"""Writes mpijob-v2beta1.json anew: extract.py manifests/base/kubeflow.org_mpijobs.yaml (README.md names the source)."""

import json
import sys
from pathlib import Path

import yaml


def without_descriptions(schema, names_properties=False):
    if isinstance(schema, list):
        return [without_descriptions(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: without_descriptions(value, name == "properties") for name, value in schema.items()
            if names_properties or name != "description"}


crd = yaml.safe_load(Path(sys.argv[1]).read_text())
(version,) = [one for one in crd["spec"]["versions"] if one["name"] == "v2beta1"]
schema = without_descriptions(version["schema"]["openAPIV3Schema"])
del schema["properties"]["status"]  # written by the operator
Path(__file__).with_name("mpijob-v2beta1.json").write_text(json.dumps(schema, separators=(",", ":")) + "\n")

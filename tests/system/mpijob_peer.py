"""Reads an MPIJob from stdin and checks it against its published schema.  usage: mpijob_peer.py SCHEMA < FILE.yaml

Prints JSON: {"job": the YAML's contents, "errors": [sentences]}. A key that the schema does not know is an error, as
with `kubectl apply`; a Kubernetes server itself would drop it. Needs PyYAML and jsonschema.
"""

import json
import sys
from pathlib import Path

import jsonschema
import yaml


def closed(schema):
    """The schema, with objects restricted to the properties that it names."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    result = {name: closed(value) for name, value in schema.items()}
    if "properties" in schema and isinstance(schema.get("type"), str):
        result["additionalProperties"] = False
    return result


def place(error):
    return ".".join(map(str, error.absolute_path)) or "the job"


job = yaml.safe_load(sys.stdin)
schema = closed(json.loads(Path(sys.argv[1]).read_text()))
validator = jsonschema.Draft4Validator(schema)
errors = sorted(f"{place(error)}: {error.message}" for error in validator.iter_errors(job))
json.dump({"job": job, "errors": errors}, sys.stdout)

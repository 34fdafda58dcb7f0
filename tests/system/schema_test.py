"""configs/schema.json, by which editors complete and check a spec."""

import json
import re
import unittest

from harness import ROOT, SystemTest, python_with

PYTHON = python_with("jsonschema")
FILE = ROOT / "configs/schema.json"
SCHEMA = json.loads(FILE.read_text())
SPECS = [path for pattern in ("experiments/*.json", "measurements/*.json", "studies/*/*.json")
         for path in sorted((ROOT / "configs").glob(pattern))]
# Reads a list of specs, and writes for each one where its mistakes are and which rules they break.
VALIDATE = """
import json, jsonschema, sys
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
json.dump([sorted([error.json_path, error.validator] for error in validator.iter_errors(spec))
           for spec in json.load(sys.stdin)], sys.stdout)
"""


def read(path):
    return json.loads(re.sub(r"(^|\s)//.*$", "", path.read_text(), flags=re.MULTILINE))


def keys_of(schema, prefix=""):
    """(path, schema) of every key that a spec may set to a value."""
    for name, value in schema["properties"].items():
        if name in ("$schema", "sweep"):
            continue
        if "properties" in value:
            yield from keys_of(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def resolved(reference):
    schema = SCHEMA
    for part in reference.removeprefix("#/").split("/"):
        schema = schema[part]
    return schema


class Schema(SystemTest):
    def test_each_key_has_a_description_and_a_default(self):
        keys = dict(keys_of(SCHEMA))
        self.assertGreater(len(keys), 60)
        for name, schema in keys.items():
            self.assertGreater(len(schema.get("description", "")), 10, name)
            self.assertIn("default", schema, name)

    def test_each_op_and_its_parameters_have_descriptions(self):
        for reference in resolved("#/$defs/ops")["items"]["anyOf"]:
            op = resolved(reference["$ref"])
            self.assertGreater(len(op["description"]), 10, reference)
            for name, parameter in op["properties"].items():
                if name != "op":
                    self.assertGreater(len(parameter["description"]), 10, f"{reference} {name}")
                    self.assertIn("default", parameter, f"{reference} {name}")

    def test_shipped_specs_name_it(self):
        specs = [path for path in SPECS if '"experiment"' in path.read_text()]
        self.assertGreater(len(specs), 15)
        for path in specs:
            lines = [line for line in path.read_text().splitlines() if '"$schema"' in line]
            self.assertEqual(len(lines), 1, path)
            self.assertEqual((path.parent / lines[0].split('"')[3]).resolve(), FILE, path)


@unittest.skipUnless(PYTHON, "needs jsonschema of Debian's Python: scripts/setup full brings it")
class Mistakes(SystemTest):
    def mistakes(self, specs):
        return json.loads(self.ends_with(0, PYTHON, "-c", VALIDATE, FILE, input=json.dumps(specs)).stdout)

    def test_nothing_is_underlined_in_shipped_specs(self):
        for path, found in zip(SPECS, self.mistakes([read(path) for path in SPECS]), strict=True):
            self.assertEqual(found, [], path)

    def test_mistakes_are_underlined(self):
        found, = self.mistakes([{"data": {"formt": "images"}, "training": {"batch_size": "4"}, "ranks": [0]}])
        self.assertEqual(found, [["$.data", "additionalProperties"], ["$.ranks", "anyOf"],
                                 ["$.training.batch_size", "type"]])

    def test_values_that_are_offered_are_the_allowed_ones(self):
        values = ("images", "tfrecord", "png", "synthetic", "gif")
        found = self.mistakes([{"data": {"format": value}} for value in values])
        self.assertEqual(found, [[], [], [], [], [["$.data.format", "anyOf"]]])

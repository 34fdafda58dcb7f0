"""An editor's view of a spec: by VS Code's JSON language server, from configs/schema.json."""

import json
import os
import re
import shutil
import subprocess
import unittest

from harness import ROOT, TIMEOUT_S, SystemTest
from language_server import LanguageServer

NODE = shutil.which("node")
MODULES = ROOT / "build/json-language-server/node_modules"
SERVER = MODULES / "vscode-json-languageserver-bin/jsonServerMain.js"
SCHEMA = json.loads((ROOT / "configs/schema.json").read_text())
SPECS = sorted((ROOT / "configs/experiments").glob("*.json")) + sorted((ROOT / "configs/studies").glob("*/*.json"))


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
            self.assertEqual((path.parent / lines[0].split('"')[3]).resolve(), ROOT / "configs/schema.json", path)


@unittest.skipUnless(NODE and SERVER.exists(), "needs Node and VS Code's JSON server: scripts/setup full brings them")
class InAnEditor(SystemTest):
    def setUp(self):
        super().setUp()
        self.server = LanguageServer([NODE, SERVER, "--stdio"], self.folder)
        self.addCleanup(self.server.close)
        shutil.copy(ROOT / "configs/schema.json", self.folder)
        self.path = self.folder / "mine.json"

    def open(self, *lines):
        return self.server.open(self.path, "\n".join(['{ "$schema": "./schema.json",', *lines, "}"]))

    def offers(self, line, character):
        items = self.server.ask("completion", self.path, line, character)["items"]
        return {item["label"]: item for item in items}

    def test_keys_are_offered_with_description_and_default(self):
        self.open('  "training": { "" }')
        offered = self.offers(1, 17)
        training = SCHEMA["properties"]["training"]["properties"]
        self.assertEqual(set(offered), set(training))
        for name, schema in training.items():
            self.assertIn(schema["description"], str(offered[name].get("documentation")), name)
        default = training["batch_size"]["default"]
        self.assertEqual(offered["batch_size"]["insertText"], f'"batch_size": ${{1:{default}}}')

    def test_values_are_offered(self):
        self.open('  "data": { "format": "" }')
        self.assertLessEqual({f'"{value}"' for value in ("png", "tfrecord", "cached")}, set(self.offers(1, 23)))

    def test_a_key_is_explained_under_the_pointer(self):
        self.open('  "training": { "batch_size": 4 }')
        told = json.dumps(self.server.ask("hover", self.path, 1, 20)["contents"])
        description = SCHEMA["properties"]["training"]["properties"]["batch_size"]["description"]
        self.assertIn(description.split(".")[0].replace("_", "\\\\_"), told)

    def test_mistakes_are_underlined(self):
        found = self.open('  "data": { "formt": "png" },', '  "training": { "batch_size": "4" }')
        self.assertEqual([(one["range"]["start"]["line"], one["message"]) for one in found],
                         [(1, "Property formt is not allowed."), (2, 'Incorrect type. Expected "integer".')])

    def test_nothing_is_underlined_in_shipped_specs(self):
        for path in SPECS:
            with self.subTest(spec=path.name):
                self.assertEqual(self.server.open(path), [])


# Waits until the server has found mistakes in the open file, asks for its completions at the cursor, and writes both.
ASK = """
local function wait(is_there)
  return vim.wait(60000, is_there, 50) and is_there() or error("the language server does not answer")
end
wait(function() return #vim.diagnostic.get(0) > 0 end)
local at = { textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = 1, character = 17 } }
local offered = wait(function()
  local _, answer = next(vim.lsp.buf_request_sync(0, "textDocument/completion", at, 60000) or {})
  return answer and answer.result and #answer.result.items > 0 and answer.result.items
end)
local labels = vim.tbl_map(function(item) return item.label end, offered)
local mistakes = vim.tbl_map(function(one) return { one.lnum, one.message } end, vim.diagnostic.get(0))
vim.fn.writefile({ vim.fn.json_encode({ labels = labels, mistakes = mistakes }) }, "told.json")
vim.cmd("qall!")
"""


@unittest.skipUnless(NODE and SERVER.exists() and shutil.which("nvim"),
                     "needs Node, VS Code's JSON server and neovim: scripts/setup full brings them")
class InNeovim(SystemTest):
    def test_the_snippet_of_the_readme_completes_and_underlines(self):
        snippet = re.search(r"```lua\n(.*?)```", (ROOT / "configs/README.md").read_text(), re.DOTALL)[1]
        (self.folder / "init.lua").write_text(snippet)
        (self.folder / "ask.lua").write_text(ASK)
        server = self.folder / "vscode-json-language-server"
        server.write_text(f'#!/bin/sh\nexec "{NODE}" "{SERVER}" "$@"\n')
        server.chmod(0o755)
        shutil.copy(ROOT / "configs/schema.json", self.folder)
        (self.folder / "mine.json").write_text(
            '{ "$schema": "./schema.json",  // a comment\n  "training": { "" },\n  "data": { "formt": "png" } }\n')
        done = subprocess.run(["nvim", "--headless", "-n", "-u", "init.lua", "mine.json", "-c", "luafile ask.lua",
                               "-c", "cquit"], cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT_S,
                              env={**os.environ, "HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder),
                                   "PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        told = json.loads((self.folder / "told.json").read_text())
        self.assertEqual(set(told["labels"]), set(SCHEMA["properties"]["training"]["properties"]))
        self.assertIn([2, "Property formt is not allowed."], told["mistakes"])
        self.assertFalse([one for one in told["mistakes"] if "omment" in one[1]], told)


if __name__ == "__main__":
    unittest.main()

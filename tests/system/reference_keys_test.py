"""configs/keys.md, which scripts/reference_keys.py makes from configs/schema.json, is up to date."""

import json
import sys
import unittest

from harness import ROOT

sys.path.append(str(ROOT / "scripts"))
from reference_keys import keys, page

SCHEMA = json.loads((ROOT / "configs/schema.json").read_text())


class ReferenceKeys(unittest.TestCase):
    def test_page_is_that_of_the_schema(self):
        self.assertEqual((ROOT / "configs/keys.md").read_text(), page(SCHEMA), "run scripts/reference_keys.py")

    def test_each_key_has_one_row(self):
        text = page(SCHEMA)
        for path, _ in keys(SCHEMA):
            self.assertEqual(text.count(f"\n| `{path}` |"), 1, path)

"""The pictures of the documents: scripts/pictures.py draws them, each is small and well-formed, and a document shows
it."""

import json
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from harness import ROOT

sys.path.append(str(ROOT / "scripts"))
from pictures import DRAWN, FOLDER

LARGEST_BYTES = 6 * 1024


class Pictures(unittest.TestCase):
    def test_each_is_that_of_the_script(self):
        self.assertEqual(sorted(path.stem for path in FOLDER.glob("*.svg")), sorted(DRAWN))
        for name, draw in DRAWN.items():
            with self.subTest(picture=name):
                self.assertEqual((FOLDER / f"{name}.svg").read_text(), str(draw()), "run scripts/pictures.py")

    def test_each_is_small_and_well_formed_and_needs_nothing_else(self):
        for path in FOLDER.glob("*.svg"):
            with self.subTest(picture=path.name):
                self.assertLessEqual(path.stat().st_size, LARGEST_BYTES)
                root = ElementTree.parse(path).getroot()
                tags = {element.tag.split("}")[1] for element in root.iter()}
                self.assertLessEqual(tags, {"svg", "title", "desc", "rect", "text", "path"})
                self.assertTrue(all("href" not in name for element in root.iter() for name in element.attrib))

    def test_naive_waits_in_its_lanes_and_optimized_does_not(self):
        found = json.loads((FOLDER / "lanes.json").read_text())
        self.assertTrue(all(found[key] for key in ("command", "date", "machine")))
        waited = {}
        for name, rows in found["lanes"].items():
            for spans in rows.values():
                for times in spans.values():
                    self.assertTrue(all(0 <= start < end <= found["length_ms"] for start, end in times))
                    self.assertTrue(all(end <= start for (_, end), (start, _) in zip(times, times[1:])))
            waited[name] = sum(end - start for start, end in rows["steps"].get("wait", []))
        self.assertGreater(waited["naive"], 0.2 * found["length_ms"])
        self.assertLess(waited["optimized"], 0.02 * found["length_ms"])

    def test_a_document_shows_each_with_words_for_those_who_cannot_see_it(self):
        documents = [path.read_text() for path in (ROOT / "README.md", *ROOT.glob("configs/*.md"),
                                                   *ROOT.glob("apps/chexbench/**/*.md"))]
        for name in DRAWN:
            with self.subTest(picture=name):
                self.assertTrue(any(len(text.split(f"pictures/{name}.svg)")[0].rsplit("![", 1)[-1]) > 60
                                    for text in documents if f"pictures/{name}.svg)" in text))

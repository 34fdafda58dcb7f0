"""Studies of a store's latency: interpolation, claim and plan of the poster's Lustre, and Salvaris's slow NFS."""

import sys
import time
import unittest
from unittest import mock

from harness import BINARY, ROOT, SystemTest

sys.path.insert(0, str(ROOT / "scripts/studies"))
import lustre  # noqa: E402
import measuring  # noqa: E402
import salvaris_storage  # noqa: E402
from engines import Engine  # noqa: E402

PUBLISHED = [{"model": "resnet50", "ranks": "4", "value": "8.39"},
             {"model": "densenet121", "ranks": "4", "value": "13.1"}]


def rows(model, gains, ranks=4, grade="told apart"):
    """Rows of gains by latency, each within one percent."""
    return [{"model": model, "ranks": ranks, "open_latency_ms": latency, "gain_percent": gain, "ci95_low": gain - 1,
             "ci95_high": gain + 1, "grade": grade} for latency, gain in gains.items()]


class Claim(unittest.TestCase):
    def test_a_gain_is_that_of_tfrecords_over_the_pngs(self):
        ratio = {"kind": "format_ratio", "ratio": 0.8, "ratio_ci95": [0.5, 1.0], "grade": "told apart"}
        group = lustre.Opens("lustre", "opencv", 4, 6, model="resnet50", latency_ms=0.7)
        row, = lustre.rows_of([(group, {"findings": [{"kind": "fed"}, ratio], "trials": [{"scale_factor": 20}]})])
        self.assertEqual([round(row[name]) for name in ("gain_percent", "ci95_low", "ci95_high")], [25, 0, 100])

    def test_a_gain_is_met_between_the_points_surely_below_and_above_it(self):
        latency, low, high = lustre.met(rows("resnet50", {0.3: 0, 0.6: 2, 0.8: 12, 0.9: 20}), 8)
        self.assertAlmostEqual(latency, 0.72)
        self.assertEqual((low, high), (0.6, 0.8))
        self.assertEqual(lustre.met(rows("resnet50", {0.6: 2, 0.7: 7.5, 0.8: 12}), 8)[1:], (0.6, 0.8))  # 7.5 may be 8
        self.assertIsNone(lustre.met(rows("resnet50", {0.3: 0, 0.6: 2}), 8))
        self.assertIsNone(lustre.met(rows("resnet50", {0.8: 12, 0.9: 20}), 8))
        self.assertIsNone(lustre.met(rows("resnet50", {0.6: 2, 0.8: 12}, grade="machine too busy"), 8))

    def test_one_latency_must_give_both_gains(self):
        resnet = rows("resnet50", {0.6: 2, 0.8: 12})
        for others, expected in ((rows("densenet121", {0.7: 9, 0.9: 20}), lustre.UNKNOWN),  # it may be 0.75
                                 (rows("densenet121", {1.4: 9, 1.6: 20}), lustre.UNEXPLAINED),
                                 (rows("densenet121", {0.7: 0, 0.9: 2}), lustre.UNEXPLAINED),  # not reached
                                 (rows("densenet121", {0.7: 0, 0.9: 13}), lustre.UNKNOWN),  # nor surely not reached
                                 (rows("densenet121", {1.4: 20, 1.6: 30}), lustre.UNKNOWN),
                                 (rows("densenet121", {0.7: 9, 0.9: 20}, ranks=2), lustre.UNKNOWN),
                                 ([], lustre.UNKNOWN)):
            text, verdict, evidence = lustre.claim([*resnet, *others], PUBLISHED)
            self.assertEqual(verdict, expected, others)
            self.assertIn("8.39 % and 13.1 % on 4 GPUs", text)
            self.assertIn("ResNet50 gains 8.39 % at 0.73 ms (0.6 to 0.8)", evidence)
        self.assertEqual(lustre.claim([], PUBLISHED)[1], lustre.UNKNOWN)
        both = [*rows("resnet50", {0.7: 8}), *rows("densenet121", {0.7: 13})]
        self.assertEqual(lustre.claim(both, PUBLISHED)[1], lustre.EXPLAINED)

    def test_what_was_not_tried_counts_against_no_latency(self):
        for resnet, others in (({0.68: 1}, {1.45: 8}), ({1.4: 2, 1.6: 12}, {0.35: 0})):
            found = lustre.claim([*rows("resnet50", resnet), *rows("densenet121", others)], PUBLISHED)
            self.assertEqual(found[1], lustre.UNKNOWN, found)


class Plan(SystemTest):
    def test_the_ranks_of_a_node_share_the_opens_and_the_bandwidth_of_its_client(self):
        plan = lustre.groups(Engine())
        self.assertEqual(len({group.name for group in plan}), len(plan))
        for group in plan:
            settings = dict(setting.split("=") for setting in group.settings())
            self.assertAlmostEqual(float(settings["store.shape.iops"]) * group.ranks, 1e3 / group.latency_ms, delta=1)
            self.assertEqual(float(settings["store.shape.bandwidth_mb_per_s"]) * group.ranks, 1000)
        self.assertEqual(lustre.groups(Engine("onednn")), [])
        notes = {measuring.note_of(lustre.run_of(group, self.folder, self.folder)[0]) for group in plan}
        self.assertEqual(len(notes), len(plan), "a run is found again by its note")

    def test_the_forecast_is_slower_where_opens_hold_the_pngs_back(self):
        group = lustre.Opens("lustre", "opencv", 4, 6, 4, model="resnet50", opens_per_s=2000)
        free = lustre.forecast_s(group, 1500, 20)
        group.opens_per_s = 750
        starts = 2 * group.repeats * lustre.START_S
        self.assertAlmostEqual(lustre.forecast_s(group, 1500, 20) - starts, 1.5 * (free - starts))

    def test_a_set_with_too_few_images_is_left_out_and_named(self):
        data = self.folder / "data"
        self.succeed("data", "synth", data, "--images", "16", "--size", "32")
        plan = lustre.groups(Engine())
        with mock.patch.object(measuring, "BINARY", BINARY):
            self.assertIsNone(lustre.data_of(plan, data, time.monotonic() + 600))
        self.assertEqual({group.left_out for group in plan},
                         {f"the data set has 16 images, and {lustre.IMAGES} are needed"})
        self.assertEqual(lustre.needs_s(plan, self.folder, None), 0)
        text = "".join(str(block) for block in lustre.blocks(self.folder, [], [], plan))
        self.assertIn("lustre-resnet50-0.68ms-4: the data set has 16 images", text)

    def test_the_spec_can_be_run_by_itself(self):
        data = self.folder / "data"
        self.succeed("data", "synth", data, "--images", "80", "--size", "32")
        self.succeed("data", "convert", data, "--split", "all")
        self.succeed("--config", lustre.SPEC, "--set", f"data.root={data}", "--set", "ranks=1", "--dry-run", cwd=ROOT)


class SlowNfs(unittest.TestCase):
    def test_the_latency_that_makes_tensorflows_loader_slow_is_named_once_measured(self):
        self.assertIn("was not measured", salvaris_storage.latency_text([]))
        self.assertIn("was not measured", salvaris_storage.latency_text([{"store": "nfs-slow", "of_synthetic": None}]))
        slow = {"store": "nfs-slow", "of_synthetic": 0.41, "buffer_fed": False}
        self.assertIn("0.41 of synthetic (nfs-slow in the table): that", salvaris_storage.latency_text([slow]))
        self.assertIn(", not 0.4.", salvaris_storage.latency_text([{**slow, "of_synthetic": 0.5}]))
        self.assertIn("was not measured", salvaris_storage.latency_text([{**slow, "buffer_fed": True}]))

    def test_the_forecast_has_the_arm_of_its_spec_alone(self):
        slow, = (group for group in salvaris_storage.groups() if group.config == salvaris_storage.SLOW)
        self.assertLess(salvaris_storage.forecast_s(slow, 110e3), 180)

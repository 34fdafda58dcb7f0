"""Salvaris's study: the latency of NFS at which TensorFlow's loader is as slow as published."""

import sys
import unittest

from harness import ROOT

sys.path.insert(0, str(ROOT / "scripts/studies"))
import salvaris_storage  # noqa: E402


class SlowNfs(unittest.TestCase):
    def text(self, *rows):
        return salvaris_storage.latency_text(list(rows), salvaris_storage.published_rows())

    def test_the_latency_that_makes_tensorflows_loader_slow_is_named_once_measured(self):
        self.assertIn("was not measured", self.text())
        self.assertIn("was not measured", self.text({"store": "nfs-slow", "of_synthetic": None}))
        slow = {"store": "nfs-slow", "of_synthetic": 0.41, "buffer_fed": False}
        self.assertIn("0.41 of synthetic (nfs-slow in the table): that", self.text(slow))
        self.assertIn(", not 0.4.", self.text({**slow, "of_synthetic": 0.5}))
        self.assertIn("was not measured", self.text({**slow, "buffer_fed": True}))

    def test_the_forecast_has_the_arm_of_its_spec_alone(self):
        slow, = (group for group in salvaris_storage.groups() if group.config == salvaris_storage.SLOW)
        self.assertLess(salvaris_storage.forecast_s(slow, 110e3), 180)

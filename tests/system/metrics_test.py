"""--metrics FILE, read by the parsers of the Python package prometheus_client."""

import subprocess
import sys
import time
import unittest

from harness import ROOT, SystemTest, command_line, small_images

PACKAGE = ROOT / "build/prometheus"


def parsers():
    """The parsers of OpenMetrics and of Prometheus's own text format; none without the package."""
    if not (PACKAGE / "prometheus_client").exists():
        return []
    sys.path.insert(0, str(PACKAGE))
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
    from prometheus_client.parser import text_string_to_metric_families as prometheus
    return [openmetrics, prometheus]


PARSERS = parsers()


@unittest.skipUnless(PARSERS, "needs the Python package prometheus_client: scripts/setup full brings it")
class Metrics(SystemTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "chexbench.prom"

    def parsed(self, text):
        """The samples by name, each a list of (labels, value), in which both parsers must agree."""
        read = []
        for parse in PARSERS:
            families = list(parse(text))
            self.assertEqual({family.type for family in families}, {"gauge"}, text)
            samples = {}
            for family in families:
                for sample in family.samples:
                    samples.setdefault(sample.name, []).append((dict(sample.labels), sample.value))
            read.append(samples)
        self.assertEqual(read[0], read[1])
        return read[0]

    def test_a_finished_run_is_told_with_its_trials(self):
        odd = self.folder / 'a "quoted" \\ name'
        odd.symlink_to(small_images())
        spec = self.spec(sweep={"data.root": [str(small_images()), str(odd)]})
        self.succeed("--config", spec, "--output", self.folder / "out", "--metrics", self.file)
        samples = self.parsed(self.file.read_text())
        rates = samples["chexbench_images_per_second"]
        self.assertEqual([labels["trial"] for labels, _ in rates], [str(small_images()), str(odd)])
        for (labels, value), row in zip(rates, self.rows(self.folder / "out"), strict=True):
            self.assertEqual((labels["experiment"], labels["pipeline"]), ("system", "optimized"))
            self.assertEqual((labels["format"], labels["engine"], labels["ranks"]), ("images", "none", "1"))
            self.assertAlmostEqual(value, float(row["images_per_s"]), delta=1e-3 * value)
        self.assertNotIn("chexbench_wait_ratio", samples)  # engine none only waits
        for name, expected in (("done", 1), ("failed", 0), ("repeats_done", 4), ("repeats_planned", 4)):
            self.assertEqual([value for _, value in samples[f"chexbench_{name}"]], [expected], name)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(".")], [])

    def test_a_training_has_a_wait_ratio(self):
        spec = self.spec(engine="emulated:v100", comm={"model": "none"}, measure__repeats=1)
        self.succeed("--config", spec, "--output", self.folder / "out", "--metrics", self.file)
        (labels, ratio), = self.parsed(self.file.read_text())["chexbench_wait_ratio"]
        self.assertEqual(labels["engine"], "emulated:v100")
        self.assertTrue(0 <= ratio <= 1, ratio)

    def test_it_can_be_read_at_any_time_and_says_when_a_run_ends_early(self):
        spec = self.spec(measure__steps=1000000, measure__repeats=1)
        arguments = ["--config", spec, "--output", self.folder / "out", "--metrics", self.file]
        run = subprocess.Popen(command_line(arguments), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 60
            rates = None
            while not rates and time.monotonic() < deadline:
                text = self.file.read_text() if self.file.exists() else ""
                if text:
                    samples = self.parsed(text)
                    self.assertEqual(samples["chexbench_done"][0][1], 0)
                    rates = samples.get("chexbench_images_per_second")
                time.sleep(0.05)
            self.assertGreater(rates[0][1], 0)
        finally:
            run.terminate()
            run.wait(60)
        samples = self.parsed(self.file.read_text())
        self.assertEqual((samples["chexbench_done"][0][1], samples["chexbench_failed"][0][1]), (1, 1))


class BadFiles(SystemTest):
    def test_a_full_disk_is_told_before_anything_is_measured(self):
        self.fail_with(6, "--config", self.spec(), "--output", self.folder / "out", "--metrics", "/dev/full",
                       says="/dev/full")

    def test_a_file_that_cannot_be_written_is_told_before_anything_is_measured(self):
        nowhere = self.folder / "nowhere/run.prom"
        done = self.fail_with(6, "--config", self.spec(), "--output", self.folder / "out", "--metrics", nowhere,
                              says=[str(nowhere), "No such file"])
        self.assertNotIn("wrote", done.stderr)
        self.assertFalse((self.folder / "out").exists())

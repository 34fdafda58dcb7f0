"""Planted bottlenecks: the verdict must name the part that is slowed down by a known amount.

Delays are sleeps, many times longer than the real work, so that a busy machine changes little.
"""

import os
import unittest

from harness import REAL_IMAGES, SANITIZED, SystemTest, measured

ACCELERATOR_IMAGES_PER_S = 384  # emulated:v100, ResNet50, f32
DELAY_S = 0.1 if SANITIZED else 0.02  # an image, on one core: decoding a real X-ray takes a tenth of it


class Planted(SystemTest):
    def run_trial(self, name="out", ranks=None, environment=None, settings=(), **keys):
        """The row and the findings of one trial, of an emulated accelerator fed by one core a rank."""
        out = self.folder / name
        keys = {"engine": "emulated:v100", "comm__model": "none", "training__batch_size": 8, "data__deliver": "u8",
                "cores_per_rank": 1, "measure__steps": 10, "measure__repeats": 1, **keys}
        if keys["engine"] == "none":
            del keys["comm__model"]
        options = [text for setting in settings for text in ("--set", setting)]
        self.succeed("--config", self.spec(**keys), *options, "--output", out, ranks=ranks,
                     env={**os.environ, **(environment or {})})
        report = self.report(out)
        return self.rows(out)[-1], {finding["kind"]: finding["text"] for finding in report["findings"]}, report

    def waits(self, run, trial):
        """Shares of the trial's time by op and part."""
        return {"/".join(filter(None, (row["op"], row["part"]))): float(row["wait_share"])
                for row in self.rows(self.folder / run, "waits.csv") if row["trial"] == trial}


class SlowOps(Planted):
    @measured
    def test_the_op_that_was_slowed_down_is_named(self):
        for place, op in (("shuffle[1]", "shuffle"), ("map_and_batch", "map_and_batch/other"), ("repeat", "repeat")):
            run = op.replace("/", "-")
            row, findings, _ = self.run_trial(run, settings=[f"pipeline.{place}.delay_s={DELAY_S}"])
            self.assertEqual(row["limit"], "input", op)
            waits = self.waits(run, row["trial"])
            self.assertEqual(max(waits, key=waits.get), op)
            self.assertGreater(waits[op], (0.5 if SANITIZED else 0.7) * float(row["wait_share"]), op)
            self.assertIn(f"because of {op.replace('/', ' (') + (')' if '/' in op else '')}", findings["starved"])

    @measured
    def test_what_it_books_is_what_it_waits(self):
        row, _, report = self.run_trial(settings=[f"pipeline.map_and_batch.delay_s={DELAY_S}"])
        repeat = report["trials"][0]["repeats"][0]
        columns = repeat["steps"]["columns"]
        waited_s = sum(step[columns.index("wait_s")] for step in repeat["steps"]["rows"])
        booked_s = sum(booking[-1] for booking in repeat["waits"]["rows"])
        self.assertAlmostEqual(booked_s, waited_s, delta=1e-6)
        parts = ("wait_s", "upload_s", "compute_s", "exposed_communication_s", "update_s", "other_s")
        for step in repeat["steps"]["rows"]:
            step = dict(zip(columns, step))
            self.assertAlmostEqual(sum(step[part] for part in parts), step["wall_s"], delta=0.02 * step["wall_s"])

    @measured
    def test_the_wait_is_what_the_differential_method_finds(self):
        settings = [f"pipeline.map_and_batch.delay_s={DELAY_S}"]
        row, _, _ = self.run_trial("fed", settings=settings)
        alone, _, _ = self.run_trial("alone", settings=settings, engine="none")
        ceiling, _, _ = self.run_trial("ceiling", data={"format": "ready"})
        fed, input_alone, compute_alone = (float(one["images_per_s"]) for one in (row, alone, ceiling))
        self.assertAlmostEqual(compute_alone, ACCELERATOR_IMAGES_PER_S, delta=0.05 * ACCELERATOR_IMAGES_PER_S)
        self.assertAlmostEqual(fed, input_alone, delta=0.1 * input_alone)
        wait_s = float(row["wait_share"]) / fed  # of one image
        self.assertAlmostEqual(wait_s, 1 / fed - 1 / compute_alone, delta=0.1 * wait_s)
        self.assertAlmostEqual(wait_s, 1 / input_alone - 1 / compute_alone, delta=0.1 * wait_s)


class NothingSlow(Planted):
    @measured
    def test_an_accelerator_that_is_slower_than_its_input_computes(self):
        row, findings, _ = self.run_trial(data={"format": "ready"})
        self.assertEqual(row["limit"], "compute")
        self.assertIn("keeps its accelerator fed", findings["fed"])


class SlowNetwork(Planted):
    @measured
    def test_communication_is_named(self):
        row, findings, _ = self.run_trial(ranks=2, data={"format": "ready"}, comm__model="alpha_beta",
                                          comm__beta_bytes_per_s=5e8)
        self.assertEqual(row["limit"], "communication")
        self.assertIn("communication not overlapped with backward", findings["communication"])


@unittest.skipIf(SANITIZED, "a sanitizer's library must be the first that is loaded")
class SlowStore(Planted):
    def slow_store(self, **environment):
        return {"LD_PRELOAD": os.environ["CHEXBENCH_SLOW_STORE"], "SLOW_STORE_MS": str(int(1000 * DELAY_S)),
                **environment}

    @measured
    def test_reading_is_named(self):
        row, findings, _ = self.run_trial(environment=self.slow_store())
        self.assertEqual((row["limit"], row["wait_op"], row["wait_part"]), ("input", "map_and_batch", "read"))
        self.assertIn("map_and_batch (read)", findings["starved"])

    @measured
    def test_a_rank_with_a_slow_store_of_its_own_is_named(self):
        row, findings, _ = self.run_trial(ranks=2, environment=self.slow_store(SLOW_STORE_RANK="1"),
                                          measure__repeats=3)  # fewer could be chance
        self.assertEqual(row["limit"], "slow_rank")
        self.assertIn("rank 1 takes", findings["slow_rank"])


class FullCores(Planted):
    @measured
    def test_a_core_that_is_full_is_named_and_not_decode(self):
        # An accelerator that takes 1376 images/s, which one core never decodes.
        row, findings, _ = self.run_trial(data__root=str(REAL_IMAGES), training__precision="fp16", measure__steps=40)
        self.assertEqual((row["limit"], row["wait_op"], row["wait_part"]), ("cpu", "map_and_batch", "decode"))
        self.assertRegex(findings["cpu_starved"], "the one core of a rank is full|without a free core")

    @measured
    def test_one_decoding_thread_beside_free_cores_is_no_lack_of_cores(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core")
        row, _, _ = self.run_trial(data__root=str(REAL_IMAGES), pipeline="keras", training__precision="fp16",
                                   cores_per_rank=2)
        self.assertEqual((row["limit"], row["wait_op"]), ("input", "map"))

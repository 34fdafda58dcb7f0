"""chexbench advise: from a slow pipeline to a fast one, as a file that runs."""

import json

from harness import SystemTest, measured

DELAY_S = 0.02  # an image: a decoder so slow that nothing else matters


class Advise(SystemTest):
    def advise(self, pipeline, ranks=None, settings=(), without=None, **keys):
        out = self.folder / "advice"
        keys = {"pipeline": pipeline, "cores_per_rank": 1, "training__batch_size": 4, "measure__steps": 4, **keys}
        options = [text for setting in settings for text in ("--set", setting)]
        if without:
            options += ["--without", without]
        done = self.succeed("advise", "--config", self.spec(**keys), *options, "--output", out, ranks=ranks)
        return out, json.loads((out / "advice.json").read_text()), done

    @measured
    def test_naive_on_two_ranks_becomes_as_fast_as_optimized(self):
        out, advice, done = self.advise("naive", ranks=2, settings=[f"pipeline.map.delay_s={DELAY_S}"],
                                        without="cache_decoded")
        self.assertIn("images/s with the edits kept", done.stdout)
        kept = [attempt["edit"] for attempt in advice["tries"] if attempt["kept"]]
        self.assertTrue({"shard_first", "decode_into_batches"} & set(kept), advice)
        first = advice["tries"][0]
        self.assertAlmostEqual(first["predicted_ratio"], 2, delta=0.4)
        self.assertAlmostEqual(first["ratio"]["value"], first["predicted_ratio"], delta=0.4)
        self.assertGreater(advice["ratio"]["value"], 1.5)

        run = self.folder / "run"
        self.succeed("--config", out / "spec.json", "--set", "measure.steps=8", "--output", run, ranks=2)
        best = self.folder / "best"
        self.succeed("--config", self.spec(cores_per_rank=1, training__batch_size=4, measure__steps=8,
                                           measure__repeats=5),
                     "--set", f"pipeline.map_and_batch.delay_s={DELAY_S}", "--output", best, ranks=2)
        advised, optimized = (float(self.rows(folder)[0]["images_per_s"]) for folder in (run, best))
        self.assertGreater(advised, 0.95 * optimized)

        pipeline = self.folder / "pipeline-alone"
        self.succeed("--config", self.spec(pipeline=str(out / "pipeline.json"), measure__repeats=1),
                     "--output", pipeline)

    @measured
    def test_a_pipeline_that_is_fast_already_stays_as_it_is(self):
        out, advice, done = self.advise("optimized", settings=[f"pipeline.map_and_batch.delay_s={DELAY_S}"],
                                        without="cache_decoded,read_tfrecords")
        self.assertIn("none of the edits tried is faster", done.stdout)
        self.assertNotIn("cache_decoded", done.stdout)
        self.assertIsNone(advice["ratio"])
        self.assertTrue((out / "spec.json").exists())

    @measured
    def test_images_that_fit_into_memory_are_decoded_once(self):
        _, advice, _ = self.advise("optimized", settings=[f"pipeline.map_and_batch.delay_s={DELAY_S}"])
        cache = next(attempt for attempt in advice["tries"] if attempt["edit"] == "cache_decoded")
        self.assertTrue(cache["kept"], advice)
        self.assertGreater(cache["ratio"]["value"], 5)

    def test_an_edit_that_does_not_exist_is_refused(self):
        self.fail_with(2, "advise", "--config", self.spec(), "--without", "shard_frist", says="shard_first")

    def test_a_sweep_and_a_folder_with_an_advice_are_refused(self):
        spec = self.spec(sweep={"pipeline": ["naive", "optimized"]})
        self.fail_with(2, "advise", "--config", spec, says=["one trial", "--set"])
        self.fail_with(2, "advise", "--config", self.spec(data={"format": "ready"}), "--output",
                       self.folder / "none", says="ready")
        (self.folder / "advice").mkdir()
        (self.folder / "advice" / "advice.json").write_text("{}")
        self.fail_with(6, "advise", "--config", self.spec(), "--output", self.folder / "advice", says="already holds")

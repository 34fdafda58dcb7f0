"""Scale models: a world of two cores on one, and trials without a scale model."""


from harness import REAL_IMAGES, SystemTest, measured

WORLD = {"engine": "emulated:v100", "comm__model": "none", "data__root": str(REAL_IMAGES), "data__deliver": "u8",
         "data__split": "all", "training__batch_size": 8, "emulation__cores_per_accelerator": 2,
         "measure": {"warmup_steps": 3, "steps": 16, "repeats": 3, "extra_repeats": 0}}
# An input that two cores cannot decode fast enough, one that they can just about, and one that they can by far.
INPUTS = {"input-bound": ("data.decoder=opencv",),
          "balanced": ("data.decoder=opencv", "model.name=densenet121", "model.image_size=256"),
          "compute-bound": ("data.decoder=fast",)}


class ScaleModel(SystemTest):
    def run_with(self, name, cores, settings):
        out = self.folder / f"{name}-{cores}"
        options = [text for setting in (*settings, f"cores_per_rank={cores}") for text in ("--set", setting)]
        self.succeed("--config", self.spec(**WORLD), *options, "--output", out)
        return self.rows(out)[0], self.report(out)["trials"][0]

    @measured
    def test_the_world_of_two_cores_is_the_same_on_one(self):
        for name, settings in INPUTS.items():
            full, _ = self.run_with(name, 2, settings)
            half, trial = self.run_with(name, 1, settings)
            if full["disturbed_repeats"] != "0" or half["disturbed_repeats"] != "0":
                self.skipTest("the machine is too busy: other processes take the cores that the trials measure")
            self.assertEqual((float(full["scale_factor"]), float(half["scale_factor"])), (1, 2), name)
            self.assertEqual(half["cores_per_rank"], "2", name)
            self.assertAlmostEqual(float(half["images_per_s"]) / float(full["images_per_s"]), 1, delta=0.1, msg=name)
            self.assertAlmostEqual(float(half["wait_share"]), float(full["wait_share"]), delta=0.1, msg=name)
            self.assertIn("scale model, 1 : 2", trial["notes"][-1])

    def test_sixteen_ranks_of_ten_cores_fit_here(self):
        out = self.folder / "out"
        done = self.succeed("--config", self.spec(**WORLD), "--output", out, "--set", "data.format=ready", "--set",
                            "emulation.cores_per_accelerator=10", "--set", "training.batch_size=2", "--set",
                            "measure.repeats=1", "--set", "measure.steps=4", ranks=16)
        row = self.rows(out)[0]
        self.assertEqual((row["ranks"], row["cores_per_rank"], row["oversubscribed"]), ("16", "10", "false"))
        self.assertAlmostEqual(float(row["images_per_s"]) / (16 * 384), 1, delta=0.1)
        self.assertIn("(scale model, 1 : ", done.stdout)
        self.assertNotIn("oversubscribed", done.stdout)

    def test_what_does_not_scale_is_refused(self):
        for settings, says in (
                (("engine=onednn", "comm.model=real"), "engine onednn runs at this machine's speed"),
                (("comm.model=real",), "comm.model real sends at this machine's speed"),
                (("measure.page_cache=cold",), "slow the store down with store.shape"),
                (("pipeline=keras", "emulation.cores_per_accelerator=10"), "fewer threads than cores"),
                (("cores_per_rank=2", "emulation.cores_per_accelerator=1"), "can only be slower than full scale")):
            options = [text for setting in settings for text in ("--set", setting)]
            self.fail_with(2, "--config", self.spec(**WORLD), *options, "--output", self.folder / "no", says=says)

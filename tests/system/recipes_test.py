"""Trainings as people do them: the specs of published recipes, a frozen base, an early end, and images by heart."""

import json
import unittest

from epochs import EpochsTest, read_checkpoint
from harness import HAS_ONEDNN, REAL_IMAGES, ROOT, small_images

CONFIGS = ROOT / "configs"
SMALL = ["--set", "model.image_size=32", "--set", "training.batch_size=4"]


@unittest.skipUnless(HAS_ONEDNN, "trains on the CPU")
class Recipes(EpochsTest):
    def recipe(self, path, *arguments):
        """Trains a spec of configs/ over the real X-rays; its epochs."""
        out = self.folder / path.replace("/", "-")
        self.succeed("--config", CONFIGS / path, "--set", f"data.root={REAL_IMAGES}", "--set", "engine=onednn",
                     "--output", out, *arguments)
        return out, self.epochs_of(out)

    def test_the_articles_recipe_runs_from_the_weights_to_the_scores(self):
        weights = self.folder / "pretrained"
        self.train(self.training(model={"name": "densenet121", "image_size": 32}, training__epochs=1), weights)
        begin = str(self.last(weights).with_name("best.safetensors"))
        out, epochs = self.recipe("studies/dell-article/accuracy.json", *SMALL, "--set", f"model.weights={begin}",
                                  "--set", "training.epochs=6")
        rates = [epoch["learning_rate"] for epoch in epochs]
        self.assertEqual(len(epochs), 6)
        self.assertEqual(sorted(rates), rates, "the warm-up rises over five epochs")
        self.assertAlmostEqual(rates[5], 0.001)
        self.assertLess(epochs[-1]["training_loss"], epochs[0]["training_loss"])
        judged = self.succeed("evaluate", "--checkpoint", self.last(out), "--data", REAL_IMAGES, "--split", "all",
                              "--output", self.folder / "judged")
        self.assertIn("CheXNet*", judged.stdout)
        self.assertIn("Published AUROCs are of other images", judged.stdout)
        self.assertEqual(len(self.rows(self.folder / "judged", "scores.csv")), 24)
        self.assertIn('"published":{"CheXNet":0.8094', (out / "report.html").read_text().replace(" ", ""))

    def test_zoogzogs_recipe_runs_and_is_judged_by_ten_crops(self):
        out, epochs = self.recipe("studies/zoogzog/accuracy.json", *SMALL, "--set", "training.epochs=2",
                                  "--set", "model.name=mobilenet_v2")
        self.assertEqual(len(epochs), 2)
        best = self.last(out)
        self.succeed("evaluate", "--checkpoint", best, "--data", REAL_IMAGES, "--split", "all", "--ten-crop",
                     "--output", self.folder / "judged")
        self.assertEqual(json.loads((self.folder / "judged/evaluation.json").read_text())["crops"], 10)

    def test_a_network_learns_a_few_images_by_heart(self):
        out, epochs = self.recipe("experiments/overfit.json", "--set", "model.image_size=32", "--set",
                                  f"data.root={small_images()}")
        self.assertEqual(epochs[0]["validation_images"], 24)
        self.assertGreater(max(epoch["mean_auroc"] for epoch in epochs), 0.99)
        self.assertIn("This was measured on the training images", (out / "report.html").read_text())

    def test_a_frozen_base_keeps_its_weights_and_its_statistics(self):
        first = self.folder / "first"
        self.train(self.training(training__epochs=1), first)
        weights = self.last(first).with_name("best.safetensors")
        model = {"name": "mobilenet_v2", "image_size": 32, "weights": str(weights), "freeze": "base"}
        out = self.folder / "frozen"
        self.train(self.training(model=model), out)
        before, after = self.bytes_of(weights), self.bytes_of(self.last(out).with_name("best.safetensors"))
        changed = {name for name, values in before.items() if after[name] != values and "tracked" not in name}
        self.assertEqual(changed, {"classifier.1.weight", "classifier.1.bias"})
        moments = set(self.bytes_of(self.last(out))) - set(after)
        self.assertEqual(moments, {f"{moment}.classifier.1.{name}" for moment in ("exp_avg", "exp_avg_sq")
                                   for name in ("weight", "bias")})
        self.assertIn("only layer 'classifier.1' is trained", (out / "report.json").read_text())

    def test_a_frozen_base_goes_on_to_the_bit(self):
        self.check_resume(ranks=None, model={"name": "mobilenet_v2", "image_size": 32, "freeze": "base"})

    def test_no_emulated_engine_has_a_frozen_base(self):
        self.fail_with(2, "--config", self.spec(engine="emulated:v100", model__freeze="base"), "--dry-run",
                       says=["model.freeze is base", "take engine onednn or cuda"])

    def test_a_training_that_gets_no_better_ends_and_goes_on_no_further(self):
        out = self.folder / "out"
        spec = self.training(training={"batch_size": 8, "epochs": 40, "learning_rate": 1e-30, "stop_patience": 2})
        epochs = self.train(spec, out)
        self.assertLess(len(epochs), 40)
        scores = [epoch["mean_auroc"] for epoch in epochs]
        self.assertEqual(len(epochs) - 1 - scores.index(max(scores)), 2)
        self.assertIn("because 2 were not better", self.accuracy_of(out))
        last = self.last(out).read_bytes()
        (out / "journal.jsonl").write_text("")
        self.succeed("--config", spec, "--resume", out)
        self.assertEqual(self.last(out).read_bytes(), last, "it is over")
        longer = self.training(training={"batch_size": 8, "epochs": 40, "learning_rate": 1e-30, "stop_patience": 2,
                                         "checkpoint": str(self.last(out))})
        self.fail_with(2, "--config", longer, "--output", self.folder / "more",
                       says=["of 40 epochs because training.stop_patience is 2: raise it"])

    def test_the_best_of_several_repeats_is_told_with_their_spread(self):
        out = self.folder / "out"
        self.succeed("--config", self.training(measure={"warmup_steps": 1, "repeats": 3}), "--output", out)
        best = [max(epoch["mean_auroc"] for epoch in repeat["epochs"])
                for repeat in self.report(out)["trials"][0]["repeats"]]
        row = self.rows(out)[0]
        self.assertEqual(float(row["mean_auroc_best"]), max(best))
        self.assertEqual(float(row["mean_auroc_worst"]), min(best))
        self.assertEqual(int(row["best_repeat"]), best.index(max(best)))
        self.assertIn(f"The best of 3 repeats is repeat {best.index(max(best))} ",
                      self.accuracy_of(out))

    def test_the_sweep_of_learning_rates_is_what_the_figure_needs(self):
        plan = self.succeed("--config", CONFIGS / "experiments/learning-rate.json", "--set", f"data.root={self.images}",
                            "--dry-run")
        self.assertIn("9 trials", plan.stdout)

    def accuracy_of(self, out):
        """The report's text on the AUROC."""
        return next(finding["text"] for finding in self.report(out)["findings"] if finding["kind"] == "accuracy")

    def bytes_of(self, path):
        _, tensors, data = read_checkpoint(path)
        return {name: data[slice(*tensor["data_offsets"])] for name, tensor in tensors.items()}

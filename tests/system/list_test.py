"""chexbench list, and experiments that are given by their names."""

from harness import ROOT, SystemTest, small_images


class Shipped(SystemTest):
    def test_names_every_file_with_a_line_about_it(self):
        told = self.told("list", cwd=self.folder)
        table = self.succeed("list").stdout.splitlines()
        for kind in ("experiments", "pipelines", "accelerators"):
            names = sorted(path.stem for path in (ROOT / "configs" / kind).glob("*.json"))
            self.assertEqual(sorted(entry["name"] for entry in told[kind]), names)
            for entry in told[kind]:
                line = [entry["name"], *entry["description"].split()]
                self.assertIn(line, [row.split() for row in table])
                self.assertGreater(len(entry["description"]), 10, entry)
                if kind == "experiments":
                    self.assertTrue(entry["description"].endswith("?"), entry)
        self.assertLessEqual(max(map(len, table)), 100)
        self.assertLessEqual(len(told["experiments"]), 12)
        about = {entry["name"]: entry["description"] for entry in told["experiments"] + told["accelerators"]}
        self.assertEqual(about["peers-input"], "How many images/s does one pipeline deliver, without training?")
        self.assertEqual(about["p100"], "NVIDIA Tesla P100 SXM2")

    def plan(self, name):
        """The plan without its forecasts, which differ a little each time."""
        done = self.succeed("--config", name, "--set", f"data.root={small_images()}", "--dry-run", "--explain",
                            "--ranks", "1",
                            cwd=self.folder)
        return done.stdout[done.stdout.index("trial 1 of"):].split("anonymous memory")[0]

    def test_a_name_finds_a_spec_from_anywhere(self):
        self.assertEqual(self.plan("peers-input"), self.plan(ROOT / "configs/experiments/peers-input.json"))
        self.succeed("--config", "peers-input", "--set", f"data.root={small_images()}", "--set", "measure.steps=4",
                     "--output", self.folder / "out", cwd=self.folder)
        self.assertEqual(self.report(self.folder / "out")["experiment"], "peers-input")

    def test_a_file_of_the_current_folder_wins(self):
        shipped = self.plan("peers-input")
        for name in ("peers-input.json", "peers-input"):
            self.spec(training__batch_size=3 + len(name)).rename(self.folder / name)
            self.assertIn(f'"batch_size": {3 + len(name)}', self.plan("peers-input"))
        self.assertNotEqual(self.plan("peers-input"), shipped)
        (self.folder / "formats").mkdir()
        self.assertIn("formats", self.plan("formats"))

    def test_a_misspelt_name_suggests_the_nearest(self):
        self.fail_with(2, "--config", "peers-imput", says="did you mean 'peers-input'?")
        self.fail_with(2, "predict", "--config", "format", "--accelerator", "v100", says="did you mean 'formats'?")
        self.fail_with(2, "--config", "x" * 5000, says="peers-input")

"""A wrong spec or command line: exit code 2, the JSON path, what was expected, and the nearest valid name."""

import os
import unittest

from harness import HAS_ONEDNN, REAL_IMAGES, SystemTest


class BadSpec(SystemTest):
    def refuse(self, says, **keys):
        done = self.fail_with(2, "--config", self.spec(**keys), "--output", self.folder / "out", says=says)
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.folder / "out").exists())

    def test_unknown_key(self):
        self.refuse(["training.batchsize", "batch_size"], training__batchsize=4)

    def test_engine_that_no_build_has(self):
        self.refuse(["cudnn", "auto", "cuda", "onednn", "none", "emulated"], engine="cudnn")
        self.fail_with(2, "--config", self.spec(engine="onedn"), "--dry-run", says="onednn")

    @unittest.skipIf(os.path.exists("/dev/nvidiactl"), "there is a driver")
    def test_engine_for_gpus_where_there_is_none(self):
        self.fail_with(4, "--config", self.spec(engine="cuda"), says="CUDA")

    @unittest.skipUnless(HAS_ONEDNN, "this build has no oneDNN")
    def test_network_that_needs_larger_images(self):
        self.refuse(["alexnet", "62", "too small"], engine="onednn", model__name="alexnet", model__image_size=62)

    def test_network_that_needs_larger_images_is_refused_before_the_first_trial(self):
        spec = self.spec(engine="cuda", model__image_size=62, sweep={"model.name": ["mobilenet_v2", "alexnet"]})
        output = self.folder / "out"
        self.fail_with(2, "--config", spec, "--output", output, says=["alexnet", "62", "too small"])
        self.assertFalse(output.exists())

    def test_unknown_profile(self):
        self.refuse("v100", engine="emulated:v10")

    def test_profile_without_such_an_image_size(self):
        self.refuse(["v100", "96x96"], engine="emulated:v100", model__image_size=96)

    def test_text_that_is_no_json_is_shown_with_its_line(self):
        path = self.folder / "spec.json"
        path.write_text('{\n  "experiment": "x",\n  "data": {,}\n}')
        self.fail_with(2, "--config", path, says="spec.json:3:")

    def test_missing_spec_file(self):
        self.fail_with(2, "--config", self.folder / "none.json", says="none.json")

    def test_a_misspelt_spec_file_names_the_nearest(self):
        (self.folder / "smoke.json").write_text("{}")
        (self.folder / "another.json").write_text("{}")
        suggestion = f"did you mean '{self.folder}/smoke.json'?"
        for name in ("smok.json", "smoke"):
            self.fail_with(2, "--config", self.folder / name, says=suggestion)
        self.fail_with(2, "--config", "./smok.json", cwd=self.folder, says="did you mean './smoke.json'?")
        self.assertNotIn("did you mean", self.fail_with(2, "--config", self.folder / "far-away.json").stderr)
        self.assertNotIn("did you mean", self.fail_with(2, "--config", self.folder / "none/smok.json").stderr)

    def test_a_misspelt_ending_of_a_spec_file_names_the_file(self):
        self.spec()
        self.fail_with(2, "--config", "spec.jsn", cwd=self.folder, says="did you mean 'spec.json'?")

    def test_a_key_and_its_value_in_two_words_are_told(self):
        (self.folder / "nih").mkdir()
        self.fail_with(2, "--config", self.spec(), "--set", "data.root", "nih", cwd=self.folder,
                       says=["give KEY=VALUE as one word, as in --set data.root=nih"])

    def test_set_without_a_value(self):
        self.fail_with(2, "--config", self.spec(), "--set", "measure.steps", says="measure.steps")


class BadCommandLine(SystemTest):
    def test_nothing_to_do(self):
        self.fail_with(2, says="--help")

    def test_unknown_option_names_the_nearest(self):
        self.fail_with(2, "--confg", "x.json", says="--config")

    def test_unknown_verb_names_the_nearest(self):
        self.fail_with(2, "dta", says="data")

    def test_a_spec_without_its_option_is_shown_with_it(self):
        self.fail_with(2, "mine.json", says="chexbench --config mine.json")
        self.fail_with(2, "mine.json", "--quiet", says="chexbench --config mine.json")
        self.assertNotIn("--config", self.fail_with(2, "doctor", "mine.json", says="mine.json").stderr)

    def test_help_is_a_command_too(self):
        for words in ([], ["model"], ["data", "synth"]):
            self.assertEqual(self.succeed("help", *words).stdout, self.succeed(*words, "--help").stdout)
        self.fail_with(2, "help", "dta", says="did you mean 'data'?")
        self.fail_with(2, "help", "data", "snth", says="did you mean 'synth'?")

    def test_output_and_resume_together(self):
        self.fail_with(2, "--config", self.spec(), "--output", "a", "--resume", "b", says="--output")


class Verbs(SystemTest):
    def test_options_of_a_run_beside_a_verb_are_refused(self):
        done = self.fail_with(
            2, "--config", self.spec(), "data", "index", REAL_IMAGES, says=["--config", "chexbench data"]
        )
        self.assertEqual(done.stdout, "")

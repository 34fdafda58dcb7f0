"""scripts/reframe/chexbench_reframe.py in ReFrame itself, on this machine."""

import json
import os
import unittest

from harness import BINARY, ROOT, SystemTest, run_program, small_images

REFRAME = ROOT / "build/reframe-venv/bin/reframe"
CHECK = ROOT / "scripts/reframe/chexbench_reframe.py"
QUICK = ("data.format=images,engine=none,training.batch_size=2,"
         "measure.warmup_steps=1,measure.steps=3,measure.repeats=2,measure.extra_repeats=0")


@unittest.skipUnless(REFRAME.exists(), "needs ReFrame: scripts/reframe/setup brings it")
class ReFrame(SystemTest):
    def check(self, *options, settings=QUICK, data_root=None, case="optimized"):
        """Runs the case of one pipeline; its entry in ReFrame's report."""
        report = self.folder / "report.json"
        done = run_program(
            REFRAME, "--nocolor", "--config-file", self.config(), "--checkpath", CHECK, "--prefix", self.folder,
            "--report-file", report, "--name", f"%pipeline={case}", "--setvar", f"chexbench={BINARY}",
            "--setvar", f"settings={settings}", "--setvar", f"data_root={data_root or small_images()}",
            *(word for option in options for word in ("--setvar", option)), "--run",
            cwd=self.folder, env={**os.environ, "HOME": str(self.folder)})
        self.assertTrue(report.exists(), done.stdout + done.stderr)
        (case,) = json.loads(report.read_text())["runs"][0]["testcases"]
        self.assertEqual(done.returncode, int(case["result"] != "pass"), done.stdout)
        return case

    def config(self):
        """A site's configuration: this machine, whose partition starts ranks by mpirun."""
        config = self.folder / "site.py"
        config.write_text('''site_configuration = {
    "systems": [{"name": "here", "hostnames": [".*"], "partitions": [
        {"name": "cpus", "scheduler": "local", "launcher": "mpirun", "environs": ["builtin"]}]}],
    "environments": [{"name": "builtin"}]}
''')
        return config

    def test_it_reads_images_per_s_and_wait_share(self):
        case = self.check("num_tasks=2", "wait_share_limit=1", "images_per_s=0.001")
        self.assertEqual(case["result"], "pass", case["fail_reason"])
        values = {name.split(":")[-1]: value[0] for name, value in case["perfvalues"].items()}
        (folder,) = self.folder.glob("output/here/cpus/builtin/*/run")
        (trial,) = self.report(folder)["trials"]
        self.assertEqual(values, {"images_per_s": trial["figures"]["images_per_s"], "wait_share": 1.0})
        self.assertEqual((trial["trial"], trial["ranks"]), ("optimized images", 2))

    def test_a_slow_machine_fails(self):
        case = self.check("images_per_s=1e9", case="naive")
        self.assertEqual((case["result"], case["fail_phase"]), ("fail", "performance"))
        self.assertIn("images_per_s", case["fail_reason"])

    def test_an_accelerator_that_waits_fails(self):
        case = self.check("wait_share_limit=0.5")
        self.assertEqual((case["result"], case["fail_phase"]), ("fail", "performance"))
        self.assertIn("wait_share", case["fail_reason"])

    def test_an_error_of_chexbench_is_the_reason(self):
        case = self.check(settings="training.batch=2")
        self.assertEqual(case["result"], "fail")
        self.assertIn("chexbench ended with 2", case["fail_reason"])
        self.assertIn("training.batch", case["fail_reason"])

    def test_several_trials_are_no_case(self):
        spec = self.spec(sweep={"training.batch_size": [1, 2]})
        case = self.check(f"spec={spec}", settings="data.split=train")
        self.assertEqual((case["result"], case["fail_phase"]), ("fail", "sanity"))
        self.assertIn("2 trials", case["fail_reason"])

    def test_a_folder_with_the_name_of_the_spec_is_no_spec(self):
        (self.folder / "naive-vs-optimized").mkdir()
        case = self.check()
        self.assertEqual(case["result"], "pass", case["fail_reason"])

    def test_a_url_is_passed_on(self):
        case = self.check(data_root="gopher://host/nih")
        self.assertIn("chexbench ended with", case["fail_reason"])
        self.assertIn("'gopher://host/nih'", case["fail_reason"])

    def test_missing_data_are_named(self):
        case = self.check(data_root="/no/such/folder")
        self.assertEqual(case["result"], "fail")
        self.assertIn("-S data_root=DIR", case["fail_reason"])

"""chexbench compare, on the reports of a real run."""

import json
import shutil

from harness import SystemTest, set_rate


class Compare(SystemTest):
    def setUp(self):
        super().setUp()
        self.base = self.shared_run(self.spec(measure__repeats=5), "base")

    def other(self, name, change=lambda report: None):
        """A copy of the base's folder, whose report.json `change` has edited."""
        folder = self.folder / name
        shutil.copytree(self.base, folder)
        report = self.report(folder)
        change(report)
        (folder / "report.json").write_text(json.dumps(report))
        return folder

    @staticmethod
    def slower(factor):
        def change(report):
            for trial in report["trials"]:
                # Without noise: how fast the machine happens to be must not decide.
                for repeat in trial["repeats"]:
                    set_rate(repeat, 100 * factor)
        return change

    def test_a_run_is_the_same_as_itself(self):
        base = self.other("steady", self.slower(1))
        for new in (base, base / "report.json"):
            self.assertIn("same", self.succeed("compare", base, new).stdout)

    def test_noise_is_undecided_and_fails_a_gate_that_asks_for_it(self):
        def noisy(report):
            repeats = report["trials"][0]["repeats"]
            report["trials"][0]["repeats"] = [set_rate({**repeats[0], "repeat": i}, rate)
                                              for i, rate in enumerate((60, 140, 80, 120, 95, 105))]
        base = self.other("noisy", noisy)
        self.assertIn("undecided", self.succeed("compare", base, base).stdout)
        self.fail_with(5, "compare", base, base, "--fail-undecided", says="undecided")

    def test_an_arm_that_lost_a_tenth_is_exit_code_5(self):
        base, new = self.other("one", self.slower(1)), self.other("two", self.slower(0.9))
        done = self.fail_with(5, "compare", base, new, says="worse than the base")
        self.assertIn("0.900", done.stdout)
        self.assertIn("better", self.succeed("compare", new, base).stdout)
        self.succeed("compare", base, new, "--threshold", 0.2)

    def test_folders_of_runs_are_pooled(self):
        for side, factor in (("old", 1), ("new", 0.9)):
            for run in range(5):
                self.other(f"{side}/{run}", self.slower(factor))
        done = self.fail_with(5, "compare", self.folder / "old", self.folder / "new", "--format", "json")
        self.assertEqual(json.loads(done.stdout)["a_value_is"], "run")
        self.assertEqual(json.loads(done.stdout)["arms"][0]["base_values"], [100] * 5)

    def test_markdown(self):
        self.assertIn("|---|", self.succeed("compare", self.base, self.base, "--format", "markdown").stdout)

    def test_a_run_of_another_machine(self):
        def change(report):
            report["environment"]["cpu"] = "Another CPU"
        new = self.other("elsewhere", change)
        done = self.fail_with(3, "compare", self.base, new, says="--across-machines")
        self.assertIn("against Another CPU", done.stdout)
        self.assertIn("Another CPU", self.succeed("compare", self.base, new, "--across-machines").stdout)

    def test_an_arm_of_another_batch_size(self):
        def change(report):
            report["trials"][0]["spec"]["training"]["batch_size"] = 3
        done = self.fail_with(3, "compare", self.base, self.other("batch", change), says="no trial")
        self.assertIn("training.batch_size: 2 against 3", done.stdout)

    def test_only_what_was_declared_may_differ(self):
        def run(smt, batch_size):
            def change(report):
                self.slower(1)(report)
                report["environment"]["hosts"][0]["smt"] = smt
                report["trials"][0]["spec"]["training"]["batch_size"] = batch_size
            return self.other(f"smt {smt}", change)
        base, new = run("on", 2), run("off", 3)
        done = self.succeed("compare", base, new, "--vary", "smt,training.batch_size")
        for text in ("1 trial same", "training.batch_size: 2 against 3", "Differs as declared: smt of "):
            self.assertIn(text, done.stdout)
        done = self.fail_with(7, "compare", "--vary", "smt", base, new, says="differ in training.batch_size, which")
        self.assertIn("training.batch_size: 2 against 3", done.stdout)
        done = self.fail_with(7, "compare", base, new, "--vary", "training", "--format", "json", says="differ in smt")
        host = self.report(base)["environment"]["host"]
        self.assertEqual(json.loads(done.stdout)["undeclared_differences"],
                         [{"key": "smt", "base": "on", "new": "off", "hosts": [host]}])
        self.fail_with(2, "compare", base, new, "--vary", "smt", "--vary", "training.batch_sise",
                       says="did you mean 'training.batch_size'?")

    def test_a_torn_report(self):
        torn = self.other("torn")
        (torn / "report.json").write_text((self.base / "report.json").read_text()[:5000])
        for sides in ((self.base, torn), (torn, self.base)):
            self.fail_with(3, "compare", *sides, says=["not a result of chexbench", str(torn)])

    def test_what_is_not_there(self):
        self.fail_with(3, "compare", self.base, self.folder / "nowhere", says=["nowhere", "No such file"])
        (self.folder / "bare").mkdir()
        self.fail_with(3, "compare", self.base, self.folder / "bare", says="report.json")

    def test_wrong_usage(self):
        self.fail_with(2, "compare", self.base)
        self.fail_with(2, "compare", self.base, self.base, "--threshold", 0)
        self.fail_with(2, "compare", self.base, self.base, "--threshold", "nan")
        self.fail_with(2, "compare", self.base, self.base, "--format", "html", says="format")

"""Each script prints its usage, and refuses unknown options, before it does anything."""

import os
import sys

from harness import ROOT, SystemTest, run_program

# A bundle's own scripts hand their arguments on.
FOLDERS = ("scripts", "scripts/container", "scripts/peers", "scripts/reframe", "scripts/slurm", ".ci", "tests/slurm")
SCRIPTS = sorted(path for folder in FOLDERS for path in (ROOT / folder).iterdir()
                 if path.is_file() and (os.access(path, os.X_OK) or path.name == "lint_rules.py"))
# Programs that pass options on: the program that they run reports a wrong one.
HAND_OPTIONS_ON = {"cluster"}


class Scripts(SystemTest):
    def call(self, script, argument):
        interpreter = [sys.executable, "-B"] if script.suffix == ".py" else []
        return run_program(*interpreter, script, argument, cwd=self.folder, timeout=30)

    def test_there_are_scripts(self):
        self.assertGreater(len(SCRIPTS), 12)

    def test_each_tells_its_usage_and_does_nothing_else(self):
        for script in SCRIPTS:
            with self.subTest(script=script.name):
                done = self.call(script, "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(script.name, done.stdout)
                self.assertEqual(os.listdir(self.folder), [])

    def test_each_refuses_an_unknown_option(self):
        for script in SCRIPTS:
            if script.name in HAND_OPTIONS_ON:
                continue
            with self.subTest(script=script.name):
                done = self.call(script, "--no-such-option")
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertNotEqual(done.stderr, "")
                self.assertEqual(os.listdir(self.folder), [])

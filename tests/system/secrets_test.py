"""The program's output and records for roots, overrides and endpoints with a password or a signature."""

import json
import os
import stat
import sys
from unittest import mock

import harness
import planted

SECRET = "hunter2"
# Inputs typed in place of a data set's URL. Some are right except for the secret, others have more errors.
ROOTS = (
    "http://me:hunter2@127.0.0.1:1/data",
    "http://me:hunter2@",
    "http://me:hunter2",
    "s3://me:hunter2@@bucket/data",
    "HtTpS://hunter2@127.0.0.1",
    "http:/me:hunter2@127.0.0.1/data",
    "http+x://me:hunter2@127.0.0.1/data",
    "http://me:a/hunter2@127.0.0.1/data",
    "http://me:a hunter2'@127.0.0.1/data",
    "http://me:hunter2%40127.0.0.1/data",
    "nfs://127.0.0.1:hunter2/export",
    "me:hunter2@127.0.0.1:80",
    "https://127.0.0.1:1/data?X-Amz-Signature=hunter2",
    "https://127.0.0.1:1/data?sig=hunter2&token=hunter2",
    "http://127.0.0.1:1/data#hunter2",
)


class Secrets(harness.SystemTest):
    def assert_untold(self, done):
        self.assertNotIn(SECRET, done.stdout + done.stderr)
        for path in self.folder.rglob("*"):
            self.assertNotIn(SECRET, path.name)
            if path.is_file():
                self.assertNotIn(SECRET.encode(), path.read_bytes(), path)

    def test_an_overridden_root_is_not_recorded(self):
        for number, root in enumerate(ROOTS):
            done = self.succeed("--config", self.spec(), "--set", f"data.root={root}",
                                "--set", f"data.root={harness.small_images()}", "--set", "measure.repeats=1",
                                "--output", self.folder / str(number))
            self.assert_untold(done)
            command_line = self.report(self.folder / str(number))["environment"]["command_line"]
            self.assertTrue(any("..." in argument for argument in command_line), command_line)

    def test_a_root_with_a_secret_is_refused_and_not_repeated(self):
        spec = self.spec()
        for root in ROOTS:
            for extra in (["--output", self.folder / "out"], ["--dry-run"], ["--dry-run", "--ranks", "2"]):
                done = harness.run("--config", spec, "--set", f"data.root={root}", "--set", "store.tries=1", *extra)
                self.assertIn(done.returncode, (0, 2, 3), done.stderr)
                if "://" in root:
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn("must hold no secret", done.stderr)
                self.assert_untold(done)

    def test_data_verbs_do_not_repeat_a_secret(self):
        for root in ROOTS:
            for verb in (["index", root], ["stage", root, self.folder / "copy"],
                         ["convert", root], ["check", root]):
                tries = ["--set", "store.tries=1"] if verb[0] == "index" else []
                done = harness.run("data", *verb, *tries, cwd=self.folder)
                self.assertIn(done.returncode, (2, 3), done.stderr)
                self.assertNotIn(SECRET, done.stdout + done.stderr)

    def test_an_endpoint_with_a_secret_is_refused_and_not_repeated(self):
        for root in ROOTS:
            done = self.fail_with(2 if "://" in root else 3, "--config", self.spec(),
                                  "--set", "data.root=s3://bucket/a", "--set", f"store.endpoint={root}",
                                  "--output", self.folder / "out")
            self.assert_untold(done)

    def test_a_wrong_override_is_quoted_without_its_secret(self):
        for root in ROOTS:
            for key in ("data.rot", "data", "measure.steps", "sweep.data.root", ""):
                done = harness.run("--config", self.spec(), "--set", f"{key}={root}", "--output", self.folder / "out")
                self.assertIn(done.returncode, (2, 3), done.stderr)
                self.assert_untold(done)


class PlantedSecrets(harness.SystemTest):
    """The search of every system test finds planted secrets."""

    def test_the_environment_of_every_process_holds_them(self):
        for name, value in planted.ENVIRONMENT.items():
            self.assertEqual(os.environ[name], value)
            self.assertEqual(len(planted.secrets_in(value)), 0 if value == "PLANTED" else 1)

    def test_each_form_is_found_in_files_and_in_their_names(self):
        password = planted.PASSWORDS["key"]
        for form in planted.forms(password):
            path = self.folder / "deep" / "file"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(b"\0 " + form.encode() + b"\xff")
            self.assertTrue(planted.files_with_secrets(self.folder), form)
            with self.assertRaises(self.failureException):
                self.check_no_secret_is_written(self.folder)
            path.unlink()
        self.assertEqual(planted.secrets_in(json.dumps({"key": password})), [password])
        self.assertEqual(planted.files_with_secrets(self.folder), [])

    def test_a_program_that_prints_one_fails_its_test(self):
        for stream in ("stdout", "stderr"):
            program = self.folder / "teller"
            program.write_text(f"#!{sys.executable}\nimport os, sys\n"
                               f"print(os.environ['AWS_SESSION_TOKEN'], file=sys.{stream})\n")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            with mock.patch.object(harness, "BINARY", program), self.assertRaisesRegex(AssertionError, "prints"):
                harness.run()

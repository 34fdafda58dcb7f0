"""An installation works on its own, away from the build tree."""

import os

from harness import SystemTest, run_program


class Install(SystemTest):
    def setUp(self):
        super().setUp()
        self.prefix = self.folder / "prefix"
        self.ends_with(0, "cmake", "--install", os.environ["CHEXBENCH_BUILD"], "--prefix", self.prefix)

    def run_installed(self, *arguments):
        return run_program(self.prefix / "bin/chexbench", *arguments, cwd=self.folder)

    def test_it_holds_the_binary_and_the_configs_and_no_libraries_for_building(self):
        files = {str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if path.is_file()}
        self.assertIn("bin/chexbench", files)
        self.assertIn("share/chexbench/configs/experiments/naive-vs-optimized.json", files)
        self.assertFalse([name for name in files if name.endswith((".a", ".hpp"))])

    def test_shells_and_man_find_what_the_installed_binary_prints(self):
        for place, verb in (("bash-completion/completions/chexbench", ("completion", "bash")),
                            ("zsh/site-functions/_chexbench", ("completion", "zsh")),
                            ("fish/vendor_completions.d/chexbench.fish", ("completion", "fish")),
                            ("man/man1/chexbench.1", ("man-page",))):
            done = self.run_installed(*verb)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((self.prefix / "share" / place).read_text(), done.stdout)

    def test_the_installed_binary_runs_an_experiment(self):
        done = self.run_installed("--config", self.spec(), "--output", self.folder / "out")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_installed_binary_finds_its_plugins(self):
        done = self.run_installed("--config", self.spec(data__decoder="opencv"), "--output", self.folder / "out")
        if "opencv" in (done.stderr if done.returncode else ""):
            self.assertFalse(list(self.prefix.glob("lib/chexbench/*opencv*")), done.stderr)
            self.skipTest("built without OpenCV")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_installed_binary_looks_for_mpi_beside_itself(self):
        (self.prefix / "lib/libmpi.so.12").touch()  # as PyPI's mpich does in a Python environment
        for name in ("libmpich", "libmpi_cray"):
            (self.folder / f"{name}.so.12").touch()
        done = run_program(self.prefix / "bin/chexbench", "doctor",
                           env={**os.environ, "PMI_RANK": "0", "PMI_SIZE": "2", "LD_LIBRARY_PATH": str(self.folder)})
        if "Open MPI" in done.stderr or "has no MPI" in done.stderr:
            self.skipTest("built without an MPI that is loaded")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("/lib/libmpi.so.12: file too short", done.stderr)

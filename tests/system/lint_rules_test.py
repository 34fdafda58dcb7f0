"""The project's own lint finds what it is there to find."""

import subprocess
import sys
import unittest

from harness import ROOT, SystemTest

LINK_LINES = "```\napps     -> bench\nbench    -> pipeline, data\npipeline -> data\n```\n"


class LintRules(SystemTest):
    def lint(self, **files):
        """Runs the rules over a small repository with these files ("a/b.cpp" as a__b_cpp)."""
        for room in ("core", "spec", "data", "pipeline", "bench"):
            (self.folder / "lib" / room).mkdir(parents=True, exist_ok=True)
            (self.folder / "lib" / room / "x.hpp").write_text("#pragma once\n")
        (self.folder / "lib/README.md").write_text(LINK_LINES)
        for name, text in files.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        subprocess.run(["git", "init", "--quiet"], cwd=self.folder, check=True)
        return subprocess.run([sys.executable, "-B", str(ROOT / "scripts/lint_rules.py")], cwd=self.folder,
                              capture_output=True, text=True)

    def test_includes_along_the_link_lines_pass(self):
        done = self.lint(lib__bench__a_cpp='#include "pipeline/x.hpp"\n#include "core/x.hpp"\n')
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_an_include_against_the_link_lines_is_found(self):
        done = self.lint(lib__data__a_cpp='#include "core/x.hpp"\n#include "pipeline/x.hpp"\n')
        self.assertEqual(done.returncode, 1)
        self.assertIn("lib/data/a.cpp:2:", done.stdout)

    def test_a_third_party_header_outside_its_folder_is_found(self):
        done = self.lint(lib__bench__a_cpp="#include <mpi.h>\n")
        self.assertIn("lib/bench/a.cpp:1: mpi.h", done.stdout)

    def test_a_private_header_that_is_used_elsewhere_is_found(self):
        done = self.lint(lib__data__b_hpp="#include <opencv2/core.hpp>\n", lib__data__b_cpp='#include "data/b.hpp"\n',
                         lib__bench__a_cpp='#include "data/b.hpp"\n')
        self.assertEqual(done.stdout, "lib/bench/a.cpp:1: data/b.hpp belongs to lib/data\n")

    def test_marks_conditional_compilation_and_dead_links_are_found(self):
        done = self.lint(lib__core__a_cpp="// TO" + "DO: later\n#ifdef X\n#endif\n", GUIDE_md="[gone](nowhere.md)\n")
        self.assertIn("lib/core/a.cpp:1:", done.stdout)
        self.assertIn("lib/core/a.cpp:2:", done.stdout)
        self.assertIn("GUIDE.md:1:", done.stdout)


if __name__ == "__main__":
    unittest.main()

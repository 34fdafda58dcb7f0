"""The project's own lint finds breaches of its rules."""

import sys

from harness import ROOT, SystemTest, run_program

LINK_LINES = "```\napps     -> bench\nbench    -> pipeline, data\npipeline -> data\n```\n"


class LintRules(SystemTest):
    def lint(self, **files):
        """Runs the rules over a small repository with these files ("a/b.cpp" as a__b_cpp)."""
        for room in ("core", "spec", "data", "pipeline", "bench"):
            (self.folder / "lib" / room).mkdir(parents=True, exist_ok=True)
            (self.folder / "lib" / room / "x.hpp").write_text("#pragma once\n")
        files = {"lib__README_md": LINK_LINES, **files}
        for name, text in files.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.ends_with(0, "git", "init", "--quiet", cwd=self.folder)
        return run_program(sys.executable, "-B", ROOT / "scripts/lint_rules.py", cwd=self.folder)

    def test_includes_along_the_link_lines_pass(self):
        done = self.lint(lib__bench__a_cpp='#include "pipeline/x.hpp"\n#include "core/x.hpp"\n')
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_an_include_against_the_link_lines_is_found(self):
        done = self.lint(lib__data__a_cpp='#include "core/x.hpp"\n#include "pipeline/x.hpp"\n')
        self.assertEqual(done.returncode, 1)
        self.assertIn("lib/data/a.cpp:2:", done.stdout)

    def test_inner_rooms_of_one_room_need_a_link_line(self):
        files = {"lib__data__s3__x_hpp": "#pragma once\n", "lib__data__http__x_hpp": "#pragma once\n",
                 "lib__README_md": LINK_LINES.replace("data\n```", "data\ndata/s3  -> data/http\n```"),
                 "lib__data__s3__a_cpp": '#include "core/x.hpp"\n#include "data/http/x.hpp"\n#include "data/x.hpp"\n',
                 "lib__data__a_cpp": '#include "data/s3/x.hpp"\n'}
        self.assertEqual(self.lint(**files).stdout, "")
        files["lib__data__http__a_cpp"] = '#include "data/s3/x.hpp"\n'
        self.assertIn("lib/data/http/a.cpp:1: data/http may not include data/s3/x.hpp", self.lint(**files).stdout)

    def test_an_inner_room_may_use_what_its_outer_room_may_use(self):
        done = self.lint(lib__pipeline__ops__a_cpp='#include "data/x.hpp"\n#include "bench/x.hpp"\n')
        self.assertEqual(done.stdout.count("may not include"), 1)
        self.assertIn("lib/pipeline/ops/a.cpp:2: pipeline/ops may not include bench/x.hpp", done.stdout)

    def test_a_link_line_of_a_room_that_does_not_exist_is_found(self):
        done = self.lint(lib__README_md=LINK_LINES + "data -> core\nbench -> nowhere\n")
        self.assertIn("names nowhere, which is no folder of lib", done.stdout)

    def test_a_table_of_tests_names_those_that_exist(self):
        table = "| limit | test |\n|---|---|\n| 1 | `One`, `Two` |\n\n| 2 | `Three` |\n"
        done = self.lint(A_md=table, tests__a_cpp="TEST(Suite, Two)\n")
        self.assertEqual(done.stdout, "A.md:3: One is not in tests\n")

    def test_an_op_is_not_known_by_its_name(self):
        done = self.lint(lib__bench__a_cpp='if (op.op == "map") x();\nfind(ops, "map", &spec::OpSpec::op);\n'
                                           'if (op.rule().decodes() && other.op == op.op) loop = "map";\n')
        self.assertEqual(done.returncode, 1)
        self.assertEqual([line.split(":")[1] for line in done.stdout.splitlines()], ["1", "2"], done.stdout)

    def test_pip_may_fetch_nothing_without_hashes(self):
        done = self.lint(scripts__a='python3 -m pip --quiet \\\n  install x\n"$venv/bin/pip" install y\n'
                                    'pip download z\npython3 -m pip --version\npip install \\\n'
                                    '  --require-hashes -r x\npip install FILE.whl\n')
        self.assertEqual(done.returncode, 1)
        self.assertEqual([line.split(":")[1] for line in done.stdout.splitlines()], ["1", "3", "4"], done.stdout)

    def test_helpers_that_clash_in_a_unity_build_are_named(self):
        helper = "namespace a {\nnamespace {\nint twice(int value, long = 0) { return value; }\n"
        helper += "}  // namespace\n}  // namespace a\n"
        other = helper.replace("int value", "int of")
        done = self.lint(lib__data__CMakeLists_txt="", lib__data__a_cpp=helper, lib__data__b_cpp=other,
                         lib__data__c_cpp=helper.replace("int value", "double value"), lib__core__a_cpp=helper)
        self.assertEqual(done.stdout, "lib/data/b.cpp:3: a::twice(int, long) is in lib/data/a.cpp, too: "
                         "share it in a header or give it another name\n")

    def test_long_lines_are_named_but_for_what_cannot_be_broken(self):
        word, words = "x" * 120, "xx " * 40
        done = self.lint(
            GUIDE_md=f"{words}\n{word}\n| {words} |\n```\n{words}\n```\n[text]({word})\n", a_py=f"# {words}\n"
        )
        self.assertIn("GUIDE.md:1: 120 columns, more than 100", done.stdout)
        self.assertIn("a.py:1: 122 columns, more than 120", done.stdout)
        self.assertEqual(done.stdout.count("columns, more than"), 2)

    def test_a_third_party_header_outside_its_folder_is_found(self):
        done = self.lint(lib__bench__a_cpp="#include <mpi.h>\n")
        self.assertIn("lib/bench/a.cpp:1: mpi.h", done.stdout)

    def test_a_private_header_that_is_used_elsewhere_is_found(self):
        done = self.lint(lib__core__b_hpp="#include <spdlog/spdlog.h>\n", lib__core__b_cpp='#include "core/b.hpp"\n',
                         lib__bench__a_cpp='#include "core/b.hpp"\n')
        self.assertEqual(done.stdout, "lib/bench/a.cpp:1: core/b.hpp belongs to lib/core\n")

    def test_a_header_reaches_the_standard_headers_that_it_needs(self):
        files = {"lib__data__x_hpp": "#include <vector>\n",
                 "lib__data__a_hpp": '#include "data/x.hpp"\nstd::vector<int> a();  // std::map\nstd::span<int> b();\n'}
        done = self.lint(**files)
        self.assertEqual(done.stdout, "lib/data/a.hpp:3: std::span needs <span>\n")

    def test_marks_conditional_compilation_and_dead_links_are_found(self):
        done = self.lint(lib__core__a_cpp="// TO" + "DO: later\n#ifdef X\n#endif\n", GUIDE_md="[gone](nowhere.md)\n")
        self.assertIn("lib/core/a.cpp:1:", done.stdout)
        self.assertIn("lib/core/a.cpp:2:", done.stdout)
        self.assertIn("GUIDE.md:1:", done.stdout)

    def test_documents_and_comments_use_plain_words(self):
        done = self.lint(GUIDE_md="Rates beside rates, `in turn`.\n",
                         lib__core__a_cpp="// Whoever waits\nint in_turn;\n")
        self.assertEqual(done.stdout.splitlines(), ["GUIDE.md:1: 'beside': say next to, with, against",
                                                    "lib/core/a.cpp:1: 'Whoever': say the one that"])

    def test_each_pattern_finds_its_words_and_no_others(self):
        bad = ("of their own", "lived off", "it tells of", "can be had", "it has it that", "at the least", "thereof",
               "insofar", "is taken for two", "it differs much", "may be their doing", "the page says so",
               "and its like", "it reckons with")
        good = ("instead", "its own file", "turn", "they lived", "at least", "time taken for a step", "wherever",
                "nothing to do", "differs", "`anew`", "a pageant says", "marshalled")
        done = self.lint(GUIDE_md="\n".join((*bad, *good)) + "\n", configs__a_json='// shall\n{"anew": "shall"}\n')
        self.assertEqual([line.rsplit(":", 2)[0] for line in done.stdout.splitlines()],
                         [*(f"GUIDE.md:{number}" for number in range(1, len(bad) + 1)), "configs/a.json:1"])

"""scripts/spack/package.py, run with a stand-in of Spack: its options match CMake's, and its versions ours."""

import contextlib
import re
import sys
import types
from unittest import mock

from harness import ROOT, SystemTest

RECIPE = ROOT / "scripts/spack/package.py"
DEPENDENCIES = (ROOT / "scripts/cmake/ChexbenchDependencies.cmake").read_text()
OF_TESTS = ("rapidcheck", "libpng", "libspng", "blend2d")  # which are searched for only with CHEXBENCH_TESTS
OPTIONS = set(re.findall(r"^ *option\((CHEXBENCH_WITH_\w+) ", DEPENDENCIES, re.MULTILINE)) - {"CHEXBENCH_WITH_"}
OPTIONS |= {f"CHEXBENCH_WITH_{name}" for name in
            re.findall(r"chexbench_(?:find_plain|wrap)\((\w+) ", DEPENDENCIES)
            if name not in ("target", *OF_TESTS)}


class Spec:
    """Spack's spec of a build: which variants are on."""

    def __init__(self, on):
        self.on = on
        self.variants = {"cuda_arch": types.SimpleNamespace(value=("80", "90"))}

    def __contains__(self, text):
        return text[1:] in self.on if text[0] == "+" else text[1:] not in self.on


class Base:
    def define(self, name, value):
        return f"-D{name}={value}"

    def define_from_variant(self, name, variant):
        assert variant in Base.variants, variant
        return self.define(name, f"+{variant}" in self.spec)


def load():
    """The recipe's class, and the calls of Spack's directives that it makes."""
    calls = []

    def directive(name):
        def record(*arguments, **options):
            calls.append((name, arguments, options))
            return contextlib.nullcontext()
        return record
    names = ("license", "version", "variant", "depends_on", "conflicts", "when")
    modules = {"spack.package": types.SimpleNamespace(**{name: directive(name) for name in names})}
    for name, classes in (("cmake", "CMakePackage"), ("cuda", "CudaPackage")):
        modules[f"spack_repo.builtin.build_systems.{name}"] = types.SimpleNamespace(**{classes: type(classes, (), {})})
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        modules[name] = types.ModuleType(name)
    modules["spack_repo.builtin.build_systems.cmake"].CMakePackage = Base
    modules["spack_repo.builtin.build_systems.cmake"].generator = directive("generator")
    scope = {}
    with mock.patch.dict(sys.modules, modules):
        exec(compile(RECIPE.read_text(), RECIPE, "exec"), scope)
    Base.variants = {arguments[0] for name, arguments, _ in calls if name == "variant"} | {"cuda"}
    return scope["Chexbench"], calls


class Recipe(SystemTest):
    def setUp(self):
        super().setUp()
        self.package, self.calls = load()

    def arguments(self, *on):
        package = self.package()
        package.spec = Spec(on)
        return dict(argument[2:].split("=", 1) for argument in package.cmake_args())

    def directives(self, name):
        return [(arguments, options) for called, arguments, options in self.calls if called == name]

    def test_its_options_are_those_of_cmake(self):
        given = {name for name in self.arguments() if name.startswith("CHEXBENCH_WITH_")}
        self.assertGreater(len(OPTIONS), 12)
        self.assertEqual(given, OPTIONS - {"CHEXBENCH_WITH_chartjs"})  # none of which Spack's environment hides
        self.assertIn("option(CHEXBENCH_TESTS ", (ROOT / "scripts/cmake/ChexbenchBuild.cmake").read_text())

    def test_a_variant_turns_its_package_on(self):
        for variant, options in (("mpi", ["mpi"]), ("onednn", ["dnnl"]), ("opencv", ["opencv"]), ("jpeg", ["jpeg"]),
                                 ("dicom", ["dcmtk"]),
                                 ("isal", ["isal"]), ("nfs", ["nfs"]),
                                 ("http", ["curl", "crypto", "pugi"]),
                                 ("cuda", ["cudnn", "nvml"]), ("nccl", ["nccl"])):
            with self.subTest(variant=variant):
                on = {name for name, value in self.arguments(variant).items()
                      if value == "True" and name.startswith("CHEXBENCH_")}
                self.assertEqual(on, {f"CHEXBENCH_WITH_{option}" for option in options})
                self.assertIn(variant, Base.variants)
                needed = [options.get("when", "") for _, options in self.directives("depends_on")]
                needed += [arguments[0] for arguments, _ in self.directives("when")]
                self.assertIn(f"+{variant}", needed)

    def test_gpus_are_those_of_cuda_arch(self):
        self.assertEqual(self.arguments("cuda")["CMAKE_CUDA_ARCHITECTURES"], "80-real;90-real")
        self.assertNotIn("CMAKE_CUDA_ARCHITECTURES", self.arguments())

    def test_versions_are_those_of_cmake(self):
        cmake = (ROOT / "CMakeLists.txt").read_text()
        versions = [arguments[0] for arguments, _ in self.directives("version")]
        self.assertEqual(versions, re.findall(r"project\(chexbench VERSION (\S+) ", cmake))
        needed = [arguments[0] for arguments, _ in self.directives("depends_on")]
        self.assertIn(f"cmake@{re.search(r'VERSION (3[.0-9]+)', cmake)[1]}:", needed)

    def test_the_readme_puts_the_clone_into_the_recipe(self):
        readme = (ROOT / "scripts/spack/README.md").read_text()
        command = re.search(r"^sed .*package\.py", readme, re.MULTILINE)[0]
        made = self.ends_with(0, "sh", "-c", command, cwd=ROOT).stdout
        self.assertIn(f'git = "file://{ROOT}"\n', made)

    def test_required_packages_are_required(self):
        always = {re.match(r"[\w-]+", arguments[0])[0] for arguments, options in self.directives("depends_on")
                  if "when" not in options}
        required = re.findall(r"find_package\((\w+) REQUIRED\)", DEPENDENCIES)
        spack = {"Threads": "cxx", "fmt": "fmt", "spdlog": "spdlog", "nlohmann_json": "nlohmann-json",
                 "CLI11": "cli11", "ZLIB": "zlib-api"}
        self.assertEqual(sorted(required), sorted(spack))
        self.assertLessEqual(set(spack.values()), always)

"""scripts/container: everything that its recipes copy, install and call exists, and its scripts report what is missing.

scripts/container/check builds and runs the image itself.
"""

import os
import re
import shutil
import unittest

from harness import BINARY, ROOT, SystemTest, run_program, write_program

CONTAINER = ROOT / "scripts/container"
RECIPES = [CONTAINER / "Containerfile", CONTAINER / "chexbench.def"]
SETUP_GROUP = re.compile(r"^    (\w+)\) wanted\+=", re.MULTILINE)


class Recipes(SystemTest):
    def test_what_is_copied_from_the_repository_exists(self):
        for line in RECIPES[0].read_text().splitlines():
            if line.startswith("COPY ") and "--from" not in line:
                for source in line.split()[1:-1]:
                    self.assertTrue((ROOT / source).exists(), line)
        for path in re.findall(r"scripts/[\w./-]*\w", "".join(recipe.read_text() for recipe in RECIPES)):
            self.assertTrue((ROOT / path).exists() or path == "scripts/setup", path)

    def test_what_is_left_out_is_no_source(self):
        tracked = run_program("git", "ls-files", cwd=ROOT).stdout.splitlines()
        needed = ("lib/", "apps/", "configs/", "scripts/", "CMake", "LICENSE", "README.md")
        left_out = [line for line in (CONTAINER / "Containerfile.dockerignore").read_text().splitlines()
                    if not line.startswith("#")]
        for pattern in left_out:
            hidden = [name for name in tracked if name.startswith((f"{pattern}/", pattern)) and name.startswith(needed)]
            self.assertEqual(hidden, [], pattern)

    def test_packages_are_named_in_setup_alone(self):
        groups = SETUP_GROUP.findall((ROOT / "scripts/setup").read_text())
        for recipe in RECIPES:
            text = recipe.read_text()
            calls = re.findall(r"scripts/setup ((?:--cuda|\w+)(?: \w+)*)$", text.replace(" \\\n", "\n"), re.MULTILINE)
            self.assertEqual(len(calls), 2, recipe)
            for group in " ".join(calls).split():
                self.assertIn(group, [*groups, "--cuda"], recipe)
            installing = [line for line in text.splitlines() if "apt-get install" in line]
            self.assertEqual([line for line in installing if "xargs" not in line], [])

    def test_both_recipes_build_alike(self):
        def commands(text):
            joined = text.replace("\\\n", " ")
            parts = [part.strip() for part in re.split(r"\n|&& |RUN ", joined)]
            return [" ".join(part.split()) for part in parts
                    if part.startswith(("cmake ", "DESTDIR=", "scripts/", "/opt/setup", "xargs"))]
        ours, theirs = (commands(recipe.read_text().replace("/tmp/packages", "/installed/packages"))
                        for recipe in RECIPES)
        self.assertEqual(len(ours), 7, ours)
        self.assertEqual(ours, theirs)

    def test_options_of_cmake_exist(self):
        cmake = "".join(path.read_text() for path in (ROOT / "scripts/cmake").glob("*.cmake"))
        for option in re.findall(r"-D(CHEXBENCH_\w+)=", "".join(recipe.read_text() for recipe in RECIPES)):
            self.assertIn(f"option({option} ", cmake)


class Entrypoint(SystemTest):
    def call(self, *arguments, known=(), **environment):
        write_program(self.folder / "getent", '#!/bin/sh\necho "$2" >> "$0.log"\n'
                      f'case " {" ".join(known)} " in *" $2 "*) ;; *) exit 2 ;; esac\n')
        return run_program(CONTAINER / "entrypoint", *arguments, timeout=30,
                           env={"PATH": f"{self.folder}:{os.environ['PATH']}", **environment})

    def launch(self, known, wait_s="1"):
        hosts = self.folder / "hostfile"
        hosts.write_text("chexbench-worker-0.ns.svc:2\nchexbench-worker-1.ns.svc:2\n")
        return self.call("echo", "started", known=known, K_MPI_JOB_ROLE="launcher", HYDRA_HOST_FILE=str(hosts),
                         CHEXBENCH_HOSTS_S=wait_s)

    def test_it_runs_the_command(self):
        done = self.call("echo", "started")
        self.assertEqual((done.returncode, done.stdout), (0, "started\n"), done.stderr)
        self.assertFalse((self.folder / "getent.log").exists())

    def test_a_launcher_waits_for_the_names_of_its_workers(self):
        done = self.launch(["chexbench-worker-0.ns.svc", "chexbench-worker-1.ns.svc"])
        self.assertEqual((done.returncode, done.stdout), (0, "started\n"), done.stderr)

    def test_a_worker_without_a_name_is_named(self):
        done = self.launch(["chexbench-worker-0.ns.svc"])
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("chexbench-worker-1.ns.svc", done.stderr)

    def test_a_launcher_without_hosts_says_so(self):
        done = self.call("echo", "started", K_MPI_JOB_ROLE="launcher", HYDRA_HOST_FILE=str(self.folder / "none"))
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn(f"no {self.folder}/none", done.stderr)

    def test_an_option_is_no_command(self):
        done = self.call("--config")
        self.assertEqual(done.returncode, 2)
        self.assertIn("chexbench doctor", done.stderr)


class Check(SystemTest):
    """scripts/container/check with scripts in place of podman and buildah, one of them at a time."""

    def call(self, program, user, *arguments):
        bin_folder = self.folder / program
        bin_folder.mkdir()
        for name in ("bash", "sed", "dirname", "sh"):
            (bin_folder / name).symlink_to(shutil.which(name))
        if program != "none":
            write_program(bin_folder / program, f'#!/bin/sh\necho "$*" >> "{self.folder}/asked"\n'
                          f'case $1 in run) echo {user}; echo 0.1.0 ;; from) echo working-container ;; esac\n')
        return run_program(CONTAINER / "check", *arguments, timeout=30, env={"PATH": str(bin_folder)})

    def asked(self):
        return (self.folder / "asked").read_text()

    def test_podman_builds_runs_and_removes_the_image(self):
        done = self.call("podman", 1000, "localhost/debian:12")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--build-arg BASE=localhost/debian:12 .\n", self.asked())
        self.assertIn(f"run --rm --volume {ROOT}/tests/data/nih:/data:ro chexbench-check sh -c id --user", self.asked())
        self.assertTrue(self.asked().endswith("\nrmi chexbench-check\n"), self.asked())

    def test_buildah_removes_its_own_container_alone(self):
        self.assertEqual(self.call("buildah", 1000).returncode, 0)
        self.assertTrue(self.asked().endswith("\nrm working-container\nrmi chexbench-check\n"), self.asked())

    def test_root_is_told(self):
        done = self.call("podman", 0)
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not run as user 1000", done.stderr)

    def test_a_machine_without_either_is_told_what_to_install(self):
        done = self.call("none", 1000)
        self.assertEqual(done.returncode, 1)
        self.assertIn("apt-get install buildah", done.stderr)


@unittest.skipUnless(os.path.exists("/usr/bin/dpkg-query"), "no Debian")
class Packages(SystemTest):
    def call(self, *arguments):
        return run_program(CONTAINER / "packages-of", *arguments)

    def test_it_prints_the_packages_of_the_linked_libraries(self):
        (self.folder / "bin").mkdir()
        (self.folder / "bin/chexbench").symlink_to(BINARY)
        done = self.call(self.folder)
        self.assertEqual(done.returncode, 1, "links are no programs")
        (self.folder / "bin/chexbench").unlink()
        (self.folder / "bin/chexbench").write_bytes(BINARY.read_bytes())
        done = self.call(self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        packages = done.stdout.split()
        self.assertEqual(packages, sorted(set(packages)))
        for library in ("libc6", "libfmt9", "libstdc++6", "zlib1g"):
            self.assertIn(library, packages)
        self.assertFalse([name for name in packages if name.endswith("-dev")])

    def test_a_missing_folder_is_told(self):
        self.assertEqual(self.call(self.folder / "none").returncode, 2)
        self.assertEqual(self.call().returncode, 2)

"""chexbench doctor, on this machine as it is and with stand-ins of NVIDIA's libraries."""

import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path

from harness import BINARY, SystemTest, run, run_program, write_program

STANDINS = Path(os.environ["CHEXBENCH_BUILD"]) / "tests/measure"
NVML = STANDINS / "nvml_standin.so"  # not built without nvml.h
# Every name that is searched for, so that no library of this machine is found.
FILES = ("libcuda.so.1", "libcudart.so.13", "libcudart.so.12", "libcublasLt.so.13", "libcublasLt.so.12",
         "libcudnn.so.9", "libcudnn.so.8", "libnccl.so.2")
VERSIONS = {"cuDriverGetVersion": "13000", "cudaRuntimeGetVersion": "13000", "cublasLtGetVersion": "130100",
            "cudnnGetVersion": "91900", "ncclGetVersion": "22809"}


class WithoutADriver(SystemTest):
    environment = {**os.environ, "CHEXBENCH_NVML_LIBRARY": "/nowhere/libnvidia-ml.so.1"}

    def test_it_tells_of_the_machine_and_the_build(self):
        told = json.loads(run("doctor", "--format", "json", env=self.environment).stdout)
        self.assertGreaterEqual(told["machine"]["cores"], 1)
        self.assertLessEqual({"MPI", "oneDNN", "OpenCV", "ISA-L"}, set(told["build"]))
        self.assertFalse(told["driver"]["answers"])
        self.assertEqual(told["gpus"], [])
        self.assertEqual({library["name"] for library in told["libraries"]},
                         {"CUDA driver", "CUDA runtime", "cuBLASLt", "cuDNN", "NCCL"})

    def test_it_fails_only_where_a_gpu_is_on_the_bus(self):
        done = run("doctor", "--format", "json", env=self.environment)
        told = json.loads(done.stdout)
        self.assertEqual(done.returncode, 4 if told["pci_bus_ids"] and told["misfits"] else 0, done.stderr)

    def test_the_table_says_why_no_driver_answers(self):
        done = run("doctor", "--explain", env=self.environment)
        self.assertIn("driver", done.stdout)
        self.assertIn("nvml.h" if not NVML.exists() else "/nowhere/libnvidia-ml.so.1", done.stdout)

    def test_it_tells_of_this_process_s_surroundings_and_warns_without_failing(self):
        done = run("doctor", "--format", "json", env={**self.environment, "OMP_WAIT_POLICY": "active"})
        told = json.loads(done.stdout)
        self.assertGreaterEqual(told["cpu"]["hardware_threads"], 1)
        self.assertGreater(told["memory"]["total_bytes"], 0)
        self.assertEqual(len(told["ranks"]), 1)
        self.assertEqual(told["ranks"][0]["cores_per_rank"], told["machine"]["cores"])
        self.assertIsNone(told["data"])
        self.assertTrue([text for text in told["warnings"] if "OMP_WAIT_POLICY=active" in text], told["warnings"])
        self.assertEqual(done.returncode, 4 if told["pci_bus_ids"] and told["misfits"] else 0, done.stderr)

    def test_it_looks_at_the_data_that_it_is_given(self):
        root = self.small_images()
        told = json.loads(run("doctor", "--format", "json", "--data", root, env=self.environment).stdout)
        self.assertEqual(told["data"]["page_cache"], "warm")  # just written
        self.assertIn(told["data"]["kind"], ("local", "overlay", "memory", "fuse", "network"))
        self.assertGreater(told["data"]["sampled_files"], 10)
        self.fail_with(3, "doctor", "--data", self.folder / "nothing", says="no such folder")

    def test_an_unknown_format_is_a_usage_error(self):
        self.fail_with(2, "doctor", "--format", "csv", says="--format")


NAMESPACES = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"])]
# In a separate mount namespace, the kernel's table of mounts can be another file.
INSIDE = 'mount --bind "$MOUNTS" /proc/$$/mountinfo && exec "$@"'


def can_fake_mounts():
    with tempfile.NamedTemporaryFile() as mounts:
        return run_program(*NAMESPACES, "sh", "-c", INSIDE, "sh", "true",
                           env={**os.environ, "MOUNTS": mounts.name}).returncode == 0


@unittest.skipUnless(can_fake_mounts(), "there are no mount namespaces here")
class OnAParallelFileSystem(SystemTest):
    def ask(self, mount, *options, **tools):
        """doctor over this folder, which is all on `mount`, with scripts as the file system's tools."""
        done = self.run_on(mount, "doctor", "--data", self.folder, *options, **tools)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        return done.stdout

    def run_on(self, mount, *arguments, **tools):
        (self.folder / "mounts").write_text(f"1 1 0:1 / / rw - {mount} rw\n")
        for name, script in tools.items():
            write_program(self.folder / "bin" / name, f"#!/bin/sh\n{script}\n")
        return run_program(*NAMESPACES, "sh", "-c", INSIDE, "sh", BINARY, *arguments,
                           env={**WithoutADriver.environment, "MOUNTS": str(self.folder / "mounts"),
                                "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"})

    def test_it_names_lustre_s_striping(self):
        tools = {"lfs": 'echo "stripe_count:  4 stripe_size:   1048576 pattern: raid0 stripe_offset: -1"'}
        told = json.loads(self.ask("lustre mgs@tcp:/scratch", "--format", "json", **tools))["data"]
        self.assertEqual((told["kind"], told["file_system"], told["source"]), ("network", "lustre", "mgs@tcp:/scratch"))
        self.assertEqual(told["striping"], {"system": "Lustre", "tool": "lfs getstripe", "problem": "",
                                            "stripes": [{"targets": 4, "chunk_bytes": 1048576}]})
        self.assertIn("Lustre spreads a new file of that folder: 1024 KiB on each of 4 targets, round-robin "
                      "(lfs getstripe)\n", self.ask("lustre mgs@tcp:/scratch"))

    def test_a_run_records_what_doctor_finds(self):
        done = self.run_on("lustre mgs@tcp:/scratch", "--config", self.spec(), "--output", self.folder / "out",
                           lfs='echo "stripe_count:  4 stripe_size:   1048576"')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.report(self.folder / "out")["environment"]["hosts"][0]["striping"],
                         [{"system": "Lustre", "tool": "lfs getstripe", "problem": "",
                           "stripes": [{"targets": 4, "chunk_bytes": 1048576}]}])

    def test_it_names_what_gpfs_and_beegfs_tell(self):
        self.assertIn("GPFS spreads a new file of that folder: blocks of 8192 KiB over all disks (mmlsfs)\n",
                      self.ask("gpfs /dev/fs1", mmlsfs='[ "$*" = "fs1 -B" ] && echo " -B 8388608 Block size"'))
        self.assertIn("BeeGFS: how it spreads files is unknown: beegfs-ctl is not on PATH",
                      self.ask("beegfs beegfs_nodev"))

    def test_it_tells_of_a_tool_that_hangs(self):
        self.assertIn("Lustre: how it spreads files is unknown: lfs does not answer within 5 s\n",
                      self.ask("lustre mgs@tcp:/scratch", lfs="sleep 600"))


@unittest.skipUnless(NVML.exists(), "built without nvml.h")
class WithStandIns(SystemTest):
    def doctor(self, code, script="gpus 2", **versions):
        """doctor's JSON for a machine whose driver follows `script`."""
        libraries = self.folder / "libraries"
        libraries.mkdir()
        for file in FILES:
            shutil.copy(STANDINS / "gpu_libraries_standin.so", libraries / file)
        (self.folder / "script").write_text(script)
        self.environment = {
            **os.environ, **VERSIONS, **versions, "LD_LIBRARY_PATH": str(libraries),
            "CHEXBENCH_NVML_LIBRARY": str(NVML), "CHEXBENCH_NVML_STANDIN": str(self.folder / "script")}
        self.done = run("doctor", "--format", "json", env=self.environment)
        self.assertEqual(self.done.returncode, code, self.done.stdout + self.done.stderr)
        return json.loads(self.done.stdout)

    def test_gpus_and_libraries_that_fit(self):
        told = self.doctor(0)
        self.assertEqual(told["driver"], {"answers": True, "problem": "", "version": "580.65.06",
                                          "cuda_version": "13.0"})
        self.assertEqual([gpu["uuid"] for gpu in told["gpus"]], ["GPU-standin-0", "GPU-standin-1"])
        self.assertEqual([gpu["pci_bus_id"] for gpu in told["gpus"]], ["0000:07:00.0", "0000:17:00.0"])
        self.assertEqual(told["gpus"][0]["memory_bytes"], 80 << 30)
        self.assertEqual({library["name"]: library["version"] for library in told["libraries"]},
                         {"CUDA driver": "13.0", "CUDA runtime": "13.0", "cuBLASLt": "13.1.0", "cuDNN": "9.19.0",
                          "NCCL": "2.28.9"})
        for library in told["libraries"]:
            self.assertEqual(Path(library["path"]).parent, self.folder / "libraries")
        self.assertEqual(told["misfits"], [])

    def test_a_driver_too_old_for_the_runtime(self):
        told = self.doctor(4, cuDriverGetVersion="12080")
        self.assertIn("serves CUDA 12.8 at most", told["misfits"][0])
        self.assertIn("1 conflict between", self.done.stderr)

    def test_libraries_of_other_major_versions(self):
        told = self.doctor(4, cudnnGetVersion="8907", ncclGetVersion="30000")
        self.assertEqual(len(told["misfits"]), 2)
        self.assertIn("cuDNN is 8.9.7", told["misfits"][0])
        self.assertIn("2 conflicts between", self.done.stderr)

    def test_a_stub_of_the_driver_is_no_driver(self):
        told = self.doctor(4, cuDriverGetVersion="")
        self.assertIn("libcuda.so.1", told["misfits"][0])
        self.assertIn("status 34", told["libraries"][0]["reason"])

    def test_a_gpu_that_is_lost(self):
        told = self.doctor(4, script="gpus 2\nhandle 0 !15")
        self.assertEqual(len(told["gpus"]), 1)
        self.assertIn("GPU 1", told["misfits"][0])

    def test_a_driver_that_was_updated_under_its_kernel_module(self):
        on_the_bus = json.loads(run("doctor", "--format", "json").stdout)["pci_bus_ids"]
        told = self.doctor(4 if on_the_bus else 0, script="init !18")
        self.assertIn("mismatch", told["driver"]["problem"])

    def test_the_table_lists_gpus_and_versions(self):
        self.doctor(0)
        table = run("doctor", "--explain", env=self.environment).stdout
        for text in ("driver 580.65.06, serves CUDA 13.0", "GPU-standin-1", "85.9 GB", "9.19.0", "No conflicts found"):
            self.assertIn(text, table)

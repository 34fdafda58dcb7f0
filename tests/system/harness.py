"""Shared by the system tests: running the binary, a data set to run it on, and specs."""

import atexit
import csv
import fcntl
import functools
import json
import os
import pty
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
import zlib
from pathlib import Path

import planted

planted.plant()
ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("CHEXBENCH_BINARY", ROOT / "build/release/bin/chexbench"))
SANITIZED = bool(os.environ.get("CHEXBENCH_SANITIZE"))
HAS_ONEDNN = "onednn" in os.environ.get("CHEXBENCH_ENGINES", "onednn")
HAS_DCMTK = (BINARY.parent / "chexbench_dicom.so").exists()
REAL_IMAGES = ROOT / "tests/data/nih"
GOLDEN = ROOT / "tests/golden"
IMAGES = 24
TRAIN_IMAGES = 18
# Any command of the tests ends long before this; sanitizers make it ten times slower.
TIMEOUT_S = 120


def command_line(arguments, ranks=None):
    launcher = [] if ranks is None else ["mpirun", "--map-by", "socket", "-np", str(ranks)]
    return [*launcher, str(BINARY), *map(str, arguments)]


def run_program(*words, timeout=TIMEOUT_S, **options):
    """Runs a program to its end; text of stdout and stderr, which `options` may redirect, and returncode. Fails if it
    hangs."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.run([*map(str, words)], timeout=timeout, **streams | options)


def run(*arguments, ranks=None, **options):
    """The same of chexbench, which also may print no secret."""
    done = run_program(*command_line(arguments, ranks), **options)
    if told := planted.secrets_in(done.stdout) + planted.secrets_in(done.stderr):
        raise AssertionError(f"{arguments} prints {told}\nstdout: {done.stdout}\nstderr: {done.stderr}")
    return done


def ranks_of(launcher):
    """Process ids of the binary among the launcher's descendants."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                parents[int(entry.name)] = int(fields[1])
            except OSError:
                continue  # it ended meanwhile

    def descends(process):
        while process in parents and process != launcher:
            process = parents[process]
        return process == launcher

    def is_rank(process):
        try:
            return os.readlink(f"/proc/{process}/exe") == str(BINARY.resolve())
        except OSError:
            return False
    return [process for process in parents if descends(process) and is_rank(process)]


def rank_number(process):
    environment = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    return int(next(value.split(b"=")[1] for value in environment
                    if value.startswith((b"PMI_RANK=", b"OMPI_COMM_WORLD_RANK="))))


def run_on_terminal(command, columns=None, environment=None, **streams):
    """The text that a terminal gets from a command, which must succeed; `streams` are those that go elsewhere."""
    leader, follower = pty.openpty()
    if columns:
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(command, env=environment,
                               **{"stdin": follower, "stdout": follower, "stderr": follower, **streams})
    os.close(follower)
    told = b""
    try:
        while part := os.read(leader, 65536):
            told += part
    except OSError:
        pass  # on Linux: no process has the terminal open any more
    os.close(leader)
    if process.wait(TIMEOUT_S) != 0:
        raise AssertionError(f"{command} ends with {process.returncode}: {told}")
    return told.decode()


def python_with(*packages):
    """A Python that has these packages: the one of these tests, the system's, or that of scripts/peers; None: none."""
    test = "import importlib.util as util, sys; sys.exit(not all(map(util.find_spec, sys.argv[1:])))"
    for python in (sys.executable, Path("/usr/bin/python3"), ROOT / "build/peers-venv/bin/python"):
        if Path(python).exists() and run_program(python, "-c", test, *packages).returncode == 0:
            return python
    return None


def set_rate(repeat, images_per_s):
    """Makes a repeat of report.json one of this rate that nothing disturbed, however busy the machine was."""
    repeat.update(images_per_s=images_per_s, buffer_fed=False, disturbance_others_s=0, disturbance_steal_s=0,
                  disturbance_throttled_s=0, disturbance_lost_core_s=0, disturbance_memory_stall_s=0)
    return repeat


def measured(test):
    """A test of figures that the machine's other work can disturb: it may measure three times, in fresh folders.

    A real error fails each time. Without subTest, whose failures are not raised.
    """
    @functools.wraps(test)
    def attempts(self):
        for attempt in (1, 2):
            try:
                return test(self)
            except self.failureException as failure:
                print(f"{self.id()}: attempt {attempt}: {failure}", file=sys.stderr)
                self.setUp()
        return test(self)
    return attempts


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def folder_of_process():
    """A new folder that is removed when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="chexbench-system-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width, height, bit_depth=8, color=0, rows=None, extra=b""):
    """A PNG of the given header; `rows` are the bytes before compression, `extra` are chunks before them."""
    header = struct.pack(">IIBBBBB", width, height, bit_depth, color, 0, 0, 0)
    data = zlib.compress(b"\0" * 16 if rows is None else rows)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@functools.cache
def small_images():
    """The data set of the real X-rays with images of 64 x 64, which take a hundredth of the time to decode."""
    root = shutil.copytree(REAL_IMAGES, folder_of_process() / "nih", ignore=shutil.ignore_patterns("*.png"))
    for number, image in enumerate(sorted((REAL_IMAGES / "images").iterdir())):
        noise = random.Random(number)
        rows = b"".join(b"\0" + noise.randbytes(64) for _ in range(64))
        (root / "images" / image.name).write_bytes(png(64, 64, rows=rows))
    return root


@functools.cache
def run_once(spec, ranks=None):
    """The folder of a run of a spec, given as text; there is one for all tests of the process."""
    folder = folder_of_process()
    (folder / "spec.json").write_text(spec)
    done = run("--config", folder / "spec.json", "--output", folder / "out", ranks=ranks)
    if done.returncode != 0:
        raise AssertionError(f"{spec}: code {done.returncode}\nstderr: {done.stderr}")
    return folder / "out"


class SystemTest(unittest.TestCase):
    """A fresh folder per test, in which no file may contain a planted secret at its end."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="chexbench-system-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(self.check_no_secret_is_written, self.folder)  # runs before the line above

    def check_no_secret_is_written(self, folder):
        self.assertEqual(planted.files_with_secrets(folder), [])

    def real_images(self, converted=False):
        """A copy of the real X-rays that a test may spoil."""
        return self.copy(REAL_IMAGES, converted)

    def small_images(self, converted=False):
        """A copy of the small images that a test may spoil."""
        return self.copy(small_images(), converted)

    def copy(self, images, converted):
        root = self.folder / "nih"
        shutil.copytree(images, root)
        if converted:
            self.succeed("data", "convert", root, "--split", "all")
        return root

    def spec(self, **keys):
        """Writes a spec: a quick run of engine none over small images, with `keys` changed (a.b as a__b)."""
        spec = {"experiment": "system", "data": {"root": str(small_images())}, "pipeline": "optimized",
                "training": {"batch_size": 2}, "engine": "none",
                "measure": {"warmup_steps": 1, "steps": 3, "repeats": 2, "extra_repeats": 0}}
        for key, value in keys.items():
            *parents, last = key.split("__")
            place = spec
            for parent in parents:
                place = place.setdefault(parent, {})
            place[last] = value
        path = self.folder / "spec.json"
        path.write_text(json.dumps(spec))
        return path

    def measured(self, **keys):
        """The folder of a quick run with `keys` changed. Not for a test that is @measured: it would repeat the same
        run."""
        return self.shared_run(self.spec(**keys))

    def shared_run(self, spec, name="out", ranks=None):
        """A folder, which the test may change, with a run that the tests with the same spec have in common."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return Path(shutil.copytree(run_once(spec.read_text(), ranks), self.folder / name))

    def succeed(self, *arguments, **options):
        done = run(*arguments, **options)
        self.assertEqual(done.returncode, 0, f"{arguments}\nstdout: {done.stdout}\nstderr: {done.stderr}")
        return done

    def told(self, *arguments, **options):
        """The JSON of a command that succeeds."""
        return json.loads(self.succeed(*arguments, "--format", "json", **options).stdout)

    def ends_with(self, code, *words, **options):
        """Runs a program, which must end with the exit code."""
        done = run_program(*words, **options)
        self.assertEqual(done.returncode, code, f"{words}\nstdout: {done.stdout}\nstderr: {done.stderr}")
        return done

    def fail_with(self, code, *arguments, says=(), **options):
        """Expects the exit code, and every text of `says` in stderr; no crash and no internal error."""
        done = run(*arguments, **options)
        self.assertEqual(done.returncode, code, f"{arguments}\nstdout: {done.stdout}\nstderr: {done.stderr}")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, done.stderr)
        self.assertNotIn("Abort(", done.stderr, "a line of MPI's below the error reads as a crash")
        return done

    def await_true(self, condition, process=None, log=lambda: ""):
        """Waits for a condition, which must come true before the process ends; its value. `log` is shown if it does
        not."""
        give_up = time.monotonic() + TIMEOUT_S
        while not (found := condition()):
            self.assertTrue(process is None or process.poll() is None, "it ended before")
            self.assertTrue(time.monotonic() < give_up, log())
            time.sleep(0.02)
        return found

    def start_run(self, spec, ranks=None, repeats=2):
        """A run into the folder `out` that has just measured so many repeats."""
        process = subprocess.Popen(command_line(["--config", spec, "--output", self.folder / "out"], ranks),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        journal = self.folder / "out/journal.jsonl"
        self.await_true(lambda: journal.exists() and journal.read_text().count("\n") >= repeats, process)
        return process

    def on_a_terminal(self, *arguments, ranks=None, shell=None, stderr=None, columns=None, **environment):
        """The text that a terminal gets from standard error, unless `stderr` is a file for it; or from a shell
        command."""
        command = ["bash", "-c", shell] if shell else command_line(arguments, ranks)
        streams = {**({} if shell else {"stdout": subprocess.DEVNULL}), **({"stderr": stderr} if stderr else {})}
        return run_on_terminal(command, columns, {**os.environ, "TERM": "xterm", **environment}, **streams)

    def rows(self, folder, name="trials.csv"):
        with open(folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def report(self, folder):
        return json.loads((folder / "report.json").read_text())

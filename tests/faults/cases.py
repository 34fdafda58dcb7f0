"""The cases of the fault loop: workloads of tests/kills, resumed runs, an evaluation, and a set on a web server."""

import functools
import http.server
import json
import shutil
import threading

from workloads import (BINARY, HAS_ONEDNN, Convert, Run, Stage, Synth, Training, hash_of, lasting, left_over, run,
                       synthesize)


class GoesOn:
    """A run that was interrupted after its first repeats: --resume keeps them."""

    def prepare(self, disk):
        super().prepare(disk)
        done = run(super().command(disk))
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        self.interrupt(disk / "out")


class ResumedRun(GoesOn, Run):
    name = "resumed run"

    def interrupt(self, out):
        lines = (out / "journal.jsonl").read_text().splitlines(keepends=True)
        (out / "journal.jsonl").write_text("".join(lines[:len(lines) // 2]))
        for path in out.iterdir():
            if path.name != "journal.jsonl":
                path.unlink()


class ResumedTraining(GoesOn, Training):
    """The files of a training that was killed after its last checkpoint: no line of the journal, no report."""

    name = "resumed training"

    def interrupt(self, out):
        (out / "journal.jsonl").write_text("")
        for path in out.iterdir():
            if path.is_file() and path.name != "journal.jsonl":
                path.unlink()


class Evaluation(Training):
    """The output of `evaluate` for a network that was trained for an epoch. It keeps no state: continuing means
    rerunning."""

    name = "evaluation"
    spec = Training.spec | {"training": Training.spec["training"] | {"epochs": 1}}

    def prepare(self, disk):
        super().prepare(disk)
        done = run([str(BINARY), "--config", str(disk / "spec.json"), "--output", str(disk / "trained")])
        if done.returncode != 0:
            raise RuntimeError(done.stderr)

    def command(self, disk):
        (checkpoint,) = (disk / "trained").glob("checkpoints/*/last.safetensors")
        return self.launched("evaluate", "--checkpoint", checkpoint, "--data", disk / "set", "--split", "all",
                             "--output", disk / "out")

    def outcome(self, disk):
        out = disk / "out"
        figures = lasting(json.loads((out / "evaluation.json").read_text()))
        # The CPU's model is not known where /proc cannot be read; instruction sets and threads must be the same.
        figures["device"] = figures["device"].partition(", ")[2]
        return {path.name: hash_of(path) for path in out.glob("*.csv")} | {
            "figures": figures, "left over": left_over(out), "files": sorted(path.name for path in out.iterdir())}


class RunOfShards(Run):
    """A run whose shards are mapped into memory."""

    name = "run of shards"
    spec = Run.spec | {"sweep": {}}

    def prepare(self, disk):
        super().prepare(disk)
        done = run(self.launched("data", "convert", disk / "set", "--split", "all", "--to", "tfrecord"))
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        spec = json.loads((disk / "spec.json").read_text())
        spec["data"] |= {"format": "tfrecord", "split": "all"}
        (disk / "spec.json").write_text(json.dumps(spec))


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class StageOfWeb(Stage):
    """The copy of a set on a web server of this process, for calls of connect()."""

    def __init__(self):
        super().__init__()
        self.name = "stage from http"

    def prepare(self, disk):
        synthesize(disk / "set", images=6)
        self.serve(disk / "set")

    def serve(self, folder):
        handler = functools.partial(QuietHandler, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def command(self, disk):
        root = f"http://127.0.0.1:{self.server.server_port}"
        return self.launched("data", "stage", root, disk / "staged", "--split", "all")


# Classes with many calls, so that every workload gets a share of the time: only numbers that grow by this share are
# tried.
STRIDES = {"malloc": 0.05, "mpi-poll": 0.5, "system-open": 0.1}
RANK_CLASSES = ("write", "fsync", "open", "malloc", "thread", "mpi", "mpi-poll")


def cases():
    """Workloads with the classes that are tried on them."""
    files = ("open", "system-open", "read", "short-read", "write", "short-write", "fsync", "rename", "close", "malloc",
             "thread")
    for workload in (Run(), ResumedRun(), Convert("tfrecord"), Convert("webdataset"), Convert("cached"), Stage(),
                     Synth()):
        yield workload, files
    yield RunOfShards(), ("open", "read", "mmap")
    yield StageOfWeb(), ("connect",)
    if HAS_ONEDNN:
        yield Training(), files
        yield ResumedTraining(), files
        yield Evaluation(), files
    if shutil.which("mpirun"):
        yield Run(1), ("mpi", "mpi-poll")
        yield Run(2), RANK_CLASSES
        if HAS_ONEDNN:
            yield Training(2), RANK_CLASSES
            yield Evaluation(2), RANK_CLASSES

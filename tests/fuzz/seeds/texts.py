"""Seeds of texts that users and runs write: specs, weights, results, golden files, manifests."""

import json
import struct
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def files(folder, pattern="*.json", most=6000):
    for path in sorted((ROOT / folder).glob(pattern)):
        if path.stat().st_size <= most:
            yield path.stem, path.read_bytes()


def json_document_seeds():
    yield "all", b'{"a": [1, -2.5e3, true, null, "\\u00e9"], /* c */ "b": {}, "c": 18446744073709551615} // end\n'
    yield "twice", b'{"a": {"b": 1, "b": 2}}'
    yield "deep", b"[" * 70 + b"]" * 70
    yield "comma", b'{"a": 1,}'


PLAIN_SPEC = b'{"data": {"root": "r"}, "pipeline": "optimized", "engine": "none", "measure": {"steps": 3}}'
CONTRADICTIONS = (
    "data.format=cached data.deliver=f32", "data.format=cached data.deliver=u8 data.root=http://h/r",
    "data.format=cached data.deliver=u8 preprocess.crop=0.5", "data.format=cached data.deliver=u8 data.jpeg=scaled",
    "data.root=null", "data.root=s3://b/r measure.page_cache=cold", "data.format=synthetic measure.page_cache=cold",
    "comm.model=shaped", "comm.update=hierarchical comm.model=alpha_beta engine=emulated:v100",
    "comm.update=ring comm.backend=nccl engine=cuda", "comm.gradient_dtype=f16 comm.backend=nccl engine=cuda",
    "comm.model=alpha_beta engine=onednn", "training.precision=f16", "model.weights=w.safetensors",
    "emulation.cores_per_accelerator=4", "emulation.cores_per_accelerator=4 engine=emulated:v100",
    "emulation.cores_per_accelerator=4 engine=emulated:v100 comm.model=none measure.page_cache=cold",
    "emulation.cores_per_accelerator=4 engine=emulated:v100 comm.model=none pipeline.map.parallel_calls=2",
    "training.epochs=2", "training.epochs=2 engine=onednn data.split=all", "training.epochs=2 engine=onednn",
    "training.epochs=2 engine=cuda training.schedule=plateau training.checkpoint=c training.target_auroc=0.8",
    "training.precision=bf16 engine=onednn", "training.optimizer=sgd training.momentum=0.5 engine=onednn",
    "data.layout=csv data.labels.separator=| data.labels.columns=a", "pipeline=[] ranks=[1,2]",
    "ranks=2 comm.servers=3")


def experiment_seeds():
    yield from files("configs/experiments")
    yield from files("configs/measurements")
    yield "set", (b'--set training.batch_size=4\n--set pipeline.shuffle.buffer=8\n--set sweep=null\n'
                  b'{"data": {"root": "r"}, "pipeline": "optimized", "sweep": {"ranks": [1, 2]}}')
    yield "trial", json.dumps(TRIAL_SPEC).encode()
    yield "unknown", b'{"data": {"rot": "r"}}'
    yield "huge", b'{"data": {"root": "r"}, "training": {"batch_size": 1e300}, "measure": {"steps": -1}}'
    yield "zip", (b'{"data": {"root": "r"}, "sweep": {"zip": {"ranks": [1, 2], "training.batch_size": [4, 2]}, '
                  b'"exclude": [{"ranks": 2}]}}')


    for i, keys in enumerate(CONTRADICTIONS):
        yield f"contradiction-{i}", "".join(f"--set {key}\n" for key in keys.split()).encode() + PLAIN_SPEC


def dlio_workload_seeds():
    workload = ("model:\n  name: retinanet  # a comment\nworkflow:\n  train: True\ndataset:\n  data_folder: 'a b'\n"
                "  format: jpeg\n  record_length_bytes: 322957\nreader:\n  data_loader: pytorch\n  batch_size: 24\n"
                "  read_threads: 8\n  sample_shuffle: seed\ntrain:\n  epochs: 8\n  computation_time: 0.04755\n"
                "metric:\n  au: 0.85\n")
    yield "pytorch", workload.encode()
    yield "tensorflow", workload.replace("pytorch", "tensorflow").replace("jpeg", "tfrecord").encode()
    yield "dali", workload.replace("pytorch", "native_dali").encode()
    yield "no-threads", workload.replace("threads: 8", "threads: 0").encode()
    yield "resized", workload.replace("reader:", "  record_length_bytes_resize: 150528\nreader:").encode()
    yield "lists", (workload +
                    'storage:\n  uris: [s3://a, "b"]\n  more:\n  - name: c\n    read: false\n  - d\n').encode()
    yield "data", workload.replace("train: True", "train: False").encode()
    yield "npz", workload.replace("jpeg", "npz").encode()
    yield "cut", workload[:100].encode()
    yield "anchor", b"a: &b 1\nc: *b\n"
    yield "braces", b"a: {b: [1]}\n"
    yield "deep", "".join(" " * i + "k:\n" for i in range(40)).encode()


def pipeline_seeds():
    yield from files("configs/pipelines")
    yield "list", b'[{"op": "list_files"}, {"op": "shard"}, {"op": "map_and_batch"}, {"op": "prefetch", "depth": 2}]'


def profile(entry={}, peaks={}, batches=(8, 64)):
    return json.dumps({"name": "x", "device": "X", "entries": [
        {"model": "resnet50", "image_size": 224, "precision": "f32", "batch_size": batch, "images_per_s": 100.5 + batch,
         "includes_update": True, "includes_communication": False, "source": "measured"} | entry for batch in batches],
        "peaks": {"flops_per_s": {"f32": 1e13}, "bytes_per_s": 1e12, "source": "a sheet"} | peaks}).encode()


def profile_seeds():
    yield from files("configs/accelerators", most=4000)
    yield "small", profile()
    yield "spread", profile({"images_per_s_mad": 0.5, "backward_share": 0.5, "computed": True})
    yield "update-twice", profile({"update_s": 0.01})
    yield "no-precisions", profile(peaks={"flops_per_s": {}})
    yield "no-entries", profile(batches=())


def safetensors(header, data=b""):
    text = json.dumps(header).encode() if isinstance(header, dict) else header
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors_seeds():
    yield "two", safetensors({"__metadata__": {"format": "pt"}, "a": tensor("F32", [2, 1], 0, 8),
                              "b": tensor("I64", [], 8, 16)}, bytes(16))
    yield "empty", safetensors({})
    yield "gap", safetensors({"a": tensor("F32", [1], 4, 8)}, bytes(8))
    yield "overlap", safetensors({"a": tensor("U8", [4], 0, 4), "b": tensor("U8", [4], 2, 6)}, bytes(6))
    yield "overflow", safetensors({"a": tensor("F64", [1 << 61, 2], 0, 0)})
    yield "nothing", safetensors({"a": tensor("F32", [1 << 62, 0], 0, 0)})
    yield "twice", safetensors(b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{}}')


TRIAL_SPEC = {"experiment": "e", "data": {"root": "r", "format": "png"}, "engine": "none", "ranks": 1,
              "pipeline": "optimized",
              "training": {"batch_size": 2}, "measure": {"steps": 3, "repeats": 1}}
STEPS = {"columns": ["rank", "step", "next_s", "wait_s", "wall_s"], "rows": [[0, 0, 0.1, 0.1, 0.5], [0, 1, 0, None, 1]]}
REPEAT = {"repeat": 0, "images_per_s": 12.5, "wall_s": 0.5, "spent_s": 1, "images_trained": 6, "process_cpu_s": 0.25,
          "page_cache": "warm", "ops": [{"op": "list_files", "elements_out": 3, "busy_wall_s": 0.1}], "steps": STEPS,
          "waits": {"columns": ["rank", "op_index", "op", "part", "wait_s"], "rows": [[0, 2, "map", "decode", 0.1]]},
          "gpus": [{"rank": 0, "name": "H100", "samples": {"columns": ["time_s", "power_w"], "rows": [[1, 300]]}}],
          "epochs": [{"epoch": 1, "learning_rate": 1e-3, "mean_auroc": 0.7, "mean_auroc_ci95": [0.6, 0.8],
                      "findings": {"columns": ["label", "auroc"], "rows": [["Mass", 0.7]]}}]}


def line_of(repeat, **more):
    return json.dumps({"schema_version": 1, "key": "0123456789abcdef", "repeat": repeat} | more).encode() + b"\n"


CHECKPOINT = {"format": "pt", "network": "resnet50", "optimizer": "adam", "trial": "t", "training": "0123456789abcdef",
              "updates": "12", "best_loss": "0x1.8p-1", "epochs_without_better": "0", "rate_factor": "0x1p+0",
              "best_score": "0x1.4p-1"}


def checkpoint(**changed):
    epochs = line_of({"repeat": 0, "ops": [], "steps": {"columns": [], "rows": []}, "epochs": REPEAT["epochs"]})
    metadata = CHECKPOINT | {"epochs": epochs.decode().strip()} | changed
    return safetensors({"__metadata__": metadata, "conv1.weight": tensor("F32", [1], 0, 4),
                        "bn1.running_mean": tensor("F32", [2], 4, 12)}, bytes(12))


def checkpoint_seeds():
    yield "whole", checkpoint()
    yield "other-network", checkpoint(network="alexnet")
    yield "damaged", checkpoint(updates="-1", rate_factor="0x1p+3")
    yield "rate", checkpoint(rate_factor="0x1p+3")
    yield "waits", checkpoint(epochs_without_better="2")
    yield "nan", checkpoint(best_loss="nan")
    yield "no-number", checkpoint(best_loss="")
    yield "other-shape", safetensors({"__metadata__": CHECKPOINT, "conv1.weight": tensor("F16", [2], 0, 4)}, bytes(4))
    yield "no-epochs", checkpoint(epochs="{}")
    yield "weights", safetensors({"conv1.weight": tensor("F32", [1], 0, 4)}, bytes(4))


def journal_seeds():
    yield "two", line_of(REPEAT) + line_of(REPEAT | {"repeat": 1, "wall_s": None, "epochs": []})
    yield "torn", line_of(REPEAT) + line_of(REPEAT)[:50]
    yield "negative", line_of(REPEAT | {"images_per_s": -1})
    yield "version", line_of(REPEAT, schema_version=2)
    yield "deep", b"[" * 500 + b"]" * 500 + b"\n"


def report_of(**more):
    trial = {"trial": "p png", "key": "0123456789abcdef", "ranks": 1, "spec": TRIAL_SPEC, "repeats": [REPEAT]}
    finding = {"kind": "starved", "text": "The input starves it.", "emulated": False, "grade": "told_apart",
               "trial": "p png", "base": "p png", "ratio": 1.5, "ratio_ci95": [1.4, 1.6]}
    return json.dumps({"schema_version": 1, "experiment": "e", "interrupted": False, "findings": [finding],
                       "environment": {"host": "h", "cores": 2, "gpus": ["H100"], "libraries": {"MPI": None},
                                       "hosts": [{"host": "h", "load_before": 0.5}]},
                       "trials": [trial]} | more).encode()


def report_seeds():
    yield "one", report_of()
    yield "empty", report_of(trials=[], findings=[])
    yield "version", report_of(schema_version=7)
    yield "deep", b'{"experiment": "e", "findings": ' + b"[" * 500 + b"]" * 500 + b"}"


def golden_engine_seeds():
    yield "small", json.dumps({
        "model": "alexnet", "salt": "s", "image_size": 64, "batch": 1, "parameters": 10, "logits": [0.5] * 14,
        "loss": 0.7, "losses_adam": [0.7, 0.6], "losses_sgd_momentum": [0.7, 0.6],
        "gradients": {"conv.weight": {"shape": [2, 3], "l2": 1.5, "index": [0, 5], "value": [0.1, 0.2]}},
        "buffers": {"bn.running_mean": {"l2": 1, "first": [0.5]}}}).encode()


def golden_preprocess_seeds():
    places = {"mean": 0.5, "std": 0.1, "row_col": [[0, 0], [223, 7]], "value": [0.5, 0.25]}
    yield "small", json.dumps({"images": {"a.png": {"gray_sha256": "ab", "bilinear": places, "area": places}}}).encode()


def golden_interleave_seeds():
    yield "small", json.dumps({"cases": [{"file_lengths": [2, 1], "cycle_length": 2, "block_length": 1,
                                          "order": [0, 100, 1]}]}).encode()


def manifest_seeds():
    yield "small", json.dumps({"format": "tfrecord", "split": "train", "images": 3, "patients": None, "seconds": 0.25,
                               "shard_bytes": 99, "shards_kept": 0, "labels": ["Mass"], "damaged": [],
                               "shards": [{"name": "train-00000-of-00001", "records": 3, "bytes": 99}]}).encode()
    yield "odd", b'{"images": -1, "labels": [1], "shards": [1, {}, {"name": 2}]}'
    yield "shards", b'{"shards": 7}'


def shard_names_seeds():
    yield "tfrecord", b"\0\ntrain-00000-of-00002\ntrain-00001-of-00002\n"
    yield "missing", b"\0\ntrain-00001-of-00002\n"
    yield "webdataset", b"\1\ntrain-000000.tar\ntrain-000001.tar\n"
    yield "unfinished", b"\x034\ntrain-000000.tar\n"
    yield "mixed", b"\0\ntrain-00000-of-00002\ntrain-00000-of-00003\n"

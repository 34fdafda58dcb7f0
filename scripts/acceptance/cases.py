"""The cases in the order in which they run: the most valuable first."""

import csv
import json
import shutil
import statistics
from pathlib import Path

from acceptance import goals, learning
from acceptance.case import Case, read_text, run_command

NETWORKS = ("resnet50", "densenet121")
IMAGES = 2048  # of 1024x1024, synthetic: 0.8 GB
WARMUP_STEPS = 20
STEP_KERNEL = "run_callsINS2_6UploadI"  # in the mangled name of the first kernel of a step, which runs once a step
TIME_LEFT = "(seconds left)"  # in a command: its time, less some to end by itself
# Columns of chexbench's trials.csv that a row keeps.
FIGURES = ("images_per_s", "images_per_s_mad", "wait_share", "upload_share", "busy_share", "decoded_per_trained",
           "images_per_s_per_core")
FACTS = ("cores_per_rank", "buffer_fed", "unstable", "partial", "wait_op", "engine_device")


def read_trial(output, errors):
    """The figures of the one trial in chexbench's CSV."""
    rows = list(csv.DictReader(output.splitlines()))
    if len(rows) != 1 or not rows[0].get("images_per_s"):
        raise ValueError("chexbench measured nothing")
    figures = {name: float(rows[0][name]) for name in FIGURES if rows[0].get(name)}
    return {**figures, **{name: rows[0][name] for name in FACTS if rows[0].get(name) not in (None, "", "false")}}


def read_windows(output, errors):
    """The median over torch_gpu.py's windows, with the best and their number; the last line has the other facts."""
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{") and line.endswith("}")]
    if not lines:
        raise ValueError("PyTorch measured nothing")
    rates = [line["images_per_s"] for line in lines]
    return {**lines[-1], "images_per_s": statistics.median(rates), "images_per_s_best": max(rates),
            "windows": len(rates)}


def read_sweep(output, errors):
    """How many plans of each pattern ran, and the sum over its shapes of the fastest one's time."""
    fastest_us, ran = {}, 0
    for line in output.splitlines():
        if not line.endswith("}"):
            continue  # cut off
        plan = json.loads(line)
        if plan["ran"]:
            ran += 1
            shapes = fastest_us.setdefault(plan["pattern"], {})
            shapes[plan["shape"]] = min(plan["median_us"], shapes.get(plan["shape"], plan["median_us"]))
    if not ran:
        raise ValueError("no plan ran")
    patterns = {pattern: {"shapes": len(shapes), "fastest_us": round(sum(shapes.values()), 1)}
                for pattern, shapes in fastest_us.items()}
    return {"plans": ran, "complete": "stopped at its budget" not in errors, "patterns": patterns}


def read_kernel_sweep(output, errors):
    """The kernels' results, from their lines; their times relative to copies, from the summary, which only a sweep that
    ends by itself prints. Its "fused" step is closer to a default training."""
    lines = [json.loads(line) for line in output.splitlines() if line.endswith("}")]
    kernels = [line for line in lines if not line.get("summary")]
    if not any(kernel["ran"] for kernel in kernels):
        raise ValueError("no kernel ran")
    read = {"checked_kernels": len(kernels), "checked_values": sum(kernel["checked_values"] for kernel in kernels),
            "wrong": [f"{kernel['kernel']} at {kernel['shape']}" for kernel in kernels
                      if kernel["ran"] and not kernel["agrees"]]}
    for summary in lines[len(kernels):]:
        read |= {"complete": summary["complete"], "device": summary["device"], **summary["fused"],
                 "separate": summary["separate"]}
    return read


def read_memcheck(output, errors):
    for line in output.splitlines():
        if "ERROR SUMMARY:" in line:
            return {"memory_errors": int(line.split("ERROR SUMMARY:")[1].split()[0])}
    raise ValueError("compute-sanitizer came to no summary")


def read_kernel_times(file):
    """The library's output; if CUPTI dropped records, kernels are missing, and their time is meaningless."""
    try:
        times = json.loads(file.read_text())
    except OSError:
        raise ValueError("CUDA did not load the library that times kernels") from None
    if times["problem"]:
        raise ValueError(times["problem"])
    if not times["exact"]:
        raise ValueError(f"CUPTI lost records of kernels: {times['lost_records']}")
    return {"kernel_s_per_step": times["kernel_s"] / times["steps"], "step_s": times["window_s"] / times["steps"],
            **{key: times[key] for key in ("steps", "kernels", "copies_s", "memsets_s", "costliest")}}


def trial(place, part, name, settings, facts, config="measurements/peers-training.json", limit_s=120):
    """One trial of chexbench over one of the bundle's specs, with `settings` in place of its keys."""
    command, _ = run_command(place, config, name, settings)
    return Case(part, name, command, read_trial, {"framework": "chexbench", **facts}, limit_s)


def ours(place, part, model, precision="fp16", batch=256, turn=1, label="", limit_s=240, **changes):
    """Training in chexbench; `changes` are keys of the spec, a__b for a.b. The first one of a model, precision and
    batch finds its plans, which takes longer than everything after it."""
    keys = {key.replace("__", "."): value for key, value in changes.items()}
    settings = {"engine": "cuda", "model.name": model, "training.precision": precision, "training.batch_size": batch,
                "data.deliver": "u8",  # normalized on the device: a twelfth of the bytes to upload
                "measure.warmup_steps": WARMUP_STEPS, "measure.steps": 20, "measure.repeats": 5, **keys}
    name = " ".join(filter(None, [part, str(turn), model, precision, str(batch), "chexbench", label]))
    facts = {"model": model, "precision": precision, "batch": batch, "mode": label or "default", "turn": turn}
    config = "experiments/peers-input.json" if "data.root" in keys else "measurements/peers-training.json"
    return trial(place, part, name, settings, facts, config, limit_s)


def kernel_time(place, model, batch):
    """A training with each of its kernels timed, by a library that CUDA loads into it. Its plans come from earlier
    trainings with that batch. One repeat, because the window must not include a restart."""
    case = ours(place, "kernels", model, batch=batch, label="kernels timed", measure__repeats=1)
    library = place.home / "lib/chexbench/libchexbench_kernel_time.so"
    file = place.logs / f"kernel-times-{model}-{batch}.json"
    case.command = ["env", f"CUDA_INJECTION64_PATH={library}", f"CHEXBENCH_KERNEL_TIME_FILE={file}",
                    f"CHEXBENCH_KERNEL_TIME_STEP={STEP_KERNEL}", f"CHEXBENCH_KERNEL_TIME_SKIP={WARMUP_STEPS}",
                    *case.command] if library.is_file() else []
    case.read = lambda output, errors: {**read_trial(output, errors), **read_kernel_times(file)}
    return case


def torch(place, part, model, precision="fp16", batch=256, mode="eager", turn=1):
    """The same training in PyTorch. Small batches are compiled into CUDA graphs, which pay there."""
    command = [place.python, place.home / "torch_gpu.py", model, "--batch", batch, "--precision", precision,
               "--mode", mode]
    facts = {"framework": "torch", "model": model, "precision": precision, "batch": batch, "mode": mode, "turn": turn}
    if mode == "compiled":
        facts["compile_mode"] = "reduce-overhead" if batch < 256 else "default"
        command += ["--compile-mode", facts["compile_mode"]]
    return Case(part, f"{part} {turn} {model} {precision} {batch} torch {mode}", command, read_windows, facts,
                limit_s=90 if mode == "eager" else 200, needs="torch")


def golden(place, file):
    """In f32: the other types have too few bits for values that were computed in f64; gate() compares them with f32."""
    command = [place.home / "chexbench", "dev", "selftest", "engine", "--engine", "cuda", "--golden",
               place.share("golden") / f"{file}.json"]
    return Case("golden", f"golden {file} f32", command, read_text,
                {"framework": "chexbench", "model": file, "precision": "f32"}, limit_s=90)


def gate(place, model, precision):
    """The engine in a half precision, fused and unfused, compared with f32 parameter by parameter: otherwise a fast
    wrong result would be a good row."""
    command = [place.home / "chexbench", "dev", "selftest", "engine", "--engine", "cuda", "--precision", precision,
               "--model", model]
    return Case("gate", f"gate {model} {precision}", command, read_text,
                {"framework": "chexbench", "model": model, "precision": precision}, limit_s=150)


def updates(place):
    """Optimizers, clipping, moving averages and losses, which no default training and no sweep launches."""
    command = [place.home / "chexbench", "dev", "selftest", "updates", "--engine", "cuda"]
    return Case("updates", "updates", command, read_text, {"framework": "chexbench", "precision": "f32"}, limit_s=90)


def input_cases(place):
    """Synthetic PNGs: the cores' decoding alone, then naive and optimized in front of the engine."""
    root = place.images
    synth = Case("input", "input images", [place.home / "chexbench", "data", "synth", root, "--images", IMAGES],
                 read_text, {"framework": "chexbench"})
    fed = {"data__root": root, "data__format": "images", "cores_per_rank": "all"}
    ceiling = trial(place, "input", "input ceiling optimized",
                    {"data.root": root, "data.deliver": "u8", "training.batch_size": 256, "measure.warmup_steps": 10,
                     "measure.steps": 20, "measure.repeats": 3, "cores_per_rank": "all"},
                    {"mode": "ceiling"}, "experiments/peers-input.json")
    arms = [ours(place, "input", model, label=pipeline, pipeline=pipeline, **fed)
            for model, pipeline in (("resnet50", "optimized"), ("resnet50", "naive"), ("densenet121", "optimized"),
                                    ("densenet121", "naive"))]
    return [synth, ceiling, *arms]


def graph_cases(place):
    """Replay against eager at 64, where launches weigh most, and without programmatic launches; one update in 4
    batches; fused against unfused, weight gradients on a second stream, and training only the last layer, at 256."""
    def one_by_one(model):
        case = ours(place, "graph", model, batch=64, label="one by one")
        case.command = ["env", "CHEXBENCH_PROGRAMMATIC_LAUNCH=off", *case.command]
        return case

    return [case for model in NETWORKS for case in (
        ours(place, "graph", model, batch=64, label="eager", training__cuda_graph="false"),
        ours(place, "graph", model, batch=64, label="replay", training__cuda_graph="true"),
        one_by_one(model),
        ours(place, "graph", model, batch=64, label="accumulated", training__accumulate_steps=4, measure__steps=5),
        ours(place, "graph", model, label="unfused", training__fused="false"),
        ours(place, "graph", model, label="fused", training__fused="true"),
        ours(place, "graph", model, label="concurrent weight gradients",
             training__concurrent_weight_gradients="true"),
        ours(place, "graph", model, label="frozen base", model__freeze="base"))]


def sweep(place, model, precision, limit_s):
    command = [place.home / "chexbench", "dev", "plan-sweep", "--network", model, "--batch", 256,
               "--precision", precision, "--budget", TIME_LEFT]
    return Case("plan-sweep", f"plan-sweep {model} {precision} 256", command, read_sweep,
                {"framework": "chexbench", "model": model, "precision": precision, "batch": 256}, limit_s)


def kernel_sweep(place, model, precision="fp16", batch=256, limit_s=90):
    """Each of the engine's kernels at each of its shapes, next to a copy of the same size and checked against the
    host."""
    command = [place.home / "chexbench", "dev", "kernel-sweep", "--model", model, "--batch-size", batch, "--precision",
               precision, "--format", "json", "--budget", TIME_LEFT]
    return Case("kernel-sweep", f"kernel-sweep {model} {precision} {batch}", command, read_kernel_sweep,
                {"framework": "chexbench", "model": model, "precision": precision, "batch": batch}, limit_s)


def memcheck(place):
    """Only on our own kernels, by their mangled names: all of cuDNN's would take hours."""
    found = shutil.which("compute-sanitizer") or next(
        (str(path) for path in sorted(Path("/usr/local").glob("cuda*/bin/compute-sanitizer"))), None)
    command = ["env", f"CHEXBENCH_UNDER={found} --tool memcheck --kernel-name kns=chexbench --error-exitcode 9",
               place.home / "chexbench", "dev", "selftest", "engine", "--engine", "cuda", "--golden",
               place.share("golden") / "densenet121-97-batch1.json"]
    return Case("memcheck", "memcheck own kernels", command if found else [], read_memcheck,
                {"framework": "chexbench"}, limit_s=150)


def published_cases(place, gpu):
    """NVIDIA's published setups for this GPU: the same network, precision and batch."""
    return [ours(place, "published", model, precision=precision, batch=batch)
            for model, precision, batch, _ in goals.published_for(gpu)]


def all_cases(place):
    """By part, in the order in which they run: first whether the engine runs and computes the right thing, then the
    figures that have goals, then those that explain them."""
    def in_turns(part, modes, models=NETWORKS, turn=1, **options):
        return [case for model in models for case in
                (ours(place, part, model, turn=turn, **options),
                 *(torch(place, part, model, mode=mode, turn=turn, **options) for mode in modes))]

    resnet, densenet = NETWORKS
    cases = [golden(place, "resnet50-128-batch3"), gate(place, resnet, "fp16")]
    cases += in_turns("training", ["eager"], [resnet]) + [kernel_time(place, resnet, 256)]
    cases += in_turns("training", ["eager"], [densenet]) + [gate(place, densenet, "fp16")]
    cases += [torch(place, "compiled", model, mode="compiled") for model in NETWORKS]
    cases += [kernel_sweep(place, model) for model in NETWORKS]
    cases += in_turns("batches", ["eager", "compiled"], batch=64)
    cases += [kernel_time(place, model, 64) for model in NETWORKS] + [kernel_time(place, densenet, 256)]
    cases += input_cases(place)
    cases += [updates(place)] + learning.all_cases(place) + graph_cases(place)
    cases += [gate(place, model, precision) for precision in ("bf16", "tf32") for model in NETWORKS]
    cases += in_turns("bf16", ["eager"], precision="bf16")
    cases += in_turns("batches", ["eager"], batch=128)
    cases += in_turns("again", ["eager", "compiled"], turn=2)
    others = ("densenet121-97-batch1", "mobilenet_v2", "alexnet", "googlenet")
    cases += [golden(place, file) for file in (*NETWORKS, *others)]
    cases += [memcheck(place)]
    return cases + [sweep(place, model, precision, 100) for precision in ("fp16", "bf16") for model in NETWORKS]

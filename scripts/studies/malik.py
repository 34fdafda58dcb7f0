"""Malik et al., "Detailed Performance Analysis of Distributed Tensorflow on a GPU Cluster", NYSDS 2018.

AlexNet, GoogLeNet and ResNet50 on K40s, K80s and P100s to 256 GPUs, by Horovod's ring and by one parameter server.
"""

import functools
import json
import statistics
import time

import convergence
import drawing
import page
import profiles
from budget import measure_until
from measuring import ROOT, chexbench, read_csv
from planning import Group, at_most_cores, left_out, scale_factor
from verdicts import FAILS, HOLDS, LINEAR, UNKNOWN, select, write_csv
from worlds import made_by

NAME = "malik"
TITLE = "Malik et al., NYSDS 2018: distributed TensorFlow on a GPU cluster"
NEEDS_DATA = False
TRAINS_FOR_REAL = False  # with --engine cuda or onednn
MEASURES = True
SPECS = ROOT / "configs/studies" / NAME
DEVICES = ("k40", "k80", "p100")
MODELS = {"alexnet": "AlexNet", "googlenet": "GoogLeNet", "resnet50": "ResNet50"}
BATCH_SIZES = (64, 128, 256, 512)
RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
UPDATES = {"ring": "ring", "parameter_server": "one parameter server"}
EPOCH_IMAGES = 1_281_167  # of ImageNet's training set, which the authors used
STEP_S = 64 / 656  # of AlexNet on a K80 in update.json, at full scale
MEMORY_GB = {"k40": 12, "k80": 12, "p100": 16}
RANK_BYTES = 2e9  # of AlexNet: gradients, messages, and batches
COLUMNS = ["device", "model", "batch_size", "update", "ranks", "kind", "images_per_s", "epoch_s", "efficiency",
           "speed", "source"]


def speeds(device):
    """The entries of a device's profile by model and batch size."""
    return {(entry["model"], entry["batch_size"]): entry for entry in profiles.entries(device)
            if entry["image_size"] == 224 and entry["precision"] == "f32"}


def trainings():
    """The entry of a profile for each (device, model, batch size) of the study, and the (device, model) without any.

    If it has none of that batch size, that of the nearest one, whose images/s chexbench keeps.
    """
    found, holes = {}, []
    for device in DEVICES:
        known = speeds(device)
        for model in MODELS:
            own = [size for of, size in known if of == model]
            if not own:
                holes.append((device, model))
                continue
            for size in BATCH_SIZES:
                found[device, model, size] = known[model, min(own, key=lambda one: abs(one - size))]
    return found, holes


def speed_of(entry, batch_size):
    """A figure's words for the source of one GPU's speed."""
    other = "" if entry["batch_size"] == batch_size else f" at batch {entry['batch_size']}"
    return profiles.speed_of(entry) + other


def predict(known):
    """A row for each training, update and number of ranks."""
    rows = []
    for (device, model, batch_size), entry in known.items():
        for update in UPDATES:
            output = chexbench("predict", "--config", SPECS / "throughput.json", "--accelerator",
                               profiles.path_of(device), "--set", f"engine=emulated:{profiles.path_of(device)}",
                               "--set", f"model.name={model}", "--set", f"training.batch_size={batch_size}", "--set",
                               f"comm.update={update}", "--ranks", *RANKS, "--format", "json")
            arm = json.loads(output)["arms"][0]
            rows += [{"device": device, "model": model, "batch_size": batch_size, "update": update,
                      "ranks": row["ranks"], "kind": "predicted", "images_per_s": row["images_per_s"],
                      "epoch_s": EPOCH_IMAGES / row["images_per_s"],
                      "efficiency": row["images_per_s"] / (row["ranks"] * arm["rows"][0]["images_per_s"]),
                      "speed": speed_of(entry, batch_size), "source": arm["source"]} for row in arm["rows"]]
    return rows


def published_rows():
    rows = []
    for row in read_csv(SPECS / "published.csv"):
        images_per_s = float(row["images_per_s"])
        rows.append({**row, "batch_size": int(row["batch_size"]), "ranks": int(row["ranks"]), "kind": "published",
                     "images_per_s": images_per_s, "epoch_s": EPOCH_IMAGES / images_per_s})
    return rows


def largest_batches(rows):
    """The rows of each device's largest batch."""
    sizes = {device: max(row["batch_size"] for row in select(rows, device=device))
             for device in {row["device"] for row in rows}}
    return [row for row in rows if row["batch_size"] == sizes[row["device"]]]


def groups():
    made = [Group("update", "none", ranks, 3) for ranks in (2, 4)]
    for group in made:
        steps = len(UPDATES) * group.repeats * (group.warmup_steps + group.steps)
        group.seconds = 3 * steps * STEP_S * scale_factor(group.ranks)  # with one server a step takes about five times
    return made


def rounds(report):
    """images/s of the ring / images/s of the parameter server, of each round."""
    rates = {trial["spec"]["comm"]["update"]: [repeat["images_per_s"] for repeat in trial["repeats"]]
             for trial in report["trials"]}
    return [ring / server for ring, server in zip(rates["ring"], rates["parameter_server"])]


def ratio_by_links(ranks):
    """The same ratio from the links alone, without the sums and copies of the server."""
    rates = {}
    for update in UPDATES:
        output = chexbench("predict", "--config", SPECS / "update.json", "--accelerator", "k80", "--set", "sweep=null",
                           "--set", "comm.model=alpha_beta", "--set", f"comm.update={update}", "--ranks", ranks,
                           "--format", "json")
        rates[update] = json.loads(output)["arms"][0]["rows"][0]["images_per_s"]
    return rates["ring"] / rates["parameter_server"]


def span(values, form):
    """Values as their smallest and largest."""
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def linear_claim(predicted, model):
    claim = f"{MODELS[model]}, ring: throughput and epoch time are almost linear to {RANKS[-1]} GPUs"
    parts = []
    for size in BATCH_SIZES:
        found = select(predicted, model=model, update="ring", ranks=RANKS[-1], batch_size=size)
        if found:
            parts.append(f"{span([row['efficiency'] for row in found], '.2f')} at batch {size} "
                         f"({', '.join(row['device'].upper() for row in found)})")
    text = f"efficiency on {RANKS[-1]} GPUs, predicted: {'; '.join(parts)}; no machine of that size was measured"
    return claim, UNKNOWN, text if parts else "no profile has its speed on these GPUs"


def server_claim(predicted, reports):
    claim = "AlexNet, one parameter server: scaling is poor, and communication is the bottleneck"
    parts, verdict = [], UNKNOWN
    for group, report in reports:
        ratios = rounds(report)
        parts.append(f"the ring trains {statistics.median(ratios):.2f} x ({min(ratios):.2f} to {max(ratios):.2f} over "
                     f"{len(ratios)} rounds) the images/s on {group.ranks} ranks, measured (predicted from "
                     f"the links alone, without the server's sums and copies: {ratio_by_links(group.ranks):.2f} x)")
        if len(ratios) >= 5 and min(ratios) > 1:
            verdict = HOLDS
        elif len(ratios) >= 5 and max(ratios) < 1:
            verdict = FAILS
    for row in largest_batches(select(predicted, model="alexnet", update="parameter_server", ranks=64)):
        parts.append(f"efficiency {row['efficiency']:.2f} on 64 {row['device'].upper()} at batch {row['batch_size']}, "
                     "predicted")
    return claim, verdict, "; ".join(parts)


def batch_claim(known, model, claim):
    """Judged by other publications: nothing here measures how a GPU's speed depends on the batch."""
    parts = []
    for device in DEVICES:
        speeds = [(size, entry["images_per_s"]) for (of, name, size), entry in known.items()
                  if (of, name) == (device, model) and entry["batch_size"] == size
                  and not profiles.is_computed(entry)]
        if len(speeds) > 1:
            parts.append(f"{device.upper()}: " + ", ".join(f"{rate:,.4g} images/s at {size}" for size, rate in speeds))
    text = "as others published: " + "; ".join(parts)
    if not parts:
        text = "no source has it on one of these GPUs at more than one of the batch sizes"
    return claim, UNKNOWN, text


def claims(known, predicted, reports):
    same = "all batch sizes have the same performance"
    return [*(linear_claim(predicted, model) for model in MODELS),
            batch_claim(known, "alexnet", "AlexNet: the larger batch is the faster"),
            batch_claim(known, "googlenet", f"GoogLeNet: {same}"),
            batch_claim(known, "resnet50", f"ResNet50: {same}"),
            server_claim(predicted, reports)]


@functools.cache
def kept_gb(model, batch_size):
    """What the outputs of a network's convolutions need, which every backward pass reads."""
    layers = json.loads(chexbench("model", model, "--format", "json"))["layers"]
    return 1e-9 * batch_size * sum(row["activation_bytes"] for row in layers if row["kind"] == "convolution")


def speeds_text(rows):
    """The sources of each GPU's speeds, with the batch sizes that use them."""
    parts = []
    for device in dict.fromkeys(row["device"] for row in rows):
        own = select(rows, device=device, update="ring", ranks=1)
        parts.append(f"{device.upper()}: " + ", ".join(
            f"{speed} (for {', '.join(str(row['batch_size']) for row in select(own, speed=speed))})"
            for speed in dict.fromkeys(row["speed"] for row in own)))
    return "; ".join(parts)


def scaling_figure(folder, name, model, rows, published, quantity, label, what):
    title = f"{MODELS[model]}: {what}"
    stars = [row for row in select(published, model=model)
             if (row["device"], row["batch_size"]) in {(one["device"], one["batch_size"]) for one in rows}]
    write_csv(folder / f"{name}.csv", [*rows, *stars], COLUMNS)
    yield page.heading(title)
    drawn = [row for row in rows if kept_gb(model, row["batch_size"]) <= MEMORY_GB[row["device"]]]
    lines = [{**row, "panel": (UPDATES[row["update"]], row["device"].upper()), "value": row[quantity],
              "series": f"batch {row['batch_size']}", "other_batch": " at batch " in row["speed"]} for row in drawn]
    points = [{**row, "panel": (UPDATES["ring"], row["device"].upper()), "value": row[quantity], "series": row["by"],
               "of": f"batch {row['batch_size']}"} for row in stars]
    yield from page.figure(drawing.panels, folder, name, title, ("GPUs", label), lines, points)
    large = max(row["batch_size"] for row in rows)
    left = [device.upper() for device in DEVICES if not select(drawn, device=device, batch_size=large)]
    yield page.paragraph(
        f"Speeds of one GPU: {speeds_text(drawn)}."
        + ("" if stars else " Nobody published rates for these batch sizes, so there are no stars.")
        + (f" Batch {large} is not drawn on {', '.join(left)}: the outputs of the convolutions alone take "
           f"{kept_gb(model, large):.1f} GB, and these GPUs have "
           f"{' or '.join(str(size) for size in sorted(set(MEMORY_GB.values())))} GB." if left else "")
        + f" Values: {name}.csv.")


def batch_figure(folder, name, known):
    title = "images/s of one GPU by batch size"
    rows = [{"device": device, "model": model, "batch_size": size, "images_per_s": entry["images_per_s"],
             "speed": profiles.speed_of(entry), "source": entry["source"]}
            for (device, model, size), entry in known.items() if entry["batch_size"] == size]
    write_csv(folder / f"{name}.csv", rows, ["device", "model", "batch_size", "images_per_s", "speed", "source"])
    yield page.heading(title)
    lines = [{"series": f"{MODELS[row['model']]}, {row['device'].upper()}, {row['speed']}", "x": row["batch_size"],
              "computed": row["speed"] == "computed",
              **dict.fromkeys(("low", "value", "high"), row["images_per_s"])} for row in rows]
    yield from page.figure(drawing.over, folder, name, title, ("images in a batch", "images/s"), lines, log=True)
    yield page.paragraph(f"As the profiles have it; a computed speed comes from a roofline. Values: {name}.csv.")


def figures(folder, known, predicted, published):
    """Writes the CSV of each figure and draws it; returns the blocks of the page."""
    blocks, number = [], 0
    for quantity, label, what in (("images_per_s", "images/s", "ring against one parameter server"),
                                  ("epoch_s", "seconds", "time of an epoch of ImageNet")):
        for model in MODELS:
            rows = select(predicted, model=model)
            if rows:
                number += 1
                blocks += scaling_figure(folder, f"figure{number}", model, rows, published, quantity, label, what)
    return [*blocks, *batch_figure(folder, f"figure{number + 1}", known)], number + 2


def blocks(found, drawn, holes, plan, made):
    yield made
    yield page.paragraph(
        "Malik and others at Brookhaven trained AlexNet, GoogLeNet and ResNet50 with Horovod on K40, K80 and P100 GPUs "
        "and InfiniBand EDR, over ready-made images. Their slides show curves without values, so none of theirs are "
        "drawn. Stars and crosses are figures that others published for the same networks, GPUs and batch sizes, with "
        "links and update schemes of their own; they stand next to the ring. Speeds of one GPU are those of "
        "chexbench's profiles; links have EDR's 100 Gbit/s.")
    yield page.heading("Claims")
    yield page.table(["claim", "verdict", "evidence"], found)
    yield page.paragraph(f"Scaling is called linear from an efficiency of {LINEAR}.")
    yield from drawn
    missing = left_out(plan)
    missing += [f"{MODELS[model]} on {device.upper()}: its profile has no speed for it" for device, model in holes]
    if missing:
        yield page.heading("Left out")
        yield page.bullets(missing)


def run(folder, _, budget_minutes, _engine):
    """Predicts, measures and writes the pages; returns their paths and the claims."""
    published = published_rows()
    known, holes = trainings()
    predicted = predict(known)
    plan = groups()
    ends = time.monotonic() + 60 * budget_minutes
    reports = measure_until(ends, NAME, plan,
                            lambda group: (folder / "runs" / group.name, SPECS / "update.json",
                                           [f"ranks={group.ranks}", *at_most_cores(group.ranks)], group.ranks),
                            lambda group: RANK_BYTES)
    losses = convergence.train(SPECS / "convergence.json", folder, ends - time.monotonic())
    found = claims(known, predicted, reports)
    drawn, number = figures(folder, known, predicted, published)
    drawn += convergence.blocks(folder, f"figure{number}", losses)
    environment = next((report["environment"] for _, report in reports), None)
    data = f"{convergence.IMAGES:,} synthetic X-rays for the loss, ready-made batches otherwise"
    made = made_by(NAME, budget_minutes, ends, data, environment)
    content = blocks(found, drawn, holes, plan, made)
    pages = page.publish(folder, TITLE, content)
    return pages, found

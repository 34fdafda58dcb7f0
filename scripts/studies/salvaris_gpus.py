"""Salvaris's GPUs, networks and precisions: their predictions, and the figures of these."""

import itertools
import json

import drawing
import page
import profiles
from measuring import ROOT, StudyError, chexbench, read_csv
from profiles import is_computed
from verdicts import UNKNOWN, select, write_csv

SPECS = ROOT / "configs/studies/salvaris"
PROFILES = (SPECS / "accelerators", profiles.FOLDER)  # the author's own speeds before other ones
DEVICES = ("k80", "p40", "p100", "v100")  # in the order of their years
MODELS = {"resnet50": "ResNet50", "mobilenet_v2": "MobileNetV2", "googlenet": "GoogLeNet", "alexnet": "AlexNet",
          "densenet121": "DenseNet121"}
PRECISIONS = ("f32", "fp16")
WANTED = [(device, model, precision) for model in ("resnet50", "mobilenet_v2") for device in DEVICES
          for precision in PRECISIONS if precision == "f32" or device == "v100"]  # only V100s have tensor cores
IMAGE_SIZE = 224
BATCH_SIZE = 64
RANKS = (1, 2, 4, 8, 16, 32)
NETWORK = "FDR InfiniBand"  # of the talk's nodes
SLOW_NETWORK = "10 GbE"
OWN, OWN_ETHERNET = "Salvaris, InfiniBand", "Salvaris, Ethernet"
COLUMNS = ["device", "model", "precision", "batch_size", "network", "ranks", "kind", "images_per_s", "efficiency",
           "computed_speed", "by", "source"]


def distance(entry):
    """How far the batch of a speed is from the talk's."""
    return abs(entry["batch_size"] - BATCH_SIZE)


def speeds():
    """The profile's path and its entry for each (device, model, precision) that a profile has, and what is missing."""
    found, missing = {}, {key: "no profile has its speed" for key in WANTED}
    for device, folder in itertools.product(DEVICES, PROFILES):
        path = profiles.path_of(device, folder)
        for entry in profiles.entries(device, folder):
            key = device, entry["model"], entry["precision"]
            held = found.get(key)
            if entry["image_size"] != IMAGE_SIZE:
                continue
            if entry["includes_communication"]:
                missing[key] = "its speed contains the communication of its source"
            elif held is None or (held[0] == path and distance(entry) < distance(held[1])):
                found[key] = path, entry
    return found, [f"{device.upper()}, {model_name(model)}, {precision}: {why}"
                   for (device, model, precision), why in missing.items() if (device, model, precision) not in found]


def links():
    """(name, row) of the links of links.csv; a row applies to its devices, or, if it names none, to all."""
    rows = read_csv(SPECS / "links.csv")
    if NETWORK not in {row["link"] for row in rows}:
        raise StudyError(f"{SPECS / 'links.csv'}: it has no row for {NETWORK}, which the talk's nodes have", 3)
    return rows


def link_of(rows, name, device):
    """The row of a link on a device, or None if the device has no such link."""
    for row in rows:
        if row["link"] == name and device in (row["devices"].split() or DEVICES):
            return row
    return None


def predicted(path, device, model, precision, link, ranks):
    output = chexbench("predict", "--config", SPECS / "throughput.json", "--set", f"engine=emulated:{path}", "--set",
                       f"model.name={model}", "--set", f"training.precision={precision}", "--alpha", link["alpha_s"],
                       "--beta", link["beta_bytes_per_s"], "--ranks", *ranks, "--format", "json")
    arm = json.loads(output)["arms"][0]
    alone = arm["rows"][0]["images_per_s"]
    return [{"device": device, "model": model, "precision": precision, "batch_size": BATCH_SIZE,
             "network": link["link"], "ranks": row["ranks"], "kind": "predicted", "images_per_s": row["images_per_s"],
             "efficiency": row["efficiency"], "one_images_per_s": alone, "source": arm["source"]}
            for row in arm["rows"]]


def predict(found, link_rows):
    """Rows over all ranks on the talk's network, and over all networks on all of its GPUs."""
    rows = []
    for (device, model, precision), (path, entry) in sorted(found.items(), key=in_order):
        for name in dict.fromkeys(row["link"] for row in link_rows):
            link = link_of(link_rows, name, device)
            if link is None:
                continue
            ranks = RANKS if name == NETWORK else (1, RANKS[-1])
            rows += [{**row, "computed_speed": is_computed(entry)}
                     for row in predicted(path, device, model, precision, link, ranks)
                     if name == NETWORK or row["ranks"] > 1]
    return rows


def in_order(item):
    device, model, precision = item[0]
    return place(model), DEVICES.index(device), precision != PRECISIONS[0], precision


def place(model):
    """The position of a model in tables and figures."""
    return (list(MODELS).index(model) if model in MODELS else len(MODELS)), model


def published_rows():
    return [{**row, "ranks": int(row["ranks"]), "images_per_s": float(row["images_per_s"]), "kind": "published"}
            for row in read_csv(SPECS / "published.csv")]


def series(row):
    name = row["device"].upper() + (f" {row['precision']}" if row["precision"] != "f32" else "")
    return name + (" (speed computed)" if row.get("computed_speed") else "")


def model_name(model):
    return MODELS.get(model, model)


def scaling_blocks(folder, rows, published):
    """Figures 1 and 2: images/s by ranks, ResNet50 and the other models."""
    models = sorted({row["model"] for row in rows} | {"resnet50", "mobilenet_v2"}, key=place)
    for model in models:
        number = 1 if model == "resnet50" else 2
        name = f"figure{number}" + (f"-{model}" if model not in ("resnet50", "mobilenet_v2") else "")
        title = f"Figure {number}: {model_name(model)} on 1 to 32 GPUs"
        lines = select(rows, model=model, network=NETWORK)
        points = [row for row in select(published, model=model) if row["ranks"] in RANKS]
        write_csv(folder / f"{name}.csv", [*lines, *points], COLUMNS)
        yield page.heading(title)
        if not lines:
            yield page.paragraph(f"No profile has a speed for it. Values: {name}.csv.")
            continue
        names = {series(row): series(row) if row["computed_speed"] else
                 f"{series(row)} ({profiles.program_of(row['source'])})" for row in lines}
        drawn = [{**row, "series": names[series(row)], "value": row["images_per_s"], "low": None, "high": None}
                 for row in lines]
        marks = [{**row, "series": row["by"], "of": names.get(series(row)), "value": row["images_per_s"]}
                 for row in points if row["by"] in (OWN, "TensorFlow", "NVIDIA, DGX-1")]
        yield from page.figure(drawing.by_ranks, folder, name, title, ("GPUs", "images/s"), drawn, False, marks,
                               log=True)
        yield page.paragraph(f"Over {NETWORK}. Values, with the efficiency: {name}.csv.")
    yield page.paragraph("In figures 1 and 2, brackets name the program that measured the speed of one GPU, or say "
                         "that a roofline computed it. Compare GPUs only by lines of one program: across programs, an "
                         "older GPU may look faster than a newer one.")


def mixed(rows):
    """(full, mixed) predictions on most V100s from profiles of one source, or None."""
    found = {row["precision"]: row for row in rows if row["ranks"] == RANKS[-1]}
    return (found["f32"], found["fp16"]) if len(found) == 2 else None


def precision_rows():
    """Full and mixed precision on V100s, both by one source: the profile that has both."""
    path = profiles.path_of("v100", PROFILES[1])
    entries = {entry["precision"]: entry for entry in profiles.entries("v100", PROFILES[1])
               if entry["model"] == "resnet50" and entry["image_size"] == IMAGE_SIZE}
    link = link_of(links(), NETWORK, "v100")
    return [{**row, "computed_speed": is_computed(entries[precision])} for precision in PRECISIONS
            if precision in entries for row in predicted(path, "v100", "resnet50", precision, link, RANKS)]


def precision_blocks(folder, rows, published):
    title = "Figure 3: ResNet50, full against mixed precision, 32 V100s"
    both = mixed(rows)
    stars = [row for by, ranks in ((OWN, RANKS[-1]), ("NVIDIA, DGX-2", 16))
             for row in select(published, device="v100", model="resnet50", by=by, ranks=ranks)]
    write_csv(folder / "figure3.csv", [*rows, *stars], COLUMNS)
    yield page.heading(title)
    if both is None:
        yield page.paragraph("No profile has both precisions. Values: figure3.csv.")
        return
    words = {"f32": "full", "fp16": "mixed"}
    bars = [{"name": f"{words[row['precision']]}, {row['ranks']}, {row.get('by', 'predicted')}"
             + (" (speed computed)" if row.get("computed_speed") else ""),
             "kind": row["kind"], "value": row["images_per_s"], "low": None, "high": None,
             "colour": drawing.style.colour(0 if row["kind"] == "predicted" else 7)} for row in [*both, *stars]]
    yield from page.figure(drawing.bars, folder, "figure3", title, "images/s", "name", bars)
    yield page.paragraph(f"Over {NETWORK}; both speeds of one V100 are NVIDIA's (MXNet), so that the software is the "
                         "same; at larger batches than 64, which a profile keeps. Gradients are sent in f32. Hollow: "
                         "predicted; grey: published. Values: figure3.csv.")


def gradient_bytes(model):
    return json.loads(chexbench("model", model, "--image-size", IMAGE_SIZE, "--format", "json"))["gradient_bytes"]


def step_rows(rows, link_rows):
    """How long a step computes and sends on most GPUs: a ring moves 2 (n - 1) / n of the gradients over each link."""
    ranks, made = RANKS[-1], []
    for row in rows:
        if row["ranks"] != ranks or row["precision"] != "f32" or row["network"] not in (NETWORK, SLOW_NETWORK):
            continue
        link = link_of(link_rows, row["network"], row["device"])
        send_s = 2 * (ranks - 1) / ranks * gradient_bytes(row["model"]) / float(link["beta_bytes_per_s"])
        compute_s = BATCH_SIZE / row["one_images_per_s"]
        made.append({**row, "compute_s": compute_s, "send_s": send_s,
                     "exposed_s": ranks * BATCH_SIZE / row["images_per_s"] - compute_s})
    return made


def step_blocks(folder, rows, link_rows):
    """Figure 4: the talk's Batch Execution and Data Transfer."""
    title = "Figure 4: a step of ResNet50 on 32 GPUs: computing and sending"
    steps = step_rows(select(rows, model="resnet50"), link_rows)
    write_csv(folder / "figure4.csv", steps, ["device", "model", "precision", "network", "ranks", "kind", "compute_s",
                                              "send_s", "exposed_s", "computed_speed"])
    yield page.heading(title)
    bars = [{"name": f"{series(row)}, {row['network']}", "parts": [1e3 * row["compute_s"], 1e3 * row["send_s"]]}
            for row in steps]
    if bars:
        yield from page.figure(drawing.stacked, folder, "figure4", title, "milliseconds",
                               ("batch execution", "data transfer"), bars)
    yield page.table(["GPU", "network", "computing", "sending", "sending that computing does not hide"],
                     [[series(row), row["network"], f"{1e3 * row['compute_s']:.0f} ms", f"{1e3 * row['send_s']:.1f} ms",
                       f"{1e3 * row['exposed_s']:.1f} ms"] for row in steps])
    yield page.paragraph("Sending is what the links need alone. Horovod sends while backward computes, so most of it "
                         "is hidden. Values: figure4.csv.")


def network_rows(rows, published):
    """Efficiency on most GPUs by network: predicted, and of the author's own runs."""
    made = [row for row in rows if row["ranks"] == RANKS[-1]]
    for row in published:
        if row["ranks"] == RANKS[-1] and row["by"] in (OWN, OWN_ETHERNET):
            alone = select(published, device=row["device"], ranks=1, by="Salvaris, one process")
            if alone:
                network = NETWORK if row["by"] == OWN else SLOW_NETWORK
                made.append({**row, "network": network, "efficiency": row["images_per_s"]
                             / (row["ranks"] * alone[0]["images_per_s"])})
    return made


def network_blocks(folder, rows):
    title = "Figure 5: efficiency on 32 GPUs by network"
    write_csv(folder / "figure5.csv", rows, COLUMNS)
    yield page.heading(title)
    bars = [{"group": f"{row['device'].upper()}\n{model_name(row['model'])}"
                      + ("\n(computed)" if row.get("computed_speed") else ""), "series": row["network"],
             "value": row["efficiency"], "low": None, "high": None, "kind": row["kind"]}
            for row in rows if row["precision"] == "f32" and row["model"] in ("resnet50", "mobilenet_v2")]
    if bars:
        yield from page.figure(drawing.grouped, folder, "figure5", title, "efficiency", bars)
    yield page.paragraph(
        "Relative to one GPU; all links of a ring are taken as equal, within nodes and between them. Stars are the "
        "author's own runs: Intel MPI over InfiniBand, and Open MPI with NCCL over the nodes' Ethernet, whose speed he "
        "does not state (it stands at 10 GbE). NVLink is what 32 GPUs would reach if it joined them all. Values: "
        "figure5.csv.")


def speed_table(found):
    rows = []
    for key, (path, entry) in sorted(found.items(), key=in_order):
        how = "computed" if is_computed(entry) else profiles.program_of(entry["source"]) + (
            ", the author's own" if path.parent == PROFILES[0] else ", published")
        rows.append([key[0].upper(), model_name(key[1]), key[2], f"{entry['images_per_s']:,.5g}",
                     entry["batch_size"], how])
    return page.table(["GPU", "model", "precision", "images/s of one", "at batch", "speed"], rows)


def network_text(rows, model):
    parts = []
    for device in DEVICES:
        found = {row["network"]: row["efficiency"] for row in rows
                 if (row["device"], row["model"], row["precision"], row["kind"]) == (device, model, "f32", "predicted")}
        if NETWORK in found and SLOW_NETWORK in found:
            parts.append(f"{device.upper()} {found[NETWORK]:.2f} against {found[SLOW_NETWORK]:.2f}")
    return "; ".join(parts)


def published_network_ratios(published):
    """The author's images/s over InfiniBand / over Ethernet on most GPUs, by device."""
    own = {}
    for device in DEVICES:
        fast, slow = (select(published, device=device, ranks=RANKS[-1], by=by) for by in (OWN, OWN_ETHERNET))
        if fast and slow:
            own[device] = fast[0]["images_per_s"] / slow[0]["images_per_s"]
    return own


def small_model_claim(rows):
    claim = "Training small models using distributed training is not recommended"
    large, small = network_text(rows, "resnet50"), network_text(rows, "mobilenet_v2")
    if not small:
        return claim, UNKNOWN, "no profile has the speed of MobileNetV2 on one of these GPUs"
    return claim, UNKNOWN, (f"efficiency on 32 GPUs, {NETWORK} against {SLOW_NETWORK}, predicted: MobileNetV2 {small}; "
                            f"ResNet50 {large}; no cluster was measured")


def mixed_claim(rows, published):
    claim = "ResNet50 on 32 V100s: mixed precision trains more images/s than full precision"
    both = mixed(rows)
    if both is None:
        return claim, UNKNOWN, "no profile has both precisions"
    text = f"{both[1]['images_per_s'] / both[0]['images_per_s']:.2f} x on 32, predicted"
    for by, ranks in (("NVIDIA, DGX-2", 16), ("NVIDIA, DGX-1", 8)):
        full, half = (select(published, device="v100", precision=precision, ranks=ranks, by=by)
                      for precision in PRECISIONS)
        if full and half:
            text += f"; {half[0]['images_per_s'] / full[0]['images_per_s']:.2f} x on {ranks}, published ({by})"
    return claim, UNKNOWN, f"{text}; no V100 was measured"

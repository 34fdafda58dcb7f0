"""Malik et al., "Detailed Performance Analysis of Distributed Tensorflow on a GPU Cluster", NYSDS 2018.

AlexNet and ResNet50 on K80s and P100s to 256 GPUs, the ring of Horovod against one parameter server.
"""

import json
import statistics
import time

import drawing
import page
from measuring import ROOT, chexbench, measured, read_csv, say
from planning import Group, at_most_cores, choose, left_out, scale_factor
from verdicts import FAILS, HOLDS, LINEAR, UNKNOWN, select, write_csv

NAME = "malik"
TITLE = "Malik et al., NYSDS 2018: distributed TensorFlow on a GPU cluster"
NEEDS_DATA = False
SPECS = ROOT / "configs/studies" / NAME
TRAININGS = [("k80", "alexnet", 512), ("p100", "alexnet", 512), ("k80", "resnet50", 64), ("p100", "resnet50", 64)]
RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
MODELS = {"alexnet": "AlexNet", "resnet50": "ResNet50"}
UPDATES = {"ring": "ring", "parameter_server": "one parameter server"}
EPOCH_IMAGES = 1_281_167  # of ImageNet's training set, which the authors used
STEP_S = 64 / 656  # of AlexNet on a K80 in update.json, at full scale
RANK_BYTES = 2e9  # of AlexNet: gradients, what is sent, and batches
CONVERGENCE_RANKS = (1, 2, 4)
CONVERGENCE_IMAGES = 1000
CONVERGENCE_S = 200  # of a repeat on two cores
MISFIT = 0.15  # of a prediction from a published figure, beyond which it is listed
COLUMNS = ["device", "model", "batch_size", "update", "ranks", "kind", "images_per_s", "epoch_s", "efficiency",
           "source"]


def predict():
    """A row for each training, update and number of ranks."""
    rows = []
    for device, model, batch_size in TRAININGS:
        for update in UPDATES:
            output = chexbench("predict", "--config", SPECS / "throughput.json", "--accelerator",
                               ROOT / f"configs/accelerators/{device}.json", "--set",
                               f"engine=emulated:{ROOT}/configs/accelerators/{device}.json", "--set",
                               f"model.name={model}", "--set", f"training.batch_size={batch_size}", "--set",
                               f"comm.update={update}", "--ranks", *RANKS, "--format", "json")
            arm = json.loads(output)["arms"][0]
            rows += [{"device": device, "model": model, "batch_size": batch_size, "update": update,
                      "ranks": row["ranks"], "kind": "predicted", "images_per_s": row["images_per_s"],
                      "epoch_s": EPOCH_IMAGES / row["images_per_s"],
                      "efficiency": row["images_per_s"] / (row["ranks"] * arm["rows"][0]["images_per_s"]),
                      "source": arm["source"]} for row in arm["rows"]]
    return rows


def published_rows():
    rows = []
    for row in read_csv(SPECS / "published.csv"):
        images_per_s = float(row["images_per_s"])
        rows.append({**row, "batch_size": int(row["batch_size"]), "ranks": int(row["ranks"]), "kind": "published",
                     "images_per_s": images_per_s, "epoch_s": EPOCH_IMAGES / images_per_s})
    return rows


def misfits(predicted, published):
    """Rows of published figures, what was predicted for them, and predicted / published."""
    rows = []
    for row in published:
        if (row["device"], row["model"], row["batch_size"]) not in TRAININGS:
            continue
        same = select(predicted, update="ring", **{name: row[name] for name in
                                                   ("device", "model", "batch_size", "ranks")})[0]
        rows.append({**row, "predicted": same["images_per_s"],
                     "ratio": same["images_per_s"] / row["images_per_s"]})
    return rows


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
    """The same ratio as links alone would make it, without the sums and copies of the server."""
    rates = {}
    for update in UPDATES:
        output = chexbench("predict", "--config", SPECS / "update.json", "--accelerator", "k80", "--set", "sweep=null",
                           "--set", "comm.model=alpha_beta", "--set", f"comm.update={update}", "--ranks", ranks,
                           "--format", "json")
        rates[update] = json.loads(output)["arms"][0]["rows"][0]["images_per_s"]
    return rates["ring"] / rates["parameter_server"]


def train(folder, budget_s):
    """Trains AlexNet for real; rows of its losses by ranks, repeat and epoch, none if the budget leaves no time."""
    repeats = min(3, int(budget_s / CONVERGENCE_S))
    if repeats < 1:
        return []
    say(f"{NAME}: AlexNet trained for real on up to {CONVERGENCE_RANKS[-1]} ranks, about {repeats * CONVERGENCE_S} s")
    data = folder / "runs/learnable"
    chexbench("data", "synth", data, "--images", CONVERGENCE_IMAGES, "--size", 64)  # goes on with what is there
    settings = [f"data.root={data}", f"measure.repeats={repeats}"]
    report = measured(folder / "runs/convergence", SPECS / "convergence.json", settings, CONVERGENCE_RANKS[-1])
    return [{"ranks": trial["ranks"], "repeat": repeat["repeat"], "epoch": epoch["epoch"],
             "training_loss": epoch["training_loss"], "validation_loss": epoch["validation_loss"],
             "mean_auroc": epoch["mean_auroc"]}
            for trial in report["trials"] for repeat in trial["repeats"] for epoch in repeat["epochs"]]


def convergence_claim(losses):
    """Judged by the mean training loss over all epochs, of each repeat: it is lower where the loss falls sooner."""
    claim = "AlexNet: with more ranks the loss falls in more epochs"
    if not losses:
        return claim, UNKNOWN, "not measured: the budget leaves no time to train"
    means = {}
    for ranks in CONVERGENCE_RANKS:
        repeats = sorted({row["repeat"] for row in select(losses, ranks=ranks)})
        means[ranks] = [statistics.mean(row["training_loss"] for row in select(losses, ranks=ranks, repeat=repeat))
                        for repeat in repeats]
    text = "; ".join(f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f}) on {ranks}"
                     for ranks, values in means.items())
    text = f"training loss, mean over {max(row['epoch'] for row in losses)} epochs: {text} ranks, trained for real"
    pairs = [(means[few], means[many]) for few, many in zip(CONVERGENCE_RANKS, CONVERGENCE_RANKS[1:])]
    if any(len(values) < 3 for values in means.values()):
        return claim, UNKNOWN, f"{text}; fewer than three repeats"
    if all(max(few) < min(many) for few, many in pairs):
        return claim, HOLDS, text
    return claim, FAILS if all(min(few) > max(many) for few, many in pairs) else UNKNOWN, text


def convergence_blocks(folder, losses):
    title = "AlexNet: training loss by epochs, trained for real"
    if not losses:
        return
    write_csv(folder / "figure5.csv", losses, list(losses[0]))
    yield page.heading(title)
    if drawing.pyplot:
        rows = []
        for ranks in CONVERGENCE_RANKS:
            for epoch in sorted({row["epoch"] for row in losses}):
                values = [row["training_loss"] for row in select(losses, ranks=ranks, epoch=epoch)]
                rows.append({"series": f"{ranks} rank{'s' * (ranks > 1)}", "x": epoch, "low": min(values),
                             "value": statistics.median(values), "high": max(values)})
        drawing.over(folder, "figure5", title, ("epoch", "training loss"), rows)
        yield page.picture("figure5.svg", title)
    yield page.paragraph(f"{CONVERGENCE_IMAGES} synthetic X-rays of 64x64, 64 images a rank and step, Adam; medians, "
                         "from the smallest to the largest of the repeats. Values: figure5.csv.")


def linear_claim(predicted, model):
    claim = f"{MODELS[model]}, ring: throughput and epoch time are almost linear to 256 GPUs"
    found = select(predicted, model=model, update="ring", ranks=RANKS[-1])
    text = "; ".join(f"efficiency {row['efficiency']:.3f} on {row['ranks']} {row['device'].upper()}" for row in found)
    return claim, UNKNOWN, f"{text}, predicted; no machine of that size was measured"


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
    for row in select(predicted, model="alexnet", update="parameter_server", ranks=64):
        parts.append(f"efficiency {row['efficiency']:.2f} on 64 {row['device'].upper()}, predicted")
    return claim, verdict, "; ".join(parts)


def batch_claim():
    return ("AlexNet: the larger batch is the faster", UNKNOWN,
            "no source has AlexNet on one of these GPUs at more than one batch size")


def resnet_batch_claim(published):
    """Judged by what others published: nothing here measures how a GPU's speed depends on the batch."""
    claim = "ResNet50: all batch sizes have the same performance"
    parts = []
    for device in ("k80", "p100"):
        small, large = (select(published, device=device, model="resnet50", batch_size=size, ranks=1)[0]["images_per_s"]
                        for size in (32, 64))
        parts.append(f"{large:g} images/s at batch 64 and {small:g} at 32 on a {device.upper()} "
                     f"({large / small:.2f} x)")
    return claim, UNKNOWN, "published by TensorFlow: " + "; ".join(parts)


def claims(predicted, published, reports, losses):
    return [linear_claim(predicted, "alexnet"), linear_claim(predicted, "resnet50"),
            server_claim(predicted, reports), batch_claim(), resnet_batch_claim(published),
            ("GoogLeNet scales almost linearly", UNKNOWN, "no source has its speed on one of these GPUs"),
            convergence_claim(losses)]


def figures(folder, predicted, published):
    """Writes the CSV of each figure and draws it; returns the blocks of the page."""
    blocks = []
    plans = [("figure1", "AlexNet: ring against one parameter server", "images_per_s", "images/s", "alexnet"),
             ("figure2", "ResNet50: ring against one parameter server", "images_per_s", "images/s", "resnet50"),
             ("figure3", "AlexNet: time of an epoch of ImageNet", "epoch_s", "seconds", "alexnet"),
             ("figure4", "ResNet50: time of an epoch of ImageNet", "epoch_s", "seconds", "resnet50")]
    for name, title, quantity, label, model in plans:
        rows = select(predicted, model=model)
        stars = [row for row in select(published, model=model) if row["batch_size"] == rows[0]["batch_size"]]
        write_csv(folder / f"{name}.csv", [*rows, *stars], COLUMNS)
        blocks.append(page.heading(title))
        if drawing.pyplot:
            lines = [{**row, "series": f"{row['device'].upper()}, {UPDATES[row['update']]}", "value": row[quantity],
                      "low": None, "high": None} for row in rows]
            points = [{**row, "series": row["device"].upper(), "value": row[quantity]} for row in stars]
            drawing.by_ranks(folder, name, title, ("GPUs", label), lines, False, points, log=True)
            blocks.append(page.picture(f"{name}.svg", title))
        blocks.append(page.paragraph(f"Values: {name}.csv."))
    return blocks


def blocks(found, drawn, compared, plan):
    several = [row for row in compared if row["ranks"] > 1]
    off = [row for row in several if abs(row["ratio"] - 1) > MISFIT]
    median = statistics.median(abs(row["ratio"] - 1) for row in several)
    yield page.paragraph(
        "Malik and others at Brookhaven trained AlexNet, GoogLeNet and ResNet50 with Horovod on K40, K80 and P100 GPUs "
        "and InfiniBand EDR, over ready-made images. Their slides show curves without values, so none of theirs are "
        "drawn. The stars are figures that TensorFlow published for the same networks and GPUs, with networks and "
        "update schemes of their own. Speeds of one GPU are TensorFlow's, too; links have EDR's 100 Gbit/s.")
    yield page.heading("Claims")
    yield page.table(["claim", "verdict", "evidence"], found)
    yield page.paragraph(f"Scaling is called linear from an efficiency of {LINEAR}.")
    yield from drawn
    yield page.heading("Predictions beside published figures")
    yield page.paragraph(
        f"Median misfit {100 * median:.1f} %; {len(off)} of {len(several)} rows differ by more than "
        f"{100 * MISFIT:.0f} %. "
        "Nothing was fitted: what TensorFlow's parameter servers and hosts cost beyond EDR's ring is the misfit. Rows "
        "of one GPU do not count: the predictions are made from them.")
    yield page.table(["GPU", "model", "batch", "GPUs", "published", "predicted", "ratio"],
                     [[row["device"].upper(), row["model"], row["batch_size"], row["ranks"],
                       f"{row['images_per_s']:,.5g}", f"{row['predicted']:,.0f}", f"{row['ratio']:.2f}"]
                      for row in compared])
    if left_out(plan):
        yield page.heading("Not measured")
        yield page.bullets(left_out(plan))


def run(folder, _, budget_minutes):
    """Predicts, measures and writes the pages; returns their paths and the claims."""
    started = time.monotonic()
    published = published_rows()
    predicted = predict()
    plan = groups()
    choose(plan, 60 * budget_minutes, lambda group: RANK_BYTES)
    reports = []
    for group in plan:
        if group.left_out:
            continue
        say(f"{NAME}: {group.ranks} ranks, 1 : {scale_factor(group.ranks):.3g}, about {group.seconds:.0f} s")
        settings = [f"ranks={group.ranks}"]
        settings += at_most_cores(group.ranks)
        reports.append((group, measured(folder / "runs" / group.name, SPECS / "update.json", settings, group.ranks)))
    losses = train(folder, 60 * budget_minutes - (time.monotonic() - started))
    found = claims(predicted, published, reports, losses)
    compared = misfits(predicted, published)
    drawn = [*figures(folder, predicted, published), *convergence_blocks(folder, losses)]
    return page.publish(folder, TITLE, blocks(found, drawn, compared, plan), found)

"""How the loss of an AlexNet falls by epochs on one, two and four ranks: trained for real, on a small learnable set."""

import statistics

import drawing
import page
from measuring import chexbench, kept, measured, say
from verdicts import select, write_csv

RANKS = (1, 2, 4)
IMAGES = 1000
REPEATS = 3
REPEAT_S = 110  # seconds of a repeat on two cores, checkpoints included


def run_of(spec, folder, repeats):
    """The arguments of measured()."""
    return (folder / "runs/convergence", spec, [f"data.root={folder / 'runs/learnable'}", f"measure.repeats={repeats}"],
            RANKS[-1])


def train(spec, folder, budget_s):
    """Trains AlexNet for real; rows of its losses by ranks, repeat and epoch, none if the budget leaves no time."""
    report = kept(*run_of(spec, folder, REPEATS))
    if report is None:
        repeats = min(REPEATS, int(budget_s / REPEAT_S))
        if repeats < 1:
            return []
        say(f"AlexNet trained for real on up to {RANKS[-1]} ranks, about {repeats * REPEAT_S} s")
        chexbench("data", "synth", folder / "runs/learnable", "--images", IMAGES, "--size", 64)
        report = measured(*run_of(spec, folder, repeats))
    return [{"ranks": trial["ranks"], "repeat": repeat["repeat"], "epoch": epoch["epoch"],
             "training_loss": epoch["training_loss"], "validation_loss": epoch["validation_loss"],
             "mean_auroc": epoch["mean_auroc"]}
            for trial in report["trials"] for repeat in trial["repeats"] for epoch in repeat["epochs"]]


def blocks(folder, name, losses):
    title = "AlexNet: training loss by epochs, trained for real"
    if not losses:
        return
    write_csv(folder / f"{name}.csv", losses, list(losses[0]))
    yield page.heading(title)
    rows = []
    for ranks in RANKS:
        for epoch in sorted({row["epoch"] for row in losses}):
            values = [row["training_loss"] for row in select(losses, ranks=ranks, epoch=epoch)]
            rows.append({"series": f"{ranks} rank{'s' * (ranks > 1)}", "x": epoch, "low": min(values),
                         "value": statistics.median(values), "high": max(values)})
    yield from page.figure(drawing.over, folder, name, title, ("epoch", "training loss"), rows)
    yield page.paragraph(f"{IMAGES} synthetic X-rays of 64x64, 64 images a rank and step, Adam; medians, "
                         f"from the smallest to the largest of the repeats. Values: {name}.csv.")

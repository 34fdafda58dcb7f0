"""Figures of lines: images/s and efficiency over ranks, and the learning of trainings over their epochs."""

import statistics

from plotting.labels import is_emulated, marks_note, names, names_of_trials
from plotting.style import MARKERS, colour, foot, legend, line, rank_ticks
from plotting.tables import Unusable, check_new, middles, name_runs, number, point, positive, require

# Columns of losses: their words, and whether they are in the background.
CURVES = {"training_loss": ("training", True), "validation_loss": ("validation", False)}


def arms_by_ranks(trials):
    """Returns {label: trials by their number of ranks} of the arms that were measured on several."""
    found = {}
    for row, label in zip(trials, names(trials, place="ranks")):
        check_new({other["ranks"] for other in found.setdefault(label, [])}, row, "ranks", label)
        found[label].append(row)
    arms = {label: sorted(rows, key=lambda row: positive(row, "ranks")) for label, rows in found.items()
            if len(rows) > 1}
    if not arms:
        raise Unusable("no pipeline was measured at more than one number of ranks: sweep \"ranks\"")
    return arms


def draw_by_ranks(pyplot, arms, column, title, label):
    """Draws a line for each arm, next to perfect scaling from the arm's fewest ranks."""
    is_share = column == "scaling_efficiency"
    figure, axes = pyplot.subplots(figsize=(6.4, 4.2))
    for i, (name, rows) in enumerate(arms.items()):
        points = [point(row, positive(row, "ranks"), column) for row in rows]
        emulated = is_emulated(rows[0])
        line(axes, i, name, points, dashed=emulated, hollow=emulated)
        if not is_share:
            axes.plot([one["x"] for one in points], [points[0]["value"] / points[0]["x"] * one["x"] for one in points],
                      color=colour(i), linestyle=":", linewidth=1, alpha=0.7)
    rank_ticks(axes, [positive(row, "ranks") for rows in arms.values() for row in rows])
    axes.set_xlabel("ranks (one accelerator each)")
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)
    axes.grid()
    axes.set_title(title)
    axes.plot([], [], color="0.4", linestyle=":", linewidth=1, label="ideal")
    if is_share:
        axes.axhline(1, color="0.4", linestyle=":", linewidth=1)
        axes.set_ylim(top=max(1.08, axes.get_ylim()[1]))
    legend(axes)
    foot(figure, "error bars: 95 % intervals, where there are five repeats or more",
         marks_note([row for rows in arms.values() for row in rows], "hollow and dashed"))
    return figure


def draw_scaling(pyplot, trials):
    return draw_by_ranks(pyplot, arms_by_ranks(trials), "images_per_s", "Weak scaling: every rank has its own batch",
                         "images/s")


def draw_efficiency(pyplot, trials):
    trials = [row for row in trials if row["scaling_efficiency"]]
    if not trials:
        raise Unusable("no trial has a scaling efficiency: sweep \"ranks\" from 1 on; it is also empty where "
                       "\"cores_per_rank\" is \"all\" or ranks share cores")
    return draw_by_ranks(pyplot, arms_by_ranks(trials), "scaling_efficiency", "Efficiency of weak scaling",
                         "images/s / (ranks x images/s of one rank)")


def draw_update(pyplot, trials):
    trials = [row for row in trials if row.get("comm.update")]
    if not trials:
        raise Unusable("trials.csv does not tell the update schemes, because they do not differ: sweep \"comm.update\"")
    labels = {row["comm.update"] for row in trials}
    if len(labels) < 2:
        raise Unusable(f"only the update scheme {labels.pop()} has a result")
    return draw_by_ranks(pyplot, arms_by_ranks(trials), "images_per_s", "Update schemes", "images/s")


def read_epochs(runs):
    """Returns the epochs of all runs, each with the columns of its trial."""
    rows = []
    for run in runs:
        if run.has("epochs"):
            require(run.path("epochs"), run.table("epochs")[0],
                    ["trial", "repeat", "epoch", "elapsed_s", *CURVES, "mean_auroc"])
            rows += map(dict, run.rows("epochs"))
    if not rows:
        raise Unusable(f"{runs[0].path('epochs')} is not there or has no row: nothing was trained over epochs "
                       "(\"training.epochs\")")
    name_runs(rows)
    return rows


def draw_learning(pyplot, rows):
    """Draws losses by epoch, and the AUROC by epoch and by seconds, a line for each trial."""
    is_repeated = len({row["repeat"] for row in rows}) > 1
    labels = names_of_trials(rows)
    figure, (losses, scores, seconds) = pyplot.subplots(1, 3, figsize=(12.5, 4))
    for i, label in enumerate(dict.fromkeys(labels)):
        own = [row for row, other in zip(rows, labels) if other == label]
        for column, (_, is_light) in CURVES.items():
            points = middles([point(row, number(row, "epoch"), column, False) for row in own if row[column]])
            line(losses, i, None if is_light else label, points, dashed=is_light, hollow=is_light)
        scored = [row for row in own if row["mean_auroc"]]
        by_epoch = middles([point(row, number(row, "epoch"), "mean_auroc", not is_repeated) for row in scored])
        line(scores, i, label, by_epoch)
        line(seconds, i, label, [{**one, "x": median_s(scored, one["x"])} for one in by_epoch])
    for words, is_light in CURVES.values():
        losses.plot([], [], color="0.4", marker=MARKERS[0], linestyle="--" if is_light else "-", label=words,
                    markerfacecolor="white" if is_light else "0.4")
    finish_learning(losses, scores, seconds, rows)
    foot(figure, "points: medians over repeats, bars from the smallest to the largest" if is_repeated
         else "error bars: 95 % intervals over patients", "dotted: AUROC of guessing")
    return figure


def median_s(rows, epoch):
    """Returns when an epoch ended: the median of the repeats."""
    return statistics.median(number(row, "elapsed_s") for row in rows if number(row, "epoch") == epoch)


def finish_learning(losses, scores, seconds, rows):
    epochs = [number(row, "epoch") for row in rows]
    auroc = "AUROC, mean over findings (1)"
    for axes, title, across, label in ((losses, "Loss", "epoch", "binary cross-entropy"),
                                       (scores, "Validation", "epoch", auroc),
                                       (seconds, "Validation by time", "s, validations included", auroc)):
        axes.set_title(title)
        axes.set_xlabel(across)
        axes.set_ylabel(label)
        axes.grid()
        axes.legend(frameon=False, fontsize=8, handlelength=3)
    for axes in (losses, scores):
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_xlim(min(epochs) - 0.3, max(epochs) + 0.3)
    seconds.set_xlim(left=0)
    for axes in (scores, seconds):
        axes.axhline(0.5, color="0.4", linestyle=":", linewidth=1)

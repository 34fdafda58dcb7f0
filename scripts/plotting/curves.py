"""Figures of how good probabilities are: ROC curves and reliability, a panel for each finding."""

import math

from plotting.labels import names_of_trials
from plotting.style import colour, foot, legend
from plotting.tables import Unusable, middles, name_runs, point, require

# For each figure: its table, the columns of its axes with their words, and the meaning of the diagonal.
CURVES = {
    "roc": ("false_positive_rate", "false positive rate", "sensitivity", "sensitivity", "dotted: guessing"),
    "reliability": ("mean_probability", "mean probability", "share_of_positives", "share that has it",
                    "dotted: probabilities that mean what they say"),
}
MOST_COLUMNS = 4  # of panels
INCHES = 2.2  # of a panel's side


def read_curves(runs, figure):
    """Returns the points of all runs or evaluations that have a value, each with the columns of its trial."""
    across, _, along, _, _ = CURVES[figure]
    rows = []
    for run in runs:
        if run.has(figure):
            require(run.path(figure), run.table(figure)[0], ["finding", across, along])
            rows += [dict(row) for row in run.rows(figure) if row[across] and row[along]]
    if not rows:
        raise Unusable(f"{runs[0].path(figure)} is not there or has no value: it is written by a training over epochs "
                       "(\"training.epochs\") and by chexbench evaluate --data ROOT --output DIR")
    name_runs(rows)
    return rows


def draw_curves(pyplot, rows, figure_name):
    """Draws a panel for each finding, with a line for each trial or evaluation."""
    across, across_words, along, along_words, diagonal = CURVES[figure_name]
    labels = names_of_trials(rows)
    order = list(dict.fromkeys(labels))
    findings = list(dict.fromkeys(row["finding"] for row in rows))
    columns = min(MOST_COLUMNS, len(findings))
    lines = math.ceil(len(findings) / columns)
    figure, panels = pyplot.subplots(lines, columns, figsize=(INCHES * columns, INCHES * lines + 0.5), squeeze=False)
    has_band = is_repeated = False
    for axes, finding in zip(panels.flat, findings):
        for i, label in enumerate(order):
            own = [row for row, other in zip(rows, labels) if other == label and row["finding"] == finding]
            repeated = len({row.get("repeat") for row in own}) > 1
            points = [point(row, float(row[across]), along, not repeated) for row in own]
            points = middles(points) if figure_name == "roc" else sorted(points, key=lambda one: one["x"])
            has_band = draw_line(axes, i, label, points) or has_band
            is_repeated = is_repeated or repeated
        finish_panel(axes, finding)
    for axes in list(panels.flat)[len(findings):]:
        axes.axis("off")
    for axes in panels[:, 0]:
        axes.set_ylabel(along_words)
    legend(panels[0, -1], beside=True)
    foot(figure, f"across: {across_words}", diagonal, BANDS[is_repeated] if has_band else "")
    return figure


BANDS = {False: "bands: 95 % intervals over patients, at each point alone",
         True: "medians over repeats, bands from the smallest to the largest"}


def draw_line(axes, index, label, points):
    """Returns whether the line has a band."""
    xs = [one["x"] for one in points]
    axes.plot(xs, [one["value"] for one in points], color=colour(index), linewidth=1.2, label=label,
              marker="o" if len(points) <= 10 else None, markersize=3)
    bounded = [one for one in points if one["low"] is not None and one["high"] is not None]
    axes.fill_between([one["x"] for one in bounded], [one["low"] for one in bounded],
                      [one["high"] for one in bounded], color=colour(index), alpha=0.2, linewidth=0)
    return bool(bounded)


def finish_panel(axes, finding):
    axes.plot([0, 1], [0, 1], color="0.4", linestyle=":", linewidth=1)
    axes.set_title(finding, fontsize=9)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.set_box_aspect(1)
    axes.grid()

#!/usr/bin/env python3
"""Draws the figures of the article from the trials.csv of one or many runs, as PNG, SVG or PDF.

  scripts/plot.py RUN... --figure throughput --output FILE.svg

A RUN is the folder of a run, or its trials.csv. Figures:
  throughput   images/s of each trial, with 95 % intervals
  scaling      images/s by ranks, beside what a perfect scaling from the fewest ranks would give
  formats      how many times faster a pipeline is from TFRecords than from PNGs
  time         where the time of a step went

Trials of an emulated accelerator are hatched (lines: hollow and dashed) and named so. Trials without a result are left
out.
Needs Python 3.9 and matplotlib from 3.6 on: apt-get install python3-matplotlib, or in an environment of its own
  python3 -m venv build/plot-venv && build/plot-venv/bin/pip install matplotlib==3.9.4
  build/plot-venv/bin/python scripts/plot.py ...
Exit status: 0 drawn, 2 usage or matplotlib is missing, 3 the runs do not hold what the figure needs, 6 the file cannot
be written.
"""

import argparse
import csv
import sys
from pathlib import Path

# What tells trials apart, with the words for it in a label; pipeline and format stand there alone.
AXES = {"run": "", "model": "", "pipeline": "", "format": "", "engine": "", "precision": "", "batch_size": "batch ",
        "image_size": "size ", "deliver": "", "decoder": "", "ranks": "ranks "}
PARTS = {"wait_share": "waiting for a batch", "upload_share": "upload", "compute_share": "compute",
         "exposed_communication_share": "communication not hidden", "update_share": "update", "other_share": "other"}
# Okabe and Ito's, which colour-blind readers can tell apart.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#999999"]
PART_COLOURS = ["#D55E00", "#F0E442", "#0072B2", "#CC79A7", "#56B4E9", "#BBBBBB"]
HATCH = "////"


class Unusable(Exception):
    """The runs do not hold what the figure needs."""


def read_trials(run, columns):
    """The trials of a run that have a result; `columns` must be there."""
    path = run / "trials.csv" if run.is_dir() else run
    try:
        with open(path, newline="") as file:
            reader = csv.DictReader(file)
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Unusable(f"{path}: cannot read it: {getattr(error, 'strerror', None) or error}") from error
    missing = [name for name in columns if name not in (reader.fieldnames or [])]
    if missing:
        raise Unusable(f"{path} lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}: "
                       "is it the trials.csv of a run of chexbench?")
    for row in rows:
        row["run"] = str(path.parent)
    return [row for row in rows if row["images_per_s"]]


def number(row, column):
    try:
        return float(row[column])
    except ValueError as error:
        raise Unusable(
            f"trial '{row['trial']}' of {row['run']}: {column} is '{row[column]}', and not a number"
        ) from error


def is_emulated(row):
    return row["emulated"] == "true"


def speed_mark(row):
    """What must stand beside an emulated speed that no source gives."""
    return ", computed speed" if row.get("step_time_computed") == "true" else ""


def name_runs(trials):
    """Runs by the name of their folder, unless two have the same."""
    folders = {row["run"]: Path(row["run"]).resolve().name for row in trials}
    if len(set(folders.values())) == len(folders):
        for row in trials:
            row["run"] = folders[row["run"]]


def word(row, axis):
    if axis == "engine" and row[axis] == "none":
        return "input alone"
    return AXES[axis] + (row.get(axis) or "-")


def names(trials, without=()):
    """A label for each trial: what differs between them, or where nothing does, the pipeline."""
    axes = [axis for axis in AXES if axis not in without and len({row.get(axis) for row in trials}) > 1]
    labels = []
    for row in trials:
        words = [word(row, axis) for axis in axes or ["pipeline"]]
        if is_emulated(row) and "engine" not in axes:
            words.append(f"(emulated{speed_mark(row)})")
        labels.append(" ".join(words))
    if not without and len(set(labels)) < len(labels):  # they differ in what only the trial's name tells
        return [f"{label}: {row['trial']}" for label, row in zip(labels, trials)]
    return labels


def check_distinct(rows, axis, label):
    """Two trials of one label and one place would be mixed up."""
    places = [row[axis] for row in rows]
    for place in places:
        if places.count(place) > 1:
            raise Unusable(
                f"'{label}' was measured twice at {axis} {place}, and trials.csv does not tell what differs: "
                "give one run, of one of the two"
            )


def interval(row, value):
    """Lengths of the error bar below and above; none without an interval."""
    if not row["images_per_s_ci95_low"] or not row["images_per_s_ci95_high"]:
        return 0, 0
    return (max(0, value - number(row, "images_per_s_ci95_low")),
            max(0, number(row, "images_per_s_ci95_high") - value))


def bars(plt, labels, title):
    """Axes for horizontal bars, the first on top, and their places."""
    longest = max(len(label) for label in labels)
    figure, axes = plt.subplots(figsize=(5.2 + 0.075 * longest, 1.5 + 0.36 * len(labels)))
    places = list(range(len(labels)))
    axes.set_yticks(places, labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.set_title(title)
    return figure, axes, places


def hatch(row):
    return HATCH if is_emulated(row) else None


def foot(figure, trials, text="", mark="hatched"):
    """What a reader must know of the figure, below it."""
    sources = sorted({row.get("engine", "") + speed_mark(row) for row in trials if is_emulated(row)})
    marked = f"{mark}: emulated accelerator ({', '.join(sources)})" if sources else ""
    note = "; ".join(part for part in (text, marked) if part)
    if note:
        figure.supxlabel(note, fontsize=7, color="0.35")


def draw_throughput(plt, trials):
    labels = names(trials)
    figure, axes, places = bars(plt, labels, "Training throughput")
    colours = {fmt: COLOURS[i % len(COLOURS)] for i, fmt in enumerate(sorted({row["format"] for row in trials}))}
    most = max(number(row, "images_per_s") + interval(row, number(row, "images_per_s"))[1] for row in trials)
    for place, row in zip(places, trials):
        value = number(row, "images_per_s")
        low, high = interval(row, value)
        axes.barh(place, value, height=0.72, color=colours[row["format"]], hatch=hatch(row), edgecolor="white",
                  linewidth=0)
        if low or high:
            axes.errorbar(value, place, xerr=[[low], [high]], color="black", capsize=2.5, linewidth=1)
        axes.annotate(f"{value:.3g}" if value < 100 else f"{value:,.0f}", (value + high, place), xytext=(4, 0),
                      textcoords="offset points", va="center", fontsize=8)
    axes.set_xlim(0, most * 1.13)
    axes.set_xlabel("images/s")
    if len(colours) > 1:
        handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in colours.values()]
        figure.legend(handles, colours, loc="outside upper right" if has_outside(plt) else "upper right", ncol=4,
                      frameon=False, fontsize=8)
    foot(figure, trials, "bars: medians over repeats, with 95 % intervals where there are five or more")
    return figure


def has_outside(plt):
    """matplotlib 3.7 and later lay a legend beside the axes by themselves."""
    return tuple(map(int, plt.matplotlib.__version__.split(".")[:2])) >= (3, 7)


def draw_scaling(plt, trials):
    arms = {}
    for row, label in zip(trials, names(trials, without=("ranks",))):
        arms.setdefault(label, []).append(row)
    for label, rows in arms.items():
        check_distinct(rows, "ranks", label)
    arms = {label: sorted(rows, key=lambda row: number(row, "ranks")) for label, rows in arms.items()}
    arms = {label: rows for label, rows in arms.items() if len({row["ranks"] for row in rows}) > 1}
    if not arms:
        raise Unusable("no pipeline was measured at more than one number of ranks: sweep \"ranks\"")
    figure, axes = plt.subplots(figsize=(6.4, 4.2))
    for i, (label, rows) in enumerate(arms.items()):
        colour = COLOURS[i % len(COLOURS)]
        ranks = [number(row, "ranks") for row in rows]
        values = [number(row, "images_per_s") for row in rows]
        errors = list(zip(*(interval(row, value) for row, value in zip(rows, values))))
        emulated = is_emulated(rows[0])
        axes.plot(ranks, [values[0] / ranks[0] * n for n in ranks], color=colour, linestyle=":", linewidth=1, alpha=0.7)
        axes.errorbar(ranks, values, yerr=errors, color=colour, marker="osD^v"[i % 5], capsize=3, label=label,
                      linestyle="--" if emulated else "-", markerfacecolor="white" if emulated else colour)
    axes.plot([], [], color="0.4", linestyle=":", linewidth=1, label="ideal")
    every = sorted({number(row, "ranks") for rows in arms.values() for row in rows})
    axes.set_xticks(every, [f"{n:g}" for n in every])
    axes.set_xlabel("ranks (one accelerator each)")
    axes.set_ylabel("images/s")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid()
    axes.legend(frameon=False, fontsize=8, handlelength=3.5)
    axes.set_title("Weak scaling: every rank has its own batch")
    foot(figure, [row for rows in arms.values() for row in rows], mark="hollow and dashed")
    return figure


def draw_formats(plt, trials):
    pairs = []
    for label in dict.fromkeys(labels := names(trials, without=("format",))):
        rows = [row for row, other in zip(trials, labels) if other == label]
        check_distinct(rows, "format", label)
        by_format = {row["format"]: row for row in rows}
        if {"png", "tfrecord"} <= by_format.keys():
            pairs.append((label, by_format["png"], by_format["tfrecord"]))
    if not pairs:
        raise Unusable("no trial was measured from PNGs and from TFRecords alike: sweep \"data.format\"")
    figure, axes, places = bars(plt, [label for label, _, _ in pairs], "TFRecords against PNGs")
    for place, (_, png, tfrecord) in zip(places, pairs):
        base, value = number(png, "images_per_s"), number(tfrecord, "images_per_s")
        (png_below, png_above), (below, above) = interval(png, base), interval(tfrecord, value)
        ratio = value / base
        axes.barh(place, ratio, height=0.6, color=COLOURS[0], hatch=hatch(tfrecord), edgecolor="white", linewidth=0)
        end = ratio
        if below + above + png_below + png_above > 0 and base > png_below:
            end = (value + above) / (base - png_below)
            axes.errorbar(ratio, place, xerr=[[ratio - (value - below) / (base + png_above)], [end - ratio]],
                          color="black", capsize=2.5, linewidth=1)
        axes.annotate(
            f"{ratio:.2f} x", (end, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8
        )
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xlim(0, axes.get_xlim()[1] * 1.12)
    axes.set_xlabel("images/s from TFRecords / images/s from PNGs")
    foot(figure, [row for pair in pairs for row in pair[1:]],
         "error bars: as far as the two 95 % intervals allow")
    return figure


def draw_time(plt, trials):
    figure, axes, places = bars(plt, names(trials), "Where the time of a step went")
    left = [0.0] * len(trials)
    for (column, part), colour in zip(PARTS.items(), PART_COLOURS):
        shares = [100 * number(row, column) if row[column] else 0 for row in trials]
        if max(shares) < 0.05:
            continue
        for i, row in enumerate(trials):
            axes.barh(
                places[i],
                shares[i],
                left=left[i],
                height=0.72,
                color=colour,
                hatch=hatch(row),
                edgecolor="white",
                linewidth=0,
                label=part if i == 0 else None,
            )
            if shares[i] >= 8:
                axes.text(
                    left[i] + shares[i] / 2,
                    places[i],
                    f"{shares[i]:.0f} %",
                    ha="center",
                    va="center",
                    fontsize=8,
                    bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1},
                )
            left[i] += shares[i]
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the step")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=8)
    foot(figure, trials)
    return figure


# What draws each figure, and the columns that it needs beside those that tell trials apart.
COMMON = ["trial", "pipeline", "format", "engine", "ranks", "images_per_s", "emulated"]
INTERVAL = ["images_per_s_ci95_low", "images_per_s_ci95_high"]
FIGURES = {"throughput": (draw_throughput, INTERVAL), "scaling": (draw_scaling, INTERVAL),
           "formats": (draw_formats, INTERVAL), "time": (draw_time, list(PARTS))}
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.titlesize": 10,
    "grid.color": "0.88",
    "grid.linewidth": 0.7,
    "hatch.color": "white",
    "hatch.linewidth": 0.8,
    "svg.fonttype": "none",
    "svg.hashsalt": "chexbench",
    "figure.constrained_layout.use": True,
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", metavar="RUN", nargs="+", type=Path)
    parser.add_argument("--figure", required=True, choices=FIGURES)
    parser.add_argument(
        "--output", required=True, type=Path, metavar="FILE", help="its ending says which kind: .png, .svg, .pdf"
    )
    arguments = parser.parse_args()
    if arguments.output.suffix not in (".png", ".svg", ".pdf"):
        parser.error(f"--output {arguments.output}: it must end in .png, .svg or .pdf")
    return arguments


def main():
    arguments = parse_arguments()
    draw, columns = FIGURES[arguments.figure]
    try:
        trials = [row for run in arguments.runs for row in read_trials(run, COMMON + columns)]
        if not trials:
            raise Unusable("no trial of these runs has a result")
        name_runs(trials)
        try:
            import matplotlib
        except ImportError:
            print("plot.py: needs matplotlib; see scripts/plot.py --help", file=sys.stderr)
            return 2
        matplotlib.use("agg")
        from matplotlib import pyplot
        pyplot.rcParams.update(STYLE)
        figure = draw(pyplot, trials)
    except Unusable as error:
        print(f"plot.py: {error}", file=sys.stderr)
        return 3
    dates = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}  # the same input gives the same file
    try:
        figure.savefig(arguments.output, dpi=160, metadata=dates[arguments.output.suffix])
    except OSError as error:
        print(f"plot.py: {arguments.output}: cannot write it: {error.strerror}", file=sys.stderr)
        return 6
    return 0


if __name__ == "__main__":
    sys.exit(main())

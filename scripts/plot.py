#!/usr/bin/env python3
"""Draws figures from the CSVs of one or many runs, as SVG, PNG or PDF.

  scripts/plot.py RUN... --figure throughput
  scripts/plot.py RUN... --y COLUMN --x COLUMN [--series COLUMN]... [--table TABLE]
  scripts/plot.py [RUN...] --figure prediction [--predicted FILE]... [--published FILE]...

A RUN is the folder of a run, or one of its CSVs. Figures:
  throughput   images/s of each trial, with 95 % intervals
  scaling      images/s by ranks, next to perfect scaling from the fewest ranks
  efficiency   images/s of a rank by ranks, as a share of those of one rank alone
  formats      how many times faster a pipeline is from TFRecords than from PNGs
  storage      images/s by place, store and format; ready-made batches, from a separate run, are the ceiling
  time         where the time of a step went
  utilization  whether the accelerator was busy or waited, with NVML's utilization and MLPerf Storage's AU
  update       images/s by ranks for each update scheme ("comm.update")
  learning     losses and AUROC by epoch, from epochs.csv
  roc          ROC curves of each finding with their bands, of a training over epochs or of chexbench evaluate
  reliability  whether the probabilities of each finding mean what they say, of the same
  tradeoff     mean AUROC against images/s of each trial over epochs: what a larger batch costs
  prediction   images/s by ranks as measured, as predicted and as published. --predicted takes what chexbench predict
               prints with --format csv or json; --published takes a CSV with the columns ranks and images_per_s, and
               device, model, batch_size as far as known. Published rows of other arms are left out. A column `kind`
               (measured, emulated, predicted, published) counts more than the option.

--y and --x draw any column over any other one: lines over numbers, grouped bars over words. The columns of TABLE
(trials, repeats, steps, epochs, aurocs, ops, gpu) are those of TABLE.csv; without it, the first table that has both is
taken. --x and --series may also be columns of trials.csv, which each row of another table gets from its trial. Rows
that only --series leaves together become one point, their median, with bars from the smallest to the largest.

--output FILE.svg, .png or .pdf writes one file; FILE without an ending writes FILE.svg and FILE.png. By default FILE is
the figure's name, in this folder. Error bars are the 95 % intervals of the table (COLUMN_ci95_low, _high). Trials of an
emulated accelerator or a scale model are hatched (lines: hollow and dashed; prediction: half filled) and labelled as
such. Trials without a result are left out.
Needs Python 3.9 and matplotlib from 3.6 on: apt-get install python3-matplotlib, or, with Python 3.11, in a
virtual environment
  python3 -m venv build/plot-venv
  build/plot-venv/bin/pip install --require-hashes -r scripts/requirements/plot.txt
  build/plot-venv/bin/python scripts/plot.py ...
Exit status: 0 drawn, 2 usage or matplotlib is missing, 3 the runs lack data that the figure needs, 6 the file cannot be
written.
"""

import argparse
import sys
from pathlib import Path

from plotting import bars, columns, curves, lines, prediction, tradeoff
from plotting.style import HOW_TO_GET_MATPLOTLIB, load_pyplot, save
from plotting.tables import Run, Unusable, read_trials

# The columns that a figure of trials needs: those that distinguish trials, and its own.
COMMON = ["trial", "pipeline", "format", "engine", "ranks", "images_per_s", "emulated"]
INTERVAL = ["images_per_s_ci95_low", "images_per_s_ci95_high"]
OF_TRIALS = {"throughput": (bars.draw_throughput, INTERVAL), "scaling": (lines.draw_scaling, INTERVAL),
             "efficiency": (lines.draw_efficiency, ["scaling_efficiency"]), "formats": (bars.draw_formats, INTERVAL),
             "storage": (bars.draw_storage, INTERVAL), "time": (bars.draw_time, list(bars.PARTS)),
             "utilization": (bars.draw_utilization, list(bars.BUSY_PARTS)), "update": (lines.draw_update, INTERVAL),
             "tradeoff": (tradeoff.draw_tradeoff, tradeoff.COLUMNS)}
FIGURES = (*OF_TRIALS, "learning", *curves.CURVES, "prediction")
ENDINGS = (".svg", ".png", ".pdf")


def parse_arguments(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", metavar="RUN", nargs="*", type=Path)
    parser.add_argument("--figure", choices=FIGURES)
    parser.add_argument("--y", metavar="COLUMN")
    parser.add_argument("--x", metavar="COLUMN")
    parser.add_argument("--series", metavar="COLUMN", action="append", default=[],
                        help="a line or a bar for each value of it; by default, for what tells trials apart")
    parser.add_argument("--table", metavar="TABLE")
    parser.add_argument("--predicted", metavar="FILE", action="append", default=[], type=Path)
    parser.add_argument("--published", metavar="FILE", action="append", default=[], type=Path)
    parser.add_argument("--output", type=Path, metavar="FILE",
                        help="its ending says which kind: .svg, .png, .pdf; none: .svg and .png")
    arguments = parser.parse_args(words)
    if mistake := find_mistake(arguments):
        parser.error(mistake)
    return arguments


def find_mistake(arguments):
    """Returns what is wrong with arguments that are each right, or None."""
    if arguments.output and arguments.output.suffix not in ("", *ENDINGS):
        return f"--output {arguments.output}: it must end in .png, .svg or .pdf, or have no ending"
    if arguments.figure and (arguments.y or arguments.x or arguments.series or arguments.table):
        return f"--figure {arguments.figure} chooses its columns by itself: leave --y, --x, --series and --table out"
    if not arguments.figure and not (arguments.y and arguments.x):
        return f"give --figure ({', '.join(FIGURES)}), or --y and --x"
    if arguments.figure != "prediction" and (arguments.predicted or arguments.published):
        return "--predicted and --published are for --figure prediction"
    if not arguments.runs and not (arguments.predicted or arguments.published):
        return "give a RUN: the folder of a run, or its trials.csv"
    return None


def read(arguments):
    """Reads the figure's data; returns a function that draws it, given pyplot."""
    runs = [Run(path) for path in arguments.runs]
    if arguments.figure in OF_TRIALS:
        draw, needed = OF_TRIALS[arguments.figure]
        trials = read_trials(runs, COMMON + needed)
        return lambda pyplot: draw(pyplot, trials)
    if arguments.figure == "learning":
        epochs = lines.read_epochs(runs)
        return lambda pyplot: lines.draw_learning(pyplot, epochs)
    if arguments.figure in curves.CURVES:
        points = curves.read_curves(runs, arguments.figure)
        return lambda pyplot: curves.draw_curves(pyplot, points, arguments.figure)
    if arguments.figure == "prediction":
        points = prediction.read_points(runs, arguments.predicted, arguments.published)
        return lambda pyplot: prediction.draw_prediction(pyplot, *points)
    selection = columns.select(runs, arguments.y, arguments.x, arguments.series, arguments.table)
    return lambda pyplot: columns.draw_columns(pyplot, selection)


def outputs(arguments):
    """Returns the files to write."""
    base = arguments.output or Path(arguments.figure or f"{arguments.y}-by-{arguments.x}")
    return [base] if base.suffix in ENDINGS else [base.with_name(base.name + ending) for ending in (".svg", ".png")]


def main(words=None):
    arguments = parse_arguments(words)
    try:
        draw = read(arguments)
        pyplot = load_pyplot()
        if pyplot is None:
            print(f"plot.py: {HOW_TO_GET_MATPLOTLIB}; see also scripts/plot.py --help", file=sys.stderr)
            return 2
        figure = draw(pyplot)
    except Unusable as error:
        print(f"plot.py: {error}", file=sys.stderr)
        return 3
    for path in outputs(arguments):
        try:
            save(figure, path)
        except OSError as error:
            print(f"plot.py: {path}: cannot write it: {error.strerror}", file=sys.stderr)
            return 6
        print(path)
    pyplot.close(figure)
    return 0


if __name__ == "__main__":
    sys.exit(main())

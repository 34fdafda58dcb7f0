"""Draws any column of a run's CSVs over any other one."""

import math
from collections import Counter
from dataclasses import dataclass

from plotting.labels import axis_title, is_emulated, mark, marks_note, names, names_of_trials, word
from plotting.style import HATCH, colour, error_lengths, foot, legend, line, rank_ticks
from plotting.tables import Unusable, check_has, find_table, middles, name_runs, number, point

COUNTED = ("ranks", "rank", "repeat", "epoch")  # small whole numbers, each worth a tick
MOST_TICKS = 12
ROWS_OF_QUARTILES = 10  # at one place, from which error bars end at the quartiles
BAR_INCHES = 0.13
WIDEST_INCHES = 14
LARGE = ("_bytes", "_bytes_per_s", "_hz")
FAR_FROM_0 = 0.7  # of the largest value, above which the axis need not start at 0
LONGEST_ROW_OF_WORDS = 60  # characters of all of them


def is_number(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


@dataclass
class Selection:
    """Rows of a table that have a value in both columns, and the label of each."""
    source: str  # name of the file
    y: str
    x: str
    has_interval: bool
    rows: list
    labels: list


def select(runs, y, x, series=(), asked=None):
    """Reads the data of `draw_columns`."""
    table = find_table(runs, y, [x, *series], asked)
    for run in runs:
        for name in (x, *series):
            if name != "run" and name not in run.columns(table):
                check_has(run, "trials", name)
    rows = [dict(row) for run in runs for row in run.rows(table)]
    source = runs[0].path(table).name
    if not rows:
        raise Unusable(f"{runs[0].path(table)} has no row: nothing was measured")
    filled = [row for row in rows if row[y] and row.get(x)]  # a row whose trial is not in trials.csv lacks its columns
    if not filled:
        empty, rest = (x, f" that has '{y}'") if any(row[y] for row in rows) else (y, "")
        raise Unusable(f"the column '{empty}' is empty in each row of {source}{rest}")
    word_row = next((row for row in filled if not is_number(row[y])), None)
    if word_row:
        raise Unusable(f"the column '{y}' of {source} holds words, such as '{word_row[y]}': only numbers can be "
                       "drawn; choose it as --x or --series")
    name_runs(filled)
    has_interval = all(f"{y}_ci95_{end}" in run.columns(table) for run in runs for end in ("low", "high"))
    return Selection(source, y, x, has_interval, filled, label_rows(filled, table, x, series))


def label_rows(rows, table, x, series):
    """Returns the label of each row's line: the values of `series`, or else the differences between trials."""
    if series:
        return [" ".join([*(word(row, name) for name in series), mark(row)]).strip() for row in rows]
    return names(rows, place=x) if table == "trials" else names_of_trials(rows, place=x)


def place_rows(rows, x):
    """Returns the place of each row on the x axis, and the words at the places if they are not numbers."""
    if all(is_number(row[x]) for row in rows):
        return [number(row, x) for row in rows], None
    words = list(dict.fromkeys(row[x] for row in rows))
    return [words.index(row[x]) for row in rows], words


def draw_columns(pyplot, selection):
    """Draws one column over the other: lines over numbers, bars over words."""
    y, x, rows, labels = selection.y, selection.x, selection.rows, selection.labels
    places, words = place_rows(rows, x)
    most = max(Counter(zip(labels, places)).values())
    is_spread = most >= ROWS_OF_QUARTILES
    has_interval = selection.has_interval and most == 1
    points = [point(row, place, y, has_interval) for row, place in zip(rows, places)]
    arms = list(dict.fromkeys(labels))
    width = BAR_INCHES * len(words) * len(arms) if words else 0
    figure, axes = pyplot.subplots(figsize=(min(max(6.4, width), WIDEST_INCHES), 4.2))
    for i, label in enumerate(arms):
        own = [index for index, other in enumerate(labels) if other == label]
        draw = draw_bars if words else draw_line
        draw(axes, i, len(arms), label, middles([points[index] for index in own], is_spread), is_emulated(rows[own[0]]))
    finish(axes, y, x, points, words)
    if len(arms) > 1 or any(map(is_emulated, rows)):
        legend(axes)
    foot(figure, f"from {selection.source}",
         f"medians of up to {most} rows, with {'quartiles' if is_spread else 'the smallest and the largest'}"
         if most > 1 else "error bars: 95 % intervals" if has_interval else "",
         marks_note(rows, "hatched" if words else "hollow and dashed"))
    return figure


def finish(axes, y, x, points, words):
    """Labels the axes. The value axis starts at 0, unless the values are far from it or below it."""
    from matplotlib.ticker import EngFormatter
    axes.set_xlabel(axis_title(x))
    axes.set_ylabel(axis_title(y))
    axes.set_title(f"{y} over {x}")
    axes.grid(axis="y" if words else "both")
    values = [one["value"] for one in points]
    if min(values) >= 0 and (words or min(values) < FAR_FROM_0 * max(values)):
        axes.set_ylim(bottom=0)
    if words:
        is_long = sum(map(len, words)) > LONGEST_ROW_OF_WORDS
        axes.set_xticks(range(len(words)), words, rotation=30 if is_long else 0, ha="right" if is_long else "center")
    elif x in COUNTED and len({one["x"] for one in points}) <= MOST_TICKS:
        rank_ticks(axes, [one["x"] for one in points])
    elif all(one["x"] == int(one["x"]) for one in points):
        axes.xaxis.get_major_locator().set_params(integer=True)
    if y.endswith(LARGE):
        axes.yaxis.set_major_formatter(EngFormatter())
    if x.endswith(LARGE) and not words:
        axes.xaxis.set_major_formatter(EngFormatter())


def draw_line(axes, index, _, label, points, emulated):
    line(axes, index, label, points, dashed=emulated, hollow=emulated)


def draw_bars(axes, index, count, label, points, emulated):
    """Draws the bars of one of `count` arms, next to those of the others."""
    width = 0.8 / count
    xs, values = [one["x"] + (index - (count - 1) / 2) * width for one in points], [one["value"] for one in points]
    errors = [list(lengths) for lengths in zip(*map(error_lengths, points))]
    axes.bar(xs, values, width=0.92 * width, color=colour(index), label=label, hatch=HATCH if emulated else None,
             edgecolor="white", linewidth=0)
    if any(map(any, errors)):
        axes.errorbar(xs, values, yerr=errors, color="black", linestyle="none", capsize=2.5, linewidth=1)

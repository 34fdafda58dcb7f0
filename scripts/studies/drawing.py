"""Draws the figures of a study: measured points are filled, predicted ones hollow, published ones are stars."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from plotting import ranks, style  # noqa: E402

pyplot = style.load_pyplot()
HOW_TO_DRAW = f"No figures: {style.HOW_TO_GET_MATPLOTLIB}"


def save(figure, folder, name):
    for ending in (".svg", ".png"):
        style.save(figure, folder / f"{name}{ending}")
    pyplot.close(figure)


def by_ranks(folder, name, title, labels, rows, ideal=False, published=(), log=False):
    """Draws lines over the number of ranks. A row has series, ranks, kind, value, and low and high or None.

    `labels` are those of the two axes. `log` scales both by logarithms, for many ranks.
    """
    figure, axes = pyplot.subplots(figsize=(6.4, 4.2))
    ranks.draw_points(axes, rows, ideal, published, log)
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.set_title(title)
    style.foot(figure, "filled: measured by a scale model" if any(row["kind"] == "measured" for row in rows) else "",
               "hollow: predicted", "dotted: linear" if ideal else "", "stars: published" if published else "")
    save(figure, folder, name)


def bars(folder, name, title, label, key, rows):
    """Draws a horizontal bar for each row, from the top: its name under `key`, value, and low and high or None."""
    figure, axes, places = style.bar_axes(pyplot, [row[key] for row in rows], "")
    for place, row in zip(places, rows):
        errors = [[length] for length in style.error_lengths(row)] if row["low"] is not None else None
        axes.barh(place, row["value"], xerr=errors, capsize=3, height=0.65, color=row.get("colour", style.colour(0)))
    axes.set_xlabel(label)
    axes.set_title(title, loc="right")
    save(figure, folder, name)


def lanes(folder, name, title, words, spans, length_s):
    """Draws spans (lane, begin_s, end_s) as bars over time, a lane above the other in the order of `words`."""
    figure, axes = pyplot.subplots(figsize=(8, 2.2))
    for place, lane in enumerate(words):
        found = [(span["begin_s"], span["end_s"] - span["begin_s"]) for span in spans if span["lane"] == lane]
        axes.broken_barh(found, (place - 0.35, 0.7), facecolor=style.colour(place), edgecolor="white")
    axes.set_yticks(range(len(words)), list(words.values()))
    axes.invert_yaxis()
    axes.set_xlim(0, length_s)
    axes.set_xlabel("seconds")
    axes.set_title(title, loc="right", fontsize=10)
    figure.tight_layout()
    save(figure, folder, name)


def over(folder, name, title, labels, rows, log=False):
    """Draws a line for each series. A row has series, x, value, low and high; `labels` are of the two axes.

    `log` scales both by logarithms.
    """
    figure, axes = pyplot.subplots(figsize=(6.4, 4.2))
    for i, one in enumerate(dict.fromkeys(row["series"] for row in rows)):
        style.line(axes, i, one, [row for row in rows if row["series"] == one])
    if log:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
    style.rank_ticks(axes, [row["x"] for row in rows])
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.set_title(title)
    axes.grid()
    style.legend(axes)
    save(figure, folder, name)

"""Draws the figures of a study: measured points are filled, predicted ones hollow, published ones are stars."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from plot import COLOURS, STYLE  # noqa: E402

FACE = {"measured": None, "predicted": "white"}
try:
    import matplotlib
    matplotlib.use("agg")
    from matplotlib import pyplot
    pyplot.rcParams.update(STYLE)
except ImportError:
    pyplot = None

HOW_TO_DRAW = ("No figures: this Python has no matplotlib. apt-get install python3-matplotlib, and start the script "
               "again with /usr/bin/python3")


def save(figure, folder, name):
    for ending, metadata in (("svg", {"Date": None}), ("png", {})):
        figure.savefig(folder / f"{name}.{ending}", dpi=160, metadata=metadata)
    pyplot.close(figure)


def by_ranks(folder, name, title, labels, rows, ideal=False, published=(), log=False):
    """Draws lines over the number of ranks. A row has series, ranks, kind, value, and low and high or None.

    `labels` are those of the two axes. `log` scales both by logarithms, for many ranks. A published row with a series
    of the lines as "of" has its colour.
    """
    figure, axes = pyplot.subplots(figsize=(6.4, 4.2))
    series = list(dict.fromkeys(row["series"] for row in rows))
    for i, one in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        points = sorted((row for row in rows if row["series"] == one), key=lambda row: row["ranks"])
        marker = "osD^v"[i % 5]
        axes.plot([row["ranks"] for row in points], [row["value"] for row in points], color=colour, linewidth=1.2,
                  linestyle="--", marker=marker, markerfacecolor="white", label=one)
        for row in points:
            bars = [[row["value"] - row["low"]], [row["high"] - row["value"]]] if row["low"] is not None else None
            axes.errorbar(row["ranks"], row["value"], yerr=bars, color=colour, marker=marker, capsize=3,
                          markerfacecolor=FACE[row["kind"]] or colour)
        if ideal:
            first = points[0]
            axes.plot([row["ranks"] for row in points], [first["value"] * row["ranks"] / first["ranks"]
                                                         for row in points], color=colour, linestyle=":", linewidth=1)
    for i, one in enumerate(dict.fromkeys(row["series"] for row in published)):
        grey, mark = ("black", "0.55", "0.3")[i % 3], {"marker": "*PX"[i % 3], "markersize": (10, 7, 7)[i % 3],
                                                       "linestyle": "none"}
        for row in published:
            if row["series"] == one:
                colour = COLOURS[series.index(row["of"]) % len(COLOURS)] if row.get("of") in series else grey
                axes.plot(row["ranks"], row["value"], color=colour, markeredgecolor="black", markeredgewidth=0.4,
                          **mark)
        axes.plot([], [], color=grey, label=f"published: {one}", **mark)
    ranks = sorted({row["ranks"] for row in rows})
    if log:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
    axes.set_xticks(ranks, [str(n) for n in ranks])
    if log:
        axes.minorticks_off()
    else:
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.set_title(title)
    axes.grid()
    axes.legend(frameon=False, fontsize=8)
    measured = any(row["kind"] == "measured" for row in rows)
    figure.supxlabel(("filled: measured by a scale model; " if measured else "") + "hollow: predicted"
                     + ("; dotted: linear" if ideal else "") + ("; stars and crosses: published" if published else ""),
                     fontsize=7, color="0.35")
    save(figure, folder, name)


def bars(folder, name, title, label, key, rows):
    """Draws a horizontal bar for each row, from the top: its name under `key`, value, and low and high or None.

    A row may have a colour, and a kind: predicted bars are hollow.
    """
    figure, axes = pyplot.subplots(figsize=(6.4, 0.8 + 0.42 * len(rows)))
    for place, row in enumerate(rows):
        bounds = [[row["value"] - row["low"]], [row["high"] - row["value"]]] if row["low"] is not None else None
        colour = row.get("colour", COLOURS[0])
        axes.barh(place, row["value"], xerr=bounds, capsize=3, height=0.65, edgecolor=colour,
                  color=FACE.get(row.get("kind")) or colour)
    axes.set_yticks(range(len(rows)), [row[key] for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel(label)
    axes.set_title(title, loc="right")
    axes.grid(axis="x")
    figure.tight_layout()
    save(figure, folder, name)


def stacked(folder, name, title, label, parts, rows):
    """Draws a horizontal bar for each row, from the top, of its `parts`, one after the other. A row has name, parts."""
    figure, axes = pyplot.subplots(figsize=(6.4, 1.2 + 0.42 * len(rows)))
    for number, part in enumerate(parts):
        axes.barh(range(len(rows)), [row["parts"][number] for row in rows], height=0.65, color=COLOURS[number],
                  left=[sum(row["parts"][:number]) for row in rows], label=part)
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel(label)
    axes.set_title(title, loc="right")
    axes.grid(axis="x")
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    save(figure, folder, name)


def grouped(folder, name, title, label, rows, ceiling=None):
    """Draws bars side by side in groups. A row has group, series, value, low and high or None, and kind.

    Predicted bars are hollow, and a published value is a star at the place of its bar. `ceiling` is a line over all.
    """
    figure, axes = pyplot.subplots()
    groups, series = (list(dict.fromkeys(row[key] for row in rows)) for key in ("group", "series"))
    figure.set_size_inches(max(6.4, 1.1 * len(groups)), 4.2)
    width = 0.8 / len(series)
    for row in rows:
        place = groups.index(row["group"]) + width * (series.index(row["series"]) - (len(series) - 1) / 2)
        colour = COLOURS[series.index(row["series"]) % len(COLOURS)]
        if row["kind"] == "published":
            axes.plot(place, row["value"], marker="*", markersize=10, color="black", linestyle="none", zorder=3)
            continue
        bounds = [[row["value"] - row["low"]], [row["high"] - row["value"]]] if row["low"] is not None else None
        axes.bar(place, row["value"], width=0.9 * width, yerr=bounds, capsize=3, edgecolor=colour,
                 color=FACE[row["kind"]] or colour)
    for i, one in enumerate(series):
        axes.bar(0, 0, color=COLOURS[i % len(COLOURS)], label=one)
    if ceiling is not None:
        axes.axhline(ceiling, color="0.35", linestyle="--", linewidth=1, label="synthetic data")
    axes.set_xticks(range(len(groups)), groups, fontsize=8)
    axes.set_ylabel(label)
    axes.set_title(title)
    axes.grid(axis="y")
    axes.legend(frameon=False, fontsize=8, ncols=min(3, len(series)), loc="upper center", bbox_to_anchor=(0.5, -0.17))
    kinds = {row["kind"] for row in rows}
    words = {"measured": "filled: measured", "predicted": "hollow: predicted", "published": "stars: published"}
    figure.supxlabel("; ".join(text for kind, text in words.items() if kind in kinds), fontsize=7, color="0.35")
    figure.tight_layout()
    save(figure, folder, name)


def lanes(folder, name, title, words, spans, length_s):
    """Draws spans (lane, begin_s, end_s) as bars over time, a lane above the other in the order of `words`."""
    figure, axes = pyplot.subplots(figsize=(8, 2.2))
    for place, lane in enumerate(words):
        found = [(span["begin_s"], span["end_s"] - span["begin_s"]) for span in spans if span["lane"] == lane]
        axes.broken_barh(found, (place - 0.35, 0.7), facecolor=COLOURS[place % len(COLOURS)], edgecolor="white")
    axes.set_yticks(range(len(words)), list(words.values()))
    axes.invert_yaxis()
    axes.set_xlim(0, length_s)
    axes.set_xlabel("seconds")
    axes.set_title(title, loc="right", fontsize=10)
    figure.tight_layout()
    save(figure, folder, name)


def over(folder, name, title, labels, rows):
    """Draws a measured line for each series. A row has series, x, value, low and high; `labels` are of the two axes."""
    figure, axes = pyplot.subplots(figsize=(6.4, 4.2))
    for i, one in enumerate(dict.fromkeys(row["series"] for row in rows)):
        points = [row for row in rows if row["series"] == one]
        bars = [[row["value"] - row["low"] for row in points], [row["high"] - row["value"] for row in points]]
        axes.errorbar([row["x"] for row in points], [row["value"] for row in points], yerr=bars,
                      color=COLOURS[i % len(COLOURS)], marker="osD^v"[i % 5], capsize=3, label=one)
    axes.set_xticks(sorted({row["x"] for row in rows}))
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.set_title(title)
    axes.grid()
    axes.legend(frameon=False)
    save(figure, folder, name)

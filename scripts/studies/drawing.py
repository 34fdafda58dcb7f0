"""Draws the figures of a study: measured points are filled, predicted ones hollow, published ones are stars."""

import itertools
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


def fill(row, shade):
    """The fill colour of a bar: predicted ones are hollow."""
    return "white" if row.get("kind") == "predicted" else shade


def by_ranks(folder, name, title, labels, rows, ideal=False, published=(), log=False):
    """Draws lines over the number of ranks. A row has series, ranks, kind, value, and low and high or None.

    `labels` are those of the two axes. `log` scales both by logarithms, for many ranks. A published row with a series
    of the lines as "of" has its colour.
    """
    figure, axes = pyplot.subplots(figsize=(6.4, 4.2))
    ranks.draw_points(axes, rows, ideal, published, log)
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.set_title(title)
    scaled = " by a scale model" if any(row.get("scale_factor") for row in rows) else ""
    style.foot(figure, f"filled: measured{scaled}" if any(row["kind"] == "measured" for row in rows) else "",
               "hollow: predicted", "dotted: linear" if ideal else "",
               "stars and crosses: published" if published else "")
    save(figure, folder, name)


def panels(folder, name, title, labels, rows, published):
    """Draws predicted lines over the number of GPUs in panels with the same axes, by a row's `panel`: its row, column.

    Lines of one series have one colour in all panels, and markers so large that lines on top of each other show.
    Those with `other_batch` are dotted. A published row has a series for its marker, and that of its lines as "of".
    """
    down, across = (list(dict.fromkeys(row["panel"][i] for row in rows)) for i in (0, 1))
    series = list(dict.fromkeys(row["series"] for row in rows))
    figure, grid = pyplot.subplots(len(down), len(across), figsize=(3 * len(across), 2.7 * len(down)), sharex=True,
                                   sharey=True, squeeze=False)
    for i, j in itertools.product(range(len(down)), range(len(across))):
        axes, panel = grid[i][j], (down[i], across[j])
        for number, one in enumerate(series):
            points = [row for row in rows if (row["panel"], row["series"]) == (panel, one)]
            axes.plot([row["ranks"] for row in points], [row["value"] for row in points], marker="o",
                      markersize=9 - 2 * number, fillstyle="none", color=style.colour(number), linewidth=1,
                      linestyle=":" if any(row["other_batch"] for row in points) else "--")
        # A source has the same marker in all panels and in the legend, so those of other panels are not left out.
        ranks.draw_published(axes, [row if row["panel"] == panel else {**row, "value": float("nan")}
                                    for row in published], series)
        axes.set_title(f"{panel[1]}, {panel[0]}", fontsize=9)
        axes.grid()
    axes = grid[0][-1]  # has the legend of all
    for number, one in enumerate(series):
        axes.plot([], [], marker="o", markersize=9 - 2 * number, fillstyle="none", color=style.colour(number),
                  label=one)
    axes.set_xscale("log", base=2)
    ranks.scale_by_decades(axes, [row["value"] for row in [*rows, *published]])
    style.rank_ticks(axes, [row["ranks"] for row in rows])
    for axes in grid[-1]:
        axes.set_xlabel(labels[0])
        axes.tick_params(axis="x", labelsize=7)
    grid[0][-1].legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1))
    figure.suptitle(title, fontsize=10)
    figure.supylabel(labels[1], fontsize=9)
    style.foot(figure, "dashed: predicted", "dotted: predicted from the speed of another batch size"
               if any(row["other_batch"] for row in rows) else "",
               "stars and crosses: published, in the colours of their lines" if published else "")
    save(figure, folder, name)


def bars(folder, name, title, label, key, rows):
    """Draws a horizontal bar for each row, from the top: its name under `key`, value, and low and high or None.

    A row may have a colour, and a kind: predicted bars are hollow.
    """
    figure, axes, places = style.bar_axes(pyplot, [row[key] for row in rows], "")
    for place, row in zip(places, rows):
        errors = [[length] for length in style.error_lengths(row)] if row["low"] is not None else None
        shade = row.get("colour", style.colour(0))
        axes.barh(place, row["value"], xerr=errors, capsize=3, height=0.65, edgecolor=shade, color=fill(row, shade))
    axes.set_xlabel(label)
    axes.set_title(title, loc="right")
    save(figure, folder, name)


def stacked(folder, name, title, label, parts, rows):
    """Draws a horizontal bar for each row, from the top, of its `parts`, one after the other. A row has name, parts."""
    figure, axes, places = style.bar_axes(pyplot, [row["name"] for row in rows], "")
    for number, part in enumerate(parts):
        axes.barh(places, [row["parts"][number] for row in rows], height=0.65, color=style.colour(number),
                  left=[sum(row["parts"][:number]) for row in rows], label=part)
    axes.set_xlabel(label)
    axes.set_title(title, loc="right")
    style.legend(axes)
    save(figure, folder, name)


def grouped(folder, name, title, label, rows, ceiling=None, across=""):
    """Draws bars side by side in groups. A row has group, series, value, low and high or None, and kind.

    Predicted bars are hollow, those with `buffer_fed` hatched, and a published value is a star at the place of its bar.
    `ceiling` is a line over all, and `across` the label of the groups.
    """
    groups, series = (list(dict.fromkeys(row[key] for row in rows)) for key in ("group", "series"))
    figure, axes = pyplot.subplots(figsize=(max(6.4, 1.1 * len(groups)), 4.2))
    width = 0.8 / len(series)
    for row in rows:
        place = groups.index(row["group"]) + width * (series.index(row["series"]) - (len(series) - 1) / 2)
        shade = style.colour(series.index(row["series"]))
        if row["kind"] == "published":
            axes.plot(place, row["value"], marker="*", markersize=10, color="black", linestyle="none", zorder=3)
            continue
        errors = [[length] for length in style.error_lengths(row)] if row["low"] is not None else None
        fed = row.get("buffer_fed")
        axes.bar(place, row["value"], width=0.9 * width, yerr=errors, capsize=3, edgecolor="white" if fed else shade,
                 hatch=style.HATCH if fed else None, color=fill(row, shade))
    for i, one in enumerate(series):
        axes.bar(0, 0, color=style.colour(i), label=one)
    if ceiling is not None:
        axes.axhline(ceiling, color="0.35", linestyle="--", linewidth=1, label="synthetic data")
    axes.set_xticks(range(len(groups)), groups, fontsize=8)
    axes.set_xlabel(across)
    axes.set_ylabel(label)
    axes.set_title(title)
    axes.grid(axis="y")
    style.legend(axes, beside=True)
    kinds = {row["kind"] for row in rows}
    scaled = " by a scale model" if any(row.get("scale_factor") for row in rows) else ""
    words = {"measured": f"filled: measured{scaled}", "predicted": "hollow: predicted", "published": "stars: published"}
    style.foot(figure, *(text for kind, text in words.items() if kind in kinds),
               "hatched: over 5 % of the images came from buffers filled before the window"
               if any(row.get("buffer_fed") for row in rows) else "")
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

    `log` scales both by logarithms. Lines of computed rows are hollow and dashed.
    """
    figure, axes = pyplot.subplots(figsize=(6.4, 4.2))
    for i, one in enumerate(dict.fromkeys(row["series"] for row in rows)):
        points = [row for row in rows if row["series"] == one]
        computed = any(row.get("computed") for row in points)
        style.line(axes, i, one, points, dashed=computed, hollow=computed)
    if log:
        axes.set_xscale("log", base=2)
        ranks.scale_by_decades(axes, [row["value"] for row in rows])
    style.rank_ticks(axes, [row["x"] for row in rows])
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.set_title(title)
    axes.grid()
    style.legend(axes)
    save(figure, folder, name)

"""Points over the number of ranks, distinguished by kind: measured, emulated, predicted or published."""

from plotting.style import colour, error_lengths, legend, marker, rank_ticks

# The look of a kind of point: the fill of its marker, and its words in the legend.
KINDS = {"measured": ("full", "measured"), "emulated": ("left", "measured, emulated accelerator"),
         "predicted": ("none", "predicted")}
PUBLISHED_COLOURS = ("black", "0.6", "white")
PUBLISHED_MARKERS = (("*", 10), ("P", 7), ("X", 7))  # with their sizes
MOST_LABELLED_RATIO = 1000  # of the largest value to the smallest, above which only powers of ten are labelled
LOGARITHMIC_FROM = 8  # times the fewest ranks, from which both axes are logarithmic


def is_logarithmic(rows):
    ranks = [row["ranks"] for row in rows]
    return max(ranks) >= LOGARITHMIC_FROM * min(ranks)


def draw_points(axes, rows, ideal=False, published=(), log=False):
    """Draws a line for each series. A row has series, ranks, kind, value, and low and high or None.

    Rows of `published` have series, ranks and value, and are drawn as stars without a line; one that has a series of
    the lines as "of" has its colour.
    """
    series = list(dict.fromkeys(row["series"] for row in rows))
    for i, name in enumerate(series):
        draw_series(axes, i, name, sorted((row for row in rows if row["series"] == name), key=lambda row: row["ranks"]),
                    ideal)
    draw_published(axes, published, series)
    if log:
        axes.set_xscale("log", base=2)
        scale_by_decades(axes, [row["value"] for row in [*rows, *published]])
    rank_ticks(axes, [row["ranks"] for row in [*rows, *published]])
    if not log:
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    axes.grid()
    explain(axes, rows, ideal)


def draw_published(axes, published, series):
    for i, name in enumerate(dict.fromkeys(row["series"] for row in published)):
        shape, size = PUBLISHED_MARKERS[i % len(PUBLISHED_MARKERS)]
        look = {"linestyle": "none", "marker": shape, "markersize": size, "markeredgecolor": "black",
                "markeredgewidth": 0.6}
        shade = PUBLISHED_COLOURS[i % len(PUBLISHED_COLOURS)]
        for row in published:
            if row["series"] == name:
                own = colour(series.index(row["of"])) if row.get("of") in series else shade
                axes.plot(row["ranks"], row["value"], color=own, **look)
        axes.plot([], [], color=shade, label=f"published: {name}", **look)


def scale_by_decades(axes, values):
    """Scales the values by logarithms, with labels between the powers of ten where these are few."""
    from matplotlib.ticker import LogLocator, StrMethodFormatter
    axes.set_yscale("log")
    is_wide = max(values) > MOST_LABELLED_RATIO * min(values)
    axes.yaxis.set_major_locator(LogLocator(subs=(1,) if is_wide else (1, 2, 5)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))


def draw_lines(axes, shade, rows):
    """Draws a dashed line through predicted points, or measured ones if there are none, and a solid one if both
    exist."""
    predicted = {row["ranks"] for row in rows if row["kind"] == "predicted"}
    measured = [row for row in rows if row["kind"] != "predicted"]
    lines = []
    if predicted:
        lines.append(("--", [row for row in rows if row["kind"] == "predicted" or row["ranks"] not in predicted]))
    if not predicted or any(row["ranks"] in predicted for row in measured):
        lines.append(("-", measured))
    for style, own in lines:
        axes.plot([row["ranks"] for row in own], [row["value"] for row in own], color=shade, linewidth=1.2,
                  linestyle=style)


def draw_series(axes, index, name, rows, ideal):
    """Draws the rows of one series, in the order of their ranks."""
    shade = colour(index)
    draw_lines(axes, shade, rows)
    for row in rows:
        axes.errorbar(row["ranks"], row["value"], yerr=[[length] for length in error_lengths(row)], color=shade,
                      marker=marker(index), capsize=3 if row["low"] is not None else 0, markerfacecoloralt="white",
                      fillstyle=KINDS[row["kind"]][0])
    is_predicted = all(row["kind"] == "predicted" for row in rows)
    axes.plot([], [], color=shade, marker=marker(index), label=name, fillstyle="none" if is_predicted else "full",
              linestyle="--" if is_predicted else "-")
    if ideal:
        first = rows[0]
        axes.plot([row["ranks"] for row in rows], [first["value"] * row["ranks"] / first["ranks"] for row in rows],
                  color=shade, linestyle=":", linewidth=1)


def explain(axes, rows, ideal):
    """Adds the legend: the series, and how each kind of point looks."""
    for kind, (fill, words) in KINDS.items():
        if any(row["kind"] == kind for row in rows):
            axes.plot([], [], color="0.4", marker=marker(0), fillstyle=fill, markerfacecoloralt="white",
                      linestyle="--" if kind == "predicted" else "-", label=words)
    if ideal:
        axes.plot([], [], color="0.4", linestyle=":", linewidth=1, label="linear")
    legend(axes)

"""Points over the number of ranks, told apart by what they are: measured, emulated, predicted or published."""

from plotting.style import LONG_ENTRY, colour, error_lengths, marker, rank_ticks

# How a kind of point looks: how its marker is filled, and its words in the legend.
KINDS = {"measured": ("full", "measured"), "emulated": ("left", "measured, emulated accelerator"),
         "predicted": ("none", "predicted")}
PUBLISHED_MARKERS = "*PX"
PUBLISHED_COLOURS = ("black", "0.55")
FROM_RANKS_ON = 16  # times the fewest ranks, from which both axes are logarithmic


def spans_decades(rows):
    ranks = [row["ranks"] for row in rows]
    return max(ranks) > FROM_RANKS_ON * min(ranks)


def draw_points(axes, rows, ideal=False, published=(), log=False):
    """Draws a line for each series. A row has series, ranks, kind, value, and low and high or None.

    Rows of `published` have series, ranks and value, and are drawn as stars without a line.
    """
    for i, name in enumerate(dict.fromkeys(row["series"] for row in rows)):
        draw_series(axes, i, name, sorted((row for row in rows if row["series"] == name), key=lambda row: row["ranks"]),
                    ideal)
    for i, name in enumerate(dict.fromkeys(row["series"] for row in published)):
        own = [row for row in published if row["series"] == name]
        axes.plot([row["ranks"] for row in own], [row["value"] for row in own], linestyle="none", markersize=9,
                  marker=PUBLISHED_MARKERS[i % 3], color=PUBLISHED_COLOURS[i % 2], label=f"published: {name}")
    if log:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
    rank_ticks(axes, [row["ranks"] for row in [*rows, *published]])
    if not log:
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    axes.grid()
    explain(axes, rows, ideal)


def draw_series(axes, index, name, rows, ideal):
    """Draws a dashed line through what is predicted, or measured where nothing is, and a full one through the rest."""
    shade = colour(index)
    foreseen = {row["ranks"] for row in rows if row["kind"] == "predicted"}
    for is_measured in (False, True):
        own = [row for row in rows if (row["kind"] != "predicted" if is_measured else
                                       row["kind"] == "predicted" or row["ranks"] not in foreseen)]
        axes.plot([row["ranks"] for row in own], [row["value"] for row in own], color=shade, linewidth=1.2,
                  linestyle="-" if is_measured else "--")
    for row in rows:
        axes.errorbar(row["ranks"], row["value"], yerr=[[length] for length in error_lengths(row)], color=shade,
                      marker=marker(index), capsize=3 if row["low"] is not None else 0, markerfacecoloralt="white",
                      fillstyle=KINDS[row["kind"]][0])
    axes.plot([], [], color=shade, marker=marker(index), label=name)
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
    handles, labels = axes.get_legend_handles_labels()
    is_long = max(map(len, labels), default=0) > LONG_ENTRY
    axes.legend(frameon=False, fontsize=7.5 if is_long or len(labels) > 6 else 8, handlelength=3)

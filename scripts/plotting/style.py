"""The style of figures, shared by plot.py and the studies, from colours to file formats."""

import textwrap

# Okabe and Ito's, which colour-blind readers can distinguish.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000", "#999999"]
MARKERS = "osD^vPX"
HATCH = "////"
STYLE = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
         "axes.titlesize": 10, "grid.color": "0.88", "grid.linewidth": 0.7, "hatch.color": "white",
         "hatch.linewidth": 0.8, "svg.fonttype": "none", "svg.hashsalt": "chexbench",
         "figure.constrained_layout.use": True}
# Without dates, so that the same input gives the same file.
METADATA = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
DOTS_PER_INCH = 160
HOW_TO_GET_MATPLOTLIB = ("this Python has no matplotlib. apt-get install python3-matplotlib, and start the script "
                         "again with /usr/bin/python3")
SEVERAL_ENTRIES = 4  # of a legend, beyond which it is placed next to the axes
FOOT_CHARACTERS_PER_INCH = 18
LONG_ENTRY = 28  # characters
LONGEST_LINE = 38  # characters of a legend
INCHES_PER_CHARACTER = 0.066
MANY_POINTS = 60  # of a line, beyond which it has no markers and a band instead of error bars


def load_pyplot():
    """Returns matplotlib's pyplot in this style, or None where there is no matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("agg")
    from matplotlib import pyplot
    pyplot.rcParams.update(STYLE)
    if "text.parse_math" in pyplot.rcParams:  # Matplotlib 3.6
        pyplot.rcParams["text.parse_math"] = False  # names may contain dollar signs
    return pyplot


def save(figure, path):
    """Writes a figure in the format of `path`'s ending."""
    figure.savefig(path, dpi=DOTS_PER_INCH, metadata=METADATA[path.suffix])


def colour(index):
    return COLOURS[index % len(COLOURS)]


def marker(index):
    return MARKERS[index % len(MARKERS)]


def foot(figure, *notes):
    """Writes notes for the reader below the figure; empty ones are left out."""
    text = "; ".join(note for note in notes if note)
    if text:
        width = int(FOOT_CHARACTERS_PER_INCH * figure.get_figwidth())
        figure.supxlabel(textwrap.fill(text, width, break_on_hyphens=False), fontsize=7, color="0.35")


def legend(axes, beside=False):
    """Adds the legend; next to the axes, in a wider figure, if it would hide their contents."""
    handles, labels = axes.get_legend_handles_labels()
    labels = [textwrap.fill(label, LONGEST_LINE) for label in labels]
    if not labels:
        return
    options = {}
    if beside or len(labels) > SEVERAL_ENTRIES or any(len(label) > LONG_ENTRY for label in labels):
        options = {"loc": "upper left", "bbox_to_anchor": (1.01, 1)}
        longest = max(len(one) for label in labels for one in label.split("\n"))
        axes.figure.set_figwidth(axes.figure.get_figwidth() + 0.5 + INCHES_PER_CHARACTER * longest)
    axes.legend(handles, labels, frameon=False, fontsize=8, handlelength=3, **options)


def rank_ticks(axes, ranks):
    """Labels each number of ranks on an axis."""
    axes.set_xticks(sorted(set(ranks)), [f"{n:g}" for n in sorted(set(ranks))])
    axes.minorticks_off()


def error_lengths(point):
    """Returns the lengths of the error bar below and above a point; both are 0 if it has no low and high."""
    if point["low"] is None or point["high"] is None:
        return 0, 0
    return max(0, point["value"] - point["low"]), max(0, point["high"] - point["value"])


def line(axes, index, label, points, dashed=False, hollow=False, colour_index=None):
    """Draws the line `index` through points (x, value, low and high or None), with error bars where they have them."""
    shade = colour(index if colour_index is None else colour_index)
    xs, values = [point["x"] for point in points], [point["value"] for point in points]
    look = {"color": shade, "label": label, "linestyle": "--" if dashed else "-"}
    errors = [list(lengths) for lengths in zip(*(error_lengths(point) for point in points))]
    if len(points) <= MANY_POINTS:
        axes.errorbar(xs, values, yerr=errors if any(map(any, errors)) else None, marker=marker(index), capsize=3,
                      markerfacecolor="white" if hollow else shade, **look)
        return
    axes.plot(xs, values, linewidth=1, **look)
    axes.fill_between(xs, [value - below for value, below in zip(values, errors[0])],
                      [value + above for value, above in zip(values, errors[1])], color=shade, alpha=0.2, linewidth=0)


def bar_axes(pyplot, labels, title, height=0.36):
    """Returns a figure and axes for horizontal bars with these labels, the first on top, and their places."""
    longest = max(len(label) for label in labels)
    figure, axes = pyplot.subplots(figsize=(5.2 + 0.075 * longest, 1.5 + height * len(labels)))
    places = list(range(len(labels)))
    axes.set_yticks(places, labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.set_title(title)
    return figure, axes, places

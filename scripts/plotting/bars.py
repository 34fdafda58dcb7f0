"""Figures of horizontal bars, one or a few for each trial: rates, ratios of formats, stores, and shares of the time."""

from plotting.labels import is_emulated, marks_note, names
from plotting.style import COLOURS, HATCH, bar_axes, colour, error_lengths, foot, legend
from plotting.tables import Unusable, check_new, number, point, positive

# The parts of a step, in their order, and their colours: light ones between dark ones.
PARTS = {"wait_share": ("waiting for a batch", "#D55E00"), "upload_share": ("upload", "#F0E442"),
         "compute_share": ("compute", "#0072B2"),
         "exposed_communication_share": ("communication not hidden", "#CC79A7"),
         "update_share": ("update", "#56B4E9"), "other_share": ("other", "#BBBBBB")}
# The same parts by whether the accelerator had work, and other measures of that, each with its marker.
BUSY_PARTS = {"busy_share": ("busy", "#0072B2"), "wait_share": ("waiting for a batch", "#D55E00"),
              "exposed_communication_share": ("communication not hidden", "#CC79A7"),
              "other_share": ("other", "#BBBBBB")}
BUSY_MARKS = {"gpu_utilization": ("NVML's utilization", "D"), "au_share": ("MLPerf Storage's AU", "o")}
SMALLEST_PART = 0.05  # % of a step, below which a part is left out of the figure
SMALLEST_LABELLED_PART = 8  # % of a step


def hatch(row):
    return HATCH if is_emulated(row) else None


def bar(axes, place, row, at, text, height, shade):
    """Draws a bar with its error bar and its value; returns where the error bar ends."""
    below, above = error_lengths(at)
    axes.barh(place, at["value"], height=height, color=shade, hatch=hatch(row), edgecolor="white", linewidth=0)
    if below or above:
        axes.errorbar(at["value"], place, xerr=[[below], [above]], color="black", capsize=2.5, linewidth=1)
    axes.annotate(text, (at["value"] + above, place), xytext=(4, 0), textcoords="offset points", va="center",
                  fontsize=8)
    return at["value"] + above


def rate_text(value):
    return f"{value:.3g}" if value < 100 else f"{value:,.0f}"


def shades(trials, column="format"):
    """Returns a colour for each format, or for each value of another column."""
    return {value: colour(i) for i, value in enumerate(sorted({row[column] for row in trials}))}


def name_shades(axes, colours):
    """Adds an entry of the legend for each of the colours."""
    for value, shade in colours.items():
        axes.barh(0, 0, color=shade, label=value or "ready-made batches")


def trains(row):
    return row["engine"] != "none"


def throughput_title(trials):
    if all(map(trains, trials)):
        return "Training throughput"
    return "Throughput" if any(map(trains, trials)) else "Throughput of the input alone"


def draw_throughput(pyplot, trials):
    figure, axes, places = bar_axes(pyplot, names(trials), throughput_title(trials))
    column = "pipeline" if len({row["pipeline"] for row in trials}) > 1 else "format"
    colours = shades(trials, column)
    ends = []
    for place, row in zip(places, trials):
        at = point(row, place, "images_per_s")
        ends.append(bar(axes, place, row, at, rate_text(at["value"]), 0.72, colours[row[column]]))
    axes.set_xlim(0, max(ends) * 1.13)
    axes.set_xlabel("images/s")
    if len(colours) > 1:
        name_shades(axes, colours)
        legend(axes, beside=True)
    foot(figure, "bars: medians over repeats, with 95 % intervals where there are five or more",
         marks_note(trials, "hatched"))
    return figure


def by_label(trials, axis):
    """Returns {label: {value of the axis: trial}}, where labels leave the axis out."""
    arms = {}
    for row, label in zip(trials, names(trials, place=axis)):
        check_new(arms.setdefault(label, {}), row, axis, label)
        arms[label][row[axis]] = row
    return arms


def ratio_point(place, base, better):
    """Returns the ratio of `better` to `base`, with the bounds that the two intervals allow."""
    (base_below, base_above), (below, above) = error_lengths(base), error_lengths(better)
    at = {"x": place, "value": better["value"] / base["value"], "low": None, "high": None}
    if below + above + base_below + base_above > 0 and base["value"] > base_below:
        at["low"] = (better["value"] - below) / (base["value"] + base_above)
        at["high"] = (better["value"] + above) / (base["value"] - base_below)
    return at


def draw_formats(pyplot, trials):
    arms = {label: found for label, found in by_label(trials, "format").items()
            if {"images", "tfrecord"} <= found.keys()}
    if not arms:
        raise Unusable("no trial was measured from PNGs and from TFRecords alike: sweep \"data.format\"")
    figure, axes, places = bar_axes(pyplot, list(arms), "TFRecords against PNGs")
    for place, found in zip(places, arms.values()):
        positive(found["images"], "images_per_s")
        at = ratio_point(place, *(point(found[fmt], place, "images_per_s") for fmt in ("images", "tfrecord")))
        bar(axes, place, found["tfrecord"], at, f"{at['value']:.2f} x", 0.6, COLOURS[0])
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xlim(0, axes.get_xlim()[1] * 1.12)
    axes.set_xlabel("images/s from TFRecords / images/s from PNGs")
    foot(figure, "error bars: as far as the two 95 % intervals allow",
         marks_note([row for found in arms.values() for row in found.values()], "hatched"))
    return figure


def draw_storage(pyplot, trials):
    """Draws a bar for each format of each place, and a line for the same accelerator's rate without an input."""
    ceilings = [row for row in trials if row["format"] == "ready"]
    stored = [row for row in trials if row["format"] != "ready"]
    if not stored:
        raise Unusable("all of these trials have ready-made batches: give a run that reads a data set too")
    arms = by_label(stored, "format")
    figure, axes, places = bar_axes(pyplot, list(arms), "Rates by store and format",
                                    height=0.12 + 0.24 * max(map(len, arms.values())))
    colours = shades(stored)
    name_shades(axes, colours)
    ends = [draw_ceilings(axes, ceilings)]
    for place, found in zip(places, arms.values()):
        for i, (fmt, row) in enumerate(found.items()):
            at = point(row, place, "images_per_s")
            height = 0.8 / len(found)
            ends.append(bar(axes, place + (i - (len(found) - 1) / 2) * height, row, at, rate_text(at["value"]),
                            0.92 * height, colours[fmt]))
    axes.set_xlim(0, max(ends) * 1.13)
    axes.set_xlabel("images/s")
    legend(axes, beside=True)
    foot(figure, "bars: medians over repeats, with 95 % intervals where there are five or more",
         "lines: ready-made batches, which no input delivers: the ceiling" if ceilings else "",
         marks_note(stored, "hatched"))
    return figure


def draw_ceilings(axes, ceilings):
    """Draws a vertical line for each trial with ready-made batches; returns the rightmost."""
    values = [number(row, "images_per_s") for row in ceilings]
    labels = names(ceilings, without=("run",)) if len(ceilings) > 1 else [""]
    for value, label, style in zip(values, labels, ["--", ":", "-."] * len(values)):
        axes.axvline(value, color="black", linestyle=style, linewidth=1, label=f"ready {label}".strip())
    return max(values, default=0)


def draw_shares(pyplot, trials, parts, marks, title, label):
    """Draws a bar of stacked shares for each trial that trains, and the columns of `marks` as markers upon it."""
    trials = [row for row in trials if trains(row)]
    if not trials:
        raise Unusable("these trials have engine none, which does nothing but wait for its input: give a run that "
                       "trains")
    figure, axes, places = bar_axes(pyplot, names(trials), title)
    left = [0.0] * len(trials)
    for column, (part, shade) in parts.items():
        shares = [100 * number(row, column) if row[column] else 0 for row in trials]
        if max(shares) < SMALLEST_PART:
            continue
        for place, (row, share) in enumerate(zip(trials, shares)):
            axes.barh(places[place], share, left=left[place], height=0.72, color=shade, hatch=hatch(row),
                      edgecolor="white", linewidth=0, label=part if place == 0 else None)
            if share >= SMALLEST_LABELLED_PART:
                axes.text(left[place] + share / 2, places[place], f"{share:.0f} %", ha="center", va="center",
                          fontsize=8, bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1})
            left[place] += share
    for column, (words, look) in marks.items():
        found = [(100 * number(row, column), place + 0.24) for row, place in zip(trials, places) if row.get(column)]
        if found:
            axes.plot(*zip(*found), look, color="white", markeredgecolor="black", markersize=5, label=words,
                      clip_on=False, zorder=3)
    axes.set_xlim(0, 100)
    axes.set_xlabel(label)
    legend(axes, beside=True)
    foot(figure, marks_note(trials, "hatched"))
    return figure


def draw_time(pyplot, trials):
    return draw_shares(pyplot, trials, PARTS, {}, "Where the time of a step went", "% of the step")


def draw_utilization(pyplot, trials):
    return draw_shares(pyplot, trials, BUSY_PARTS, BUSY_MARKS, "Was the accelerator busy?", "% of the time")

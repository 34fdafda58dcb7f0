"""The names of trials, columns and marks in a figure."""

# The columns that distinguish trials, with their words in a label; pipeline and format have none.
AXES = {"run": "", "model": "", "pipeline": "", "format": "", "engine": "", "precision": "", "batch_size": "batch ",
        "image_size": "size ", "color": "", "deliver": "", "decoder": "", "ranks": "ranks "}
# Further ones if those do not suffice; and every swept key, which has a column by its dotted name.
MORE_AXES = {"data_root": "", "store_bandwidth_mb_per_s": "MB/s ", "store_latency_ms": "latency ms ",
             "store_jitter_ms": "jitter ms ", "store_requests_per_s": "requests/s ", "cores_per_rank": "cores "}
# Swept keys that have their own column above.
NAMED_KEYS = {"data.format", "data.root", "data.deliver", "data.decoder", "model.name", "model.image_size",
              "training.batch_size", "training.precision"}
NAMED_KEY_PREFIXES = ("store.shape.",)
UNITS = {"_bytes_per_s": "bytes/s", "_per_s": "1/s", "_per_joule": "1/J", "_bytes": "bytes", "_hz": "Hz", "_s": "s",
         "_w": "W", "_c": "\N{DEGREE SIGN}C", "_ms": "ms", "_share": "share of the time, 1", "_utilization": "share, 1"}
TITLES = {"images_per_s": "images/s", "images_per_s_per_core": "images/s of a core",
          "images_per_joule": "images per joule of the GPUs", "scaling_efficiency": "scaling efficiency (1)",
          "ranks": "ranks (one accelerator each)", "batch_size": "batch size (images of a rank)",
          "image_size": "image size (pixels)", "speedup": "speedup (times one rank)", "comm.update": "update scheme",
          "mean_auroc": "AUROC, mean over findings (1)", "auroc": "AUROC (1)",
          "training_loss": "training loss (binary cross-entropy)",
          "validation_loss": "validation loss (binary cross-entropy)", "loss": "loss (binary cross-entropy)",
          "decoded_per_trained": "images decoded / images trained (1)", "au_share": "accelerator utilization, AU (1)",
          "utilization": "utilization (share, 1)", "busy_share": "busy (share of the time, 1)"}
LONGEST_PLACE = 34  # characters of a data root in a label


def axis_title(column):
    """Returns the words for a column with its unit."""
    if column in TITLES:
        return TITLES[column]
    for ending, unit in UNITS.items():
        if column.endswith(ending):
            return f"{column.removesuffix(ending).replace('_', ' ')} ({unit})"
    return column.replace("_", " ") if "." not in column else column


def is_emulated(row):
    return row.get("emulated") == "true"


def scale_factor(row):
    """Returns the factor by which a scale model is slower than the original, or 1."""
    try:
        return float(row.get("scale_factor") or 1)
    except ValueError:
        return 1.0


def is_computed(row):
    """Returns whether the speed of the emulated accelerator was computed by a roofline, not taken from a source."""
    return row.get("step_time_computed") == "true"


def mark(row):
    """Returns the mark next to a trial's name: the words that chexbench itself uses."""
    speed = ", computed speed" if is_computed(row) else ""
    if scale_factor(row) != 1:
        return f"(scale model, 1 : {scale_factor(row):.3g}{speed})"
    if row.get("predicted") == "true":  # a row of chexbench predict
        return f"(predicted{speed})"
    return f"(emulated{speed})" if is_emulated(row) else ""


def marks_note(rows, look):
    """Returns the explanation of how emulated rows look, or "" if there are none."""
    emulated = [row for row in rows if is_emulated(row)]
    if not emulated:
        return ""
    sources = sorted({(row.get("engine") or "engine not told") + (", computed speed" if is_computed(row) else "")
                      for row in emulated})
    scales = sorted({f"1 : {scale_factor(row):.3g}" for row in emulated if scale_factor(row) != 1})
    return (f"{look}: emulated accelerator ({', '.join(sources)})"
            + (f", measured by a scale model ({', '.join(scales)})" if scales else ""))


def place_name(text):
    """Shortens a data root to its end."""
    return text if len(text) <= LONGEST_PLACE else "..." + text[3 - LONGEST_PLACE:]


def word(row, axis):
    value = row.get(axis) or "-"
    if axis == "engine" and value == "none":
        return "input alone"
    if axis == "data_root":
        return place_name(value)
    if axis in AXES or axis in MORE_AXES:
        return {**AXES, **MORE_AXES}[axis] + value
    is_word = value[:1].isalpha() and value not in ("true", "false")
    return value if is_word else f"{axis.rpartition('.')[2]} {value}"


def swept_axes(rows):
    return [name for name in dict.fromkeys(name for row in rows for name in row)
            if "." in name and name not in NAMED_KEYS and not name.startswith(NAMED_KEY_PREFIXES)]


def lacks_input(row, axis):
    """Returns whether the cell is empty because ready-made batches have no input."""
    return row.get("format") == "ready" and row.get(axis) == ""


def differing(rows, axes, without):
    return [axis for axis in axes if axis not in without and
            len({row.get(axis) for row in rows if not lacks_input(row, axis)}) > 1]


def names(rows, without=(), place=None):
    """Returns a label for each trial: the differences between them, or the pipeline if there are none.

    `without` leaves axes out. Labels may be the same for trials at different values of the column `place`, which is
    left out too.
    """
    without = {*without, place}
    axes = differing(rows, AXES, without)
    places = [row.get(place) for row in rows] if place else [""] * len(rows)
    labels = joined(rows, axes)
    if len(set(zip(labels, places))) < len(rows):
        axes += differing(rows, [*MORE_AXES, *swept_axes(rows)], without)
        labels = joined(rows, axes)
    if len(set(zip(labels, places))) < len(rows) and without == {None}:  # only the trial's name shows the difference
        return [f"{label}: {row.get('trial', '')}" for label, row in zip(labels, rows)]
    return labels


def joined(rows, axes):
    """Returns the words of these axes for each row, and its mark unless the engine or the scale already shows it."""
    labels = []
    for row in rows:
        words = [word(row, axis) for axis in axes if not lacks_input(row, axis)] or [row["pipeline"] or row["format"]]
        if mark(row) and ("engine" not in axes or scale_factor(row) != 1):
            words.append(mark(row))
        labels.append(" ".join(words))
    return labels


def trial_of(row):
    return row["run"], row.get("trial")


def trials_of(rows):
    """Returns one row for each trial of rows of another table."""
    return list({trial_of(row): row for row in reversed(rows)}.values())[::-1]


def names_of_trials(rows, place=None):
    """Returns the label of each row's trial: its name if the trials' columns are missing."""
    trials = trials_of(rows)
    known = all("pipeline" in row for row in trials)
    labels = names(trials, place=place) if known else [
        f"{row.get('trial', '')} {mark(row)}".strip() or row["run"] for row in trials]
    label_of = dict(zip(map(trial_of, trials), labels))
    return [label_of[trial_of(row)] for row in rows]

"""The figure of predictions: images/s by ranks as measured, as predicted by chexbench and as published."""

import json
import re

from plotting.labels import is_emulated, marks_note
from plotting.ranks import KINDS, draw_points, is_logarithmic
from plotting.style import foot
from plotting.tables import OLD_FORMATS, Unusable, nearest, point, positive, read_csv, read_trials

# The columns that distinguish arms, under their names in a trials.csv, a prediction and a published table.
ARM_COLUMNS = {"accelerator": ("accelerator", "device"), "arm": ("arm", "name"), "model": ("model",),
               "pipeline": ("pipeline",), "format": ("format",), "image_size": ("image_size",),
               "precision": ("precision",), "batch_size": ("batch_size",), "update": ("update", "comm.update")}
WORDS = {"batch_size": "batch ", "image_size": "size "}  # before a value that does not explain itself
# The name of an arm in chexbench predict: "naive images, resnet50 224x224 f32, batch 16, on v100".
ARM_NAME = re.compile(r"(?P<pipeline>.+) (?P<format>\w+)(?: \d+x\d+)?, (?P<model>\w+) (?P<image_size>\d+)x\d+ "
                      r"(?P<precision>\w+), batch (?P<batch_size>\d+), on .+")
ALWAYS_TOLD = ("arm", "model", "pipeline", "accelerator")  # of an arm that stands alone
NEEDED = ("ranks", "images_per_s")
NEEDED_OF_TRIALS = ("trial", "engine", "emulated", *NEEDED)
UNTOLD = ("", "-", "none")


def arm_of(row):
    """Returns the arm's values in a row, without missing ones."""
    told = {name: next((str(row[column]) for column in columns if row.get(column)), "")
            for name, columns in ARM_COLUMNS.items()}
    if told["model"]:
        del told["arm"]  # the other columns say the same
    return {name: value for name, value in told.items() if value not in UNTOLD}


def point_of(row, kind):
    positive(row, "images_per_s")
    return {**point(row, None, "images_per_s"), "arm": arm_of(row), "ranks": positive(row, "ranks"), "kind": kind}


def measured_points(trials):
    """Returns the points of the trials that trained, or pretended to; the input alone is not predicted."""
    points = []
    for row in trials:
        if row["engine"] == "none":
            continue
        device = (row.get("engine_device") or row["engine"]).removeprefix("emulated ")
        kind = "emulated" if is_emulated(row) else "measured"
        points.append({**point_of({**row, "accelerator": device}, kind), "trial": row})
    return points


def words_of(name):
    """Returns the values in the name of an arm, or the name itself if it has another form."""
    found = ARM_NAME.fullmatch(name)
    if found is None:
        return {"arm": name}
    return {**found.groupdict(), "format": OLD_FORMATS.get(found["format"], found["format"])}


def json_rows(path):
    """Returns the rows of each arm of `chexbench predict --format json`."""
    try:
        arms = json.loads(path.read_text(encoding="utf-8"))["arms"]
        return [{**words_of(arm["name"]), **arm, "ranks": row["ranks"], "images_per_s": row["images_per_s"]}
                for arm in arms for row in arm["rows"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        raise Unusable(f"{path}: it is not what `chexbench predict --format json` prints ({reason})") from error


def read_file(path, kind):
    """Returns the points of a file, of this kind unless its column `kind` gives another one."""
    if path.suffix == ".json":
        rows = json_rows(path)
    else:
        columns, rows = read_csv(path)
        missing = [name for name in NEEDED if name not in columns]
        if missing:
            raise Unusable(f"{path} lacks the column {missing[0]}; the nearest is '{nearest(missing[0], columns)}'")
    points = []
    for i, row in enumerate(rows, 1):
        row = {**row, "where": f"{path}: row {i}"}
        told = row.get("kind") or kind
        if told not in (*KINDS, "published"):
            raise Unusable(f"{row['where']}: kind is '{told}'; the nearest valid one is "
                           f"'{nearest(told, [*KINDS, 'published'])}'")
        if row["images_per_s"] not in ("", None):
            points.append(point_of(row, told))
    if not points:
        raise Unusable(f"{path} has no row with images_per_s")
    return points


def same(name, one, other):
    """Whether two values of an arm's column may mean the same, such as 'k80' and 'NVIDIA Tesla K80'."""
    one, other = one.lower(), other.lower()
    return one == other or name in ("accelerator", "arm") and (one in other or other in one)


def agrees(published, arm):
    """Whether a published row may belong to this arm: no value that both have differs."""
    return all(same(name, value, arm[name]) for name, value in published.items() if name in arm)


def name_series(points):
    """Labels each point by the differences between these points."""
    differing = [name for name in ARM_COLUMNS if len({one["arm"].get(name) for one in points}) > 1]
    for one in points:
        words = [WORDS.get(name, "") + one["arm"][name] for name in differing or ALWAYS_TOLD if name in one["arm"]]
        one["series"] = " ".join(words) or "all"


def read_points(runs, predicted, published):
    """Returns the measured or predicted points, the published ones of the same arms, and the number of others."""
    points = measured_points(read_trials(runs, NEEDED_OF_TRIALS)) if runs else []
    for kind, paths in (("predicted", predicted), ("published", published)):
        points += [one for path in paths for one in read_file(path, kind)]
    ours = [one for one in points if one["kind"] != "published"]
    theirs = [one for one in points if one["kind"] == "published"]
    if not ours:
        raise Unusable("nothing here was predicted or measured with an accelerator: give --predicted FILE with what "
                       "chexbench predict printed, or a run whose engine is not none")
    kept = [one for one in theirs if any(agrees(one["arm"], other["arm"]) for other in ours)]
    name_series(ours)
    name_series(kept)
    check_distinct(ours)
    return ours, kept, len(theirs) - len(kept)


def check_distinct(points):
    """Two points of one kind, arm and number of ranks would be mixed up."""
    seen = set()
    for one in points:
        place = one["kind"], one["series"], one["ranks"]
        if place in seen:
            raise Unusable(f"'{one['series']}' has two values on {one['ranks']:g} ranks, both {one['kind']}, and "
                           f"nothing tells what differs ({', '.join(ARM_COLUMNS)}): give one of the two")
        seen.add(place)


def draw_prediction(pyplot, ours, theirs, left_out):
    log = is_logarithmic([*ours, *theirs])
    figure, axes = pyplot.subplots(figsize=(7, 4.6))
    draw_points(axes, ours, published=theirs, log=log)
    axes.set_xlabel("ranks (one accelerator each)")
    axes.set_ylabel("images/s")
    axes.set_title("Predicted, measured and published throughput")
    foot(figure, "error bars: 95 % intervals" if any(one["low"] is not None for one in ours) else "",
         marks_note([one["trial"] for one in ours if "trial" in one], "half filled"),
         f"{left_out} published rows of other arms are not shown" if left_out else "")
    return figure

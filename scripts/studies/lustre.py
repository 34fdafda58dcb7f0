"""The mechanism of the poster's figure 4: TFRecord's gain against the time that a shaped Lustre takes for an open."""

import time
from dataclasses import dataclass

import drawing
import page
import xrays
from budget import measure_until
from measuring import ROOT, kept, read_csv
from planning import Group, left_out
from verdicts import EXPLAINED, UNEXPLAINED, UNKNOWN, doubt, select, write_csv
from worlds import IMAGE_SIZE, MODELS

SPECS = ROOT / "configs/studies/sc19-poster"
SPEC = SPECS / "lustre.json"
TITLE = "Figure 5: TFRecord's gain against the store's open latency"
# Network, ranks and latency of an open in ms, the most telling first: around the published gains, and at a published
# latency; then on fewer ranks, where the client opens fewer files, so that gains begin later.
POINTS = [("resnet50", 4, 0.75), ("densenet121", 4, 1.6), ("resnet50", 4, 0.68), ("densenet121", 4, 1.45),
          ("resnet50", 4, 0.35), ("resnet50", 2, 1.5), ("resnet50", 2, 0.75), ("resnet50", 1, 0.75),
          ("densenet121", 2, 1.6)]
BATCH_SIZE = 4
STEPS = 8  # with fewer, the batch begun before a window is over 5 % of it
WARMUP_STEPS = 4  # in the first ones, TFRecords wait for buffers to fill
COPIES = 24  # of the X-rays, so that no rank comes to the end of an epoch, where a shuffle holds back images
IMAGES = 24 * COPIES
MAKE_S = 20  # of that set, on two cores
FIRST_IMAGES = 8 + 2 * BATCH_SIZE  # that are read before the first batch: shuffle, prefetch and batch
START_S = 0.7  # to start and end a repeat
RANK_BYTES = 400e6
COLUMNS = ["model", "ranks", "open_latency_ms", "kind", "gain_percent", "ci95_low", "ci95_high", "grade",
           "scale_factor", "source"]


@dataclass
class Opens(Group):
    """PNGs and TFRecords on a Lustre whose opens take this long."""
    model: str = ""
    latency_ms: float = 0
    opens_per_s: float = 0  # of the client, which all ranks share
    client_mb_per_s: float = 0

    @property
    def name(self):
        return f"lustre-{self.model}-{self.latency_ms:g}ms-{self.ranks}"

    def settings(self):
        return [*super().settings(), f"model.name={self.model}", f"model.image_size={IMAGE_SIZE[self.model]}",
                f"store.shape.latency_ms={self.latency_ms:g}",
                f"store.shape.bandwidth_mb_per_s={self.client_mb_per_s / self.ranks:g}",
                f"store.shape.iops={self.opens_per_s / self.ranks:g}"]


def facts():
    return read_csv(SPECS / "lustre.csv")


def groups(engine):
    if engine.is_real:
        return []
    used = {row["quantity"]: float(row["value"]) for row in facts() if row["used"] == "yes"}
    return [Opens("lustre", "opencv", ranks, STEPS, BATCH_SIZE, warmup_steps=WARMUP_STEPS, model=model,
                  latency_ms=latency,
                  opens_per_s=1e3 * used["opens_in_flight"] / latency, client_mb_per_s=used["client_mb_per_s"])
            for model, ranks, latency in POINTS]


def forecast_s(group, rate, factor):
    """Seconds of a group whose ranks train `rate` images/s if they need not wait; `factor` is its scale model's."""
    images = group.ranks * (FIRST_IMAGES + group.batch_size * (group.warmup_steps + group.steps))
    return group.repeats * sum(START_S + factor * images / one for one in (rate, min(rate, group.opens_per_s)))


def forecast(plan, predicted, engine):
    for group in plan:
        rate = min(row["images_per_s"] for row in predicted if row["pipeline"] == "optimized" and (
            row["model"], row["decoder"], row["ranks"]) == (group.model, group.decoder, group.ranks))
        group.seconds = forecast_s(group, rate, engine.scale_factor(group.ranks))


def run_of(group, folder, data):
    return folder / "runs" / group.name, SPEC, [f"data.root={data}", *group.settings()], group.ranks


def data_of(plan, data, ends):
    """The data set to measure: a larger one of the X-rays if `data` is the study's; None, with the plan left out, if
    there is none."""
    why = ""
    if data != xrays.XRAYS:
        images = xrays.images_of(data)
        why = f"the data set has {images} images, and {IMAGES} are needed" if images < IMAGES else ""
    elif not xrays.is_made(COPIES) and ends - time.monotonic() < MAKE_S:
        why = "making its data set takes more than the budget leaves"
    for group in plan:
        group.left_out = why
    if why or not plan:
        return None
    return xrays.own_xrays(COPIES) if data == xrays.XRAYS else data


def needs_s(plan, folder, data):
    """The seconds that the groups not measured yet take, of the forecast."""
    return sum(group.seconds for group in plan if data and kept(*run_of(group, folder, data)) is None)


def measure(plan, folder, data, ends):
    """Rows of the groups that fit before `ends`; marks the others as left out."""
    if data is None:
        return []
    return rows_of(measure_until(ends, "sc19-poster", plan, lambda group: run_of(group, folder, data),
                                 lambda group: RANK_BYTES))


def rows_of(reports):
    """A row for each measured gain, in the order of the latencies."""
    rows = []
    for group, report in reports:
        for finding in report["findings"]:
            if finding["kind"] == "format_ratio" and finding.get("ratio") is not None:
                # Of PNGs to TFRecords, so that its bounds change places.
                gain, high, low = (100 * (1 / ratio - 1) if ratio is not None else None
                                   for ratio in (finding["ratio"], *(finding["ratio_ci95"] or (None, None))))
                rows.append({"model": group.model, "ranks": group.ranks, "open_latency_ms": group.latency_ms,
                             "kind": "measured", "gain_percent": gain, "ci95_low": low, "ci95_high": high,
                             "grade": finding["grade"], "scale_factor": report["trials"][0]["scale_factor"]})
    return sorted(rows, key=lambda row: (row["model"], -row["ranks"], row["open_latency_ms"]))


def met(rows, percent):
    """The latency at which the gain meets `percent`, and the measured ones surely below and above it, or None.

    It is interpolated between these two. `rows` are in the order of their latencies.
    """
    sure = [row for row in rows if row["ci95_low"] is not None and not doubt(row)]
    above = next((row for row in sure if row["ci95_low"] > percent), None)
    below = [row for row in sure if row["ci95_high"] < percent and (
        above is None or row["open_latency_ms"] < above["open_latency_ms"])]
    if above is None or not below:
        return None
    low, high = below[-1]["open_latency_ms"], above["open_latency_ms"]
    share = (percent - below[-1]["gain_percent"]) / (above["gain_percent"] - below[-1]["gain_percent"])
    return low + share * (high - low), low, high


def is_not_reached(rows, percent):
    return all(row["ci95_high"] is not None and row["ci95_high"] < percent and not doubt(row) for row in rows)


def finding(rows, percent, name):
    """Where one network meets its gain: words, the latencies around it, and the highest that was surely too low."""
    found = met(rows, percent)
    if found:
        return f"{name} gains {percent:g} % at {found[0]:.2f} ms ({found[1]:g} to {found[2]:g})", found[1:], None
    if rows and is_not_reached(rows, percent):
        top = rows[-1]["open_latency_ms"]
        return f"{name} does not gain {percent:g} % up to {top:g} ms", None, top
    return f"{name}: {f'its gains do not enclose {percent:g} %' if rows else 'not measured'}", None, None


def meets_all(latency, own):
    """Whether every network's gain at a latency may be its published one; `own` has pairs of rows and percent."""
    return all(any(row["open_latency_ms"] == latency and not doubt(row) and row["ci95_low"] is not None
                   and row["ci95_low"] <= percent <= row["ci95_high"] for row in rows) for rows, percent in own)


def claim(rows, published):
    """Whether one latency gives every published gain on the ranks of the published ones.

    It surely does not if one network needs a higher latency than another one does.
    """
    gains = " and ".join(f"{row['value']} %" for row in published)
    text = f"One open latency of the poster's Lustre explains both of its largest gains, {gains} on " \
           f"{published[0]['ranks']} GPUs (chexbench's hypothesis)"
    own = [(select(rows, model=one["model"], ranks=int(one["ranks"])), float(one["value"])) for one in published]
    found = [finding(*one, MODELS[row["model"]]) for one, row in zip(own, published)]
    evidence = [words for words, _, _ in found]
    if any(meets_all(row["open_latency_ms"], own) for row in own[0][0]):
        return text, EXPLAINED, "; ".join([*evidence, "one latency gives both"])
    least = max((bracket[0] if bracket else top for _, bracket, top in found if bracket or top is not None), default=0)
    most = min((bracket[1] for _, bracket, _ in found if bracket), default=None)
    if all(bracket or top is not None for _, bracket, top in found) and most is not None and most <= least:
        return text, UNEXPLAINED, "; ".join([*evidence, "no latency gives both"])
    return text, UNKNOWN, "; ".join(evidence)


def blocks(folder, rows, published, plan):
    """Figure 5, its CSV, its sources and what was left out."""
    told = [{"model": row["model"], "ranks": int(row["ranks"]), "kind": "published", "source": row["source"],
             "gain_percent": float(row["value"])} for row in published]
    write_csv(folder / "figure5.csv", [*rows, *told], COLUMNS)
    yield page.heading(TITLE)
    points = [{"series": f"{MODELS[row['model']]}, {row['ranks']} rank{'s' * (row['ranks'] > 1)}",
               "x": row["open_latency_ms"], "value": row["gain_percent"], "low": row["ci95_low"],
               "high": row["ci95_high"]} for row in rows]
    levels = [(f"published: {MODELS[row['model']]}, {row['ranks']} GPUs, {row['gain_percent']:g} %",
               row["gain_percent"]) for row in told]
    if points:
        yield from page.figure(drawing.over, folder, "figure5", TITLE,
                               ("latency of an open (ms)", "% more images/s from TFRecords"), points, levels=levels)
    yield page.paragraph(
        f"Files of a shaped Lustre ({IMAGES} PNGs: each X-ray {COPIES} times), optimized pipeline, OpenCV's decoder, "
        "ten cores for each emulated V100. All ranks are on one node, so one client opens their files, one at a time: "
        "a rank opens 1 / (ranks x latency) PNGs/s, and TFRecords gain once a V100 trains more; the number of cores "
        "does not matter to that. So the latency that a gain needs follows from the V100's rate on that network; the "
        "runs check that pipelines and store behave so. The model gives the same gains on 4, 8 and 16 GPUs of four to "
        "a node, so it does not explain why they are largest on 4. A client of Lustre 2.8 or later has seven opens in "
        "flight, and the same gains would take seven times the latency. The authors' nodes ran RHEL 7.4, which "
        "suggests such a client; no source names the poster's Lustre, nor the latency of an open, only that of a stat. "
        f"chexbench slows the store down by the factor of the scale model. Batches have {BATCH_SIZE} images, and "
        "gradients are not sent. Each MiB of a shard also counts as an open here, unlike on Lustre: under half of what "
        "the client can do, so this delays only the first batches. Values: figure5.csv.")
    yield page.table(["quantity", "value", "used", "source"],
                     [[row["quantity"], row["value"], row["used"], row["source"]] for row in facts()])
    if left_out(plan) or not plan:
        yield page.paragraph("Not measured:")
        yield page.bullets(left_out(plan) or ["this figure needs emulated V100s"])

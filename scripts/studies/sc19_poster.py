"""The SC19 poster: naive against optimized pipelines, ResNet50 and DenseNet121, PNG against TFRecord, 1 to 16 V100."""

import json
import time

import drawing
import page
from measuring import ROOT, chexbench, measured, read_csv, say
from planning import Group, choose, cores, forecast_s, scale_factor
from verdicts import FAILS, HOLDS, LINEAR, UNKNOWN, write_csv

NAME = "sc19-poster"
TITLE = "SC19 poster: Fast Training of an AI Radiologist"
NEEDS_DATA = True
SPECS = ROOT / "configs/studies" / NAME
MODELS = {"resnet50": "ResNet50", "densenet121": "DenseNet121"}
IMAGE_SIZE = {"resnet50": 224, "densenet121": 256}
RANKS = (1, 2, 4, 8, 16)
BATCH_SIZE = 64
PREFETCHED_BATCHES = 64  # that naive keeps ready; what else a rank holds is in the 300 MB of rank_bytes
# With more ranks a step passes more images, so fewer steps show as much of the input.
STEPS = {1: 3, 2: 3, 4: 2, 8: 1, 16: 1}
BUSY = 0.95  # share of the time that an accelerator computes, from which its utilization is called near 100 %
CLAIMED_GAIN = (1.08, 1.15)  # of TFRecords: "approximately 8 % - 15 %"


def groups():
    """What can be measured, the most telling first: the poster's range is reached with its own decoder first."""
    order = [("opencv", 1), ("opencv", 2), ("opencv", 4), ("opencv", 16), ("opencv", 8), ("fast", 1), ("fast", 2),
             ("fast", 4), ("fast", 8), ("fast", 16)]
    return [Group(model, decoder, ranks, STEPS[ranks]) for decoder, ranks in order for model in MODELS]


def rank_bytes(group):
    return 300e6 + PREFETCHED_BATCHES * BATCH_SIZE * IMAGE_SIZE[group.config] ** 2


def arm_of(trial):
    spec = trial["spec"]
    return {"decoder": spec["data"]["decoder"], "pipeline": spec["pipeline"]["name"], "format": spec["data"]["format"]}


def predict(folder, data):
    """Rows for all ranks, from what this machine decodes, and the environment of the runs that say so."""
    rows = []
    for decoder in ("opencv", "fast"):
        for model in MODELS:
            run = folder / "runs" / f"input-{model}-{decoder}"
            report = measured(run, SPECS / "input.json", [f"data.root={data}", f"data.decoder={decoder}",
                                                          f"model.image_size={IMAGE_SIZE[model]}"])
            output = chexbench("predict", "--report", run, "--config", SPECS / f"{model}.json", "--set",
                               f"data.decoder={decoder}", "--set", f"data.root={data}", "--cores-per-rank", 10,
                               "--ranks", *RANKS, "--format", "json")
            for arm in json.loads(output)["arms"]:
                pipeline, fmt = arm["name"].split(",")[0].split()[:2]
                rows += [{"model": model, "decoder": decoder, "pipeline": pipeline, "format": fmt,
                          "ranks": row["ranks"], "kind": "predicted", "images_per_s": row["images_per_s"],
                          "low": None, "high": None, "busy_share": row["accelerator_share"], "scale_factor": None}
                         for row in arm["rows"]]
    return rows, report["environment"]


def measured_rows(group, report):
    rows = []
    for trial in report["trials"]:
        figures = trial["figures"]
        low, high = figures["images_per_s_ci95"] or (None, None)
        rows.append({"model": group.config, **arm_of(trial), "ranks": group.ranks, "kind": "measured",
                     "images_per_s": figures["images_per_s"], "low": low, "high": high,
                     "busy_share": figures["busy_share"], "scale_factor": trial["scale_factor"]})
    return rows


class Results:
    """The rows, measured ones instead of predicted ones where there are both, and the ratios that were measured."""

    def __init__(self, predicted, reports):
        self.predicted = {self.key(row): row for row in predicted}
        rows = dict(self.predicted)
        self.ratios = {}
        for group, report in reports:
            rows.update((self.key(row), row) for row in measured_rows(group, report))
            for finding in report["findings"]:
                if finding.get("ratio") is not None:
                    self.ratios[group.config, group.decoder, group.ranks, finding["kind"]] = finding
        self.rows = list(rows.values())

    @staticmethod
    def key(row):
        return tuple(row[name] for name in ("model", "decoder", "pipeline", "format", "ranks"))

    def select(self, **values):
        return [row for row in self.rows if all(row[name] == value for name, value in values.items())]

    def most(self, **values):
        """The row with the most ranks that was measured, and that with one rank; None, None if they are the same."""
        rows = sorted((row for row in self.select(kind="measured", **values)), key=lambda row: row["ranks"])
        return (rows[-1], rows[0]) if len(rows) > 1 and rows[0]["ranks"] == 1 else (None, None)


def efficiency(most, one):
    """The scaling efficiency and the bounds that the intervals of both rates allow."""
    n = most["ranks"]
    return (most["images_per_s"] / (n * one["images_per_s"]), most["low"] / (n * one["high"]),
            most["high"] / (n * one["low"]))


def scaling_claim(results, model, pipeline, is_linear):
    """Judges whether a pipeline scales linearly (or, for naive, that it does not)."""
    claim = f"{MODELS[model]}, {pipeline}: " + ("scaling is close to linear" if is_linear else "it does not scale")
    arm = {"model": model, "decoder": "opencv", "pipeline": pipeline, "format": "png"}
    predicted = {row["ranks"]: row for row in results.select(kind="predicted", **arm)}
    most, one = results.most(**arm)
    if most is None or most["low"] is None or one["low"] is None:
        return claim, UNKNOWN, "not measured on more than one rank"
    value, low, high = efficiency(most, one)
    verdict = UNKNOWN
    if high < LINEAR:  # more ranks do not mend it
        verdict = FAILS if is_linear else HOLDS
    elif low >= LINEAR and most["ranks"] == RANKS[-1]:
        verdict = HOLDS if is_linear else FAILS
    text = f"efficiency {value:.2f} ({low:.2f} to {high:.2f}) on {most['ranks']} ranks, measured"
    if 16 in predicted:
        text += f"; {predicted[16]['images_per_s'] / (16 * one['images_per_s']):.2f} on 16 ranks, predicted"
    return claim, verdict, text


def ratio_text(finding):
    low, high = finding["ratio_ci95"] or (None, None)
    interval = f" ({low:.2f} to {high:.2f})" if low is not None else ""
    return f"{finding['ratio']:.2f}{interval}"


def gain_claim(results, model):
    claim = f"{MODELS[model]}, optimized: TFRecords are worth 8 to 15 % of the images/s"
    found = [(ranks, finding) for (config, decoder, ranks, kind), finding in sorted(results.ratios.items())
             if config == model and decoder == "opencv" and kind == "format_ratio"]
    if not found:
        return claim, UNKNOWN, "not measured"
    text = "; ".join(f"{ratio_text(finding)} on {ranks} rank{'s' * (ranks > 1)} [{finding['grade']}]"
                     for ranks, finding in found)
    intervals = [finding["ratio_ci95"] for _, finding in found
                 if finding["ratio_ci95"] and finding["grade"] in ("told apart", "cannot be told")]
    if not intervals:
        return claim, UNKNOWN, text
    if any(low >= CLAIMED_GAIN[0] and high <= CLAIMED_GAIN[1] for low, high in intervals):
        return claim, HOLDS, text
    outside = all(high < CLAIMED_GAIN[0] or low > CLAIMED_GAIN[1] for low, high in intervals)
    return claim, FAILS if outside else UNKNOWN, text


def busy_claim(results, model):
    claim = f"{MODELS[model]}, optimized: the GPUs are near 100 % busy"
    rows = results.select(model=model, decoder="opencv", pipeline="optimized", format="png", kind="measured")
    if not rows:
        return claim, UNKNOWN, "not measured"
    text = "; ".join(f"{100 * row['busy_share']:.1f} % on {row['ranks']}" for row in rows)
    verdict = HOLDS if all(row["busy_share"] >= BUSY for row in rows) else FAILS
    return claim, verdict, f"{text} rank{'s' * (rows[-1]['ranks'] > 1)}"


def claims(results):
    found = []
    for model in MODELS:
        found += [scaling_claim(results, model, "optimized", True), scaling_claim(results, model, "naive", False),
                  gain_claim(results, model), busy_claim(results, model)]
    gains = [verdict for claim, verdict, _ in found if "TFRecords" in claim]
    verdict = {HOLDS: UNKNOWN, FAILS: HOLDS}.get(gains[0], UNKNOWN) if len(set(gains)) == 1 else UNKNOWN
    found.append(("Converting to TFRecords is not always worth it", verdict,
                  "judged by the gains above: it holds where TFRecords gain less than 8 %"))
    return found


def series_rows(results, names, **values):
    return [{**row, "series": " ".join(row[name] for name in names), "value": row["images_per_s"]}
            for row in results.select(**values)]


def gain_rows(results):
    """TFRecord's gain in percent by ranks, over PNG: measured in rounds, or from two predictions."""
    rows = []
    for png in results.select(pipeline="optimized", format="png"):
        place = {name: png[name] for name in ("model", "decoder", "ranks")}
        finding = results.ratios.get((png["model"], png["decoder"], png["ranks"], "format_ratio"))
        if finding:
            low, high = finding["ratio_ci95"] or (None, None)
            ratio, kind = finding["ratio"], "measured"
        else:
            tfrecord = results.select(pipeline="optimized", format="tfrecord", **place)[0]
            ratio, low, high, kind = tfrecord["images_per_s"] / png["images_per_s"], None, None, "predicted"
        percent = [None if value is None else 100 * (value - 1) for value in (ratio, low, high)]
        rows.append({**place, "series": f"{png['model']} {png['decoder']}", "kind": kind, "value": percent[0],
                     "low": percent[1], "high": percent[2], "scale_factor": png["scale_factor"]})
    return rows


def write_figure(path, rows, quantity):
    renamed = {"value": quantity, "low": "ci95_low", "high": "ci95_high"}
    columns = ["model", "decoder", "pipeline", "format", "ranks", "kind", "value", "low", "high", "scale_factor",
               "source"]
    write_csv(path, [{renamed.get(name, name): row.get(name) for name in columns} for row in rows],
              [renamed.get(name, name) for name in columns])


def figures(results, folder, published):
    """Writes the CSV of each figure and draws it; returns the blocks of the page."""
    blocks = []
    gains = gain_rows(results)
    told = [{"model": row["model"], "ranks": int(row["ranks"]), "kind": "published", "value": float(row["value"]),
             "source": row["source"], "series": f"{row['model']} {row['value']} %"} for row in published]
    names = ("pipeline", "decoder")
    plans = [(f"figure{number}", f"Figure {number}: naive against optimized, {MODELS[model]}, PNG", "images_per_s",
              series_rows(results, names, model=model, format="png"), ())
             for number, model in ((1, "resnet50"), (2, "densenet121"))]
    plans.append(("figure3", "Figure 3: PNG against TFRecord, optimized pipeline, OpenCV's decoder", "images_per_s",
                  series_rows(results, ("model", "format"), pipeline="optimized", decoder="opencv"), ()))
    plans.append(("figure4", "Figure 4: gain by TFRecords, optimized pipeline", "gain_percent", gains, told))
    for name, title, quantity, rows, stars in plans:
        write_figure(folder / f"{name}.csv", [*rows, *stars], quantity)
        blocks.append(page.heading(title))
        if drawing.pyplot:
            label = "images/s" if quantity == "images_per_s" else "% more images/s from TFRecords"
            labels = ("ranks (one emulated V100 each)", label)
            drawing.by_ranks(folder, name, title, labels, rows, quantity == "images_per_s", stars)
            blocks.append(page.picture(f"{name}.svg", title))
        blocks.append(page.paragraph(f"Values: {name}.csv."))
    return blocks


def rates_table(results, model):
    rows = []
    for row in sorted(results.select(model=model), key=lambda row: (row["decoder"], row["pipeline"], row["format"],
                                                                   row["ranks"])):
        interval = f" ({row['low']:,.0f} to {row['high']:,.0f})" if row["low"] is not None else ""
        kind = f"scale model, 1 : {row['scale_factor']:.3g}" if row["kind"] == "measured" else "predicted"
        rows.append([row["decoder"], row["pipeline"], row["format"], row["ranks"],
                     f"{row['images_per_s']:,.0f}{interval}", f"{100 * row['busy_share']:.1f} %", kind])
    return page.table(["decoder", "pipeline", "format", "ranks", "images/s (95 % interval)", "V100 busy", "how"], rows)


def predictions_table(results):
    """Measured rates beside what was predicted for them from the input alone."""
    rows = []
    for row in results.select(kind="measured"):
        predicted = results.predicted[results.key(row)]["images_per_s"]
        rows.append([row["model"], row["decoder"], row["pipeline"], row["format"], row["ranks"],
                     f"{row['images_per_s']:,.0f}", f"{predicted:,.0f}", f"{predicted / row['images_per_s']:.2f}"])
    return page.table(["model", "decoder", "pipeline", "format", "ranks", "measured", "predicted", "ratio"], rows)


def blocks(results, plan, figure_blocks, budget_minutes, environment):
    yield page.paragraph(
        f"Made by scripts/reproduce {NAME} --budget {budget_minutes:g}, {environment['date_utc'][:10]}, "
        f"{environment['cpu']}, {cores()} cores, chexbench {environment['chexbench_version']}.")
    yield page.paragraph(
        "Rakshith Vasudev and John Lockman's poster compares a naive input pipeline with that of TensorFlow's official "
        "models, on ResNet50 and DenseNet121 with batches of 64 X-rays per GPU. Here emulated V100s of ten cores each "
        "run on fewer: a scale model slows them down until their balance with the real pipelines is that "
        "of the poster's nodes, and reports rates at full scale. It assumes that a core here decodes as fast as one "
        "there. Decoder opencv is about as fast as TensorFlow's was in 2019; fast is chexbench's own.")
    yield page.heading("Claims")
    yield page.table(["claim", "verdict", "evidence"], claims(results))
    yield page.paragraph("The poster shows bars without values, and no copy of its figures gives any: only the two "
                         "gains of figure 4 are published as numbers, and are drawn. Scaling is called linear from an "
                         f"efficiency of {LINEAR} on 16 ranks, and a GPU near 100 % busy from {100 * BUSY:.0f} %. "
                         "Files come from the page cache here, where PNGs and TFRecords differ least; the "
                         "poster's came from "
                         "Lustre.")
    yield from figure_blocks
    for model, name in MODELS.items():
        yield page.heading(f"Images/s: {name}")
        yield rates_table(results, model)
    if results.select(kind="measured"):
        yield page.heading("Predictions beside measurements")
        yield predictions_table(results)
    left_out = [f"{group.name}: {group.left_out}" for group in plan if group.left_out]
    if left_out:
        yield page.heading("Not measured")
        yield page.paragraph(f"With a budget of {budget_minutes:g} minutes these were predicted instead:")
        yield page.bullets(left_out)


def run(folder, data, budget_minutes):
    """Measures, predicts and writes the pages; returns their paths and the claims."""
    started = time.monotonic()
    published = read_csv(SPECS / "published.csv")
    say(f"{NAME}: measuring what the cores of this machine decode")
    predicted, environment = predict(folder, data)
    plan = groups()
    for group in plan:
        rates = [row["images_per_s"] for row in predicted
                 if (row["model"], row["decoder"], row["ranks"]) == (group.config, group.decoder, group.ranks)]
        group.seconds = forecast_s(group, rates, BATCH_SIZE)
    choose(plan, 60 * budget_minutes - (time.monotonic() - started), rank_bytes)
    chosen = [group for group in plan if not group.left_out]
    say(f"{NAME}: {len(chosen)} of {len(plan)} groups of trials in about "
        f"{sum(group.seconds for group in chosen) / 60:.0f} minutes; the rest is predicted")
    reports = []
    for number, group in enumerate(chosen):
        say(f"{NAME}: {number + 1} of {len(chosen)}: {group.name}, 1 : {scale_factor(group.ranks):.3g}, about "
            f"{group.seconds:.0f} s")
        reports.append((group, measured(folder / "runs" / group.name, SPECS / f"{group.config}.json",
                                        [f"data.root={data}", *group.settings()], group.ranks)))
    results = Results(predicted, reports)
    drawn = figures(results, folder, published)
    content = list(blocks(results, plan, drawn, budget_minutes, environment))
    (folder / "README.md").write_text(page.markdown(TITLE, content))
    (folder / "index.html").write_text(page.as_html(TITLE, content))
    if not drawing.pyplot:
        say(drawing.HOW_TO_DRAW)
    return [folder / "index.html", folder / "README.md"], claims(results)

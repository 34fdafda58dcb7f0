"""The SC19 poster: naive against optimized pipelines, ResNet50 and DenseNet121, PNG against TFRecord, 1 to 16 V100."""

import time

import dell_article
import drawing
import page
from measuring import ROOT, read_csv, say
from verdicts import FAILS, HOLDS, LINEAR, UNKNOWN, doubt
from worlds import (BATCH_SIZE, IMAGE_SIZE, MODELS, RANKS, Results, closing, groups, made_by, measure, predict,
                    rates_table, flat_claim, linear_claim, ratio_text, series_rows, write_figure)
from xrays import words_of

NAME = "sc19-poster"
TITLE = "SC19 poster: Fast Training of an AI Radiologist"
NEEDS_DATA = True
TRAINS_FOR_REAL = True  # with --engine cuda or onednn
MEASURES = True
SPECS = ROOT / "configs/studies" / NAME
PREFETCHED_BATCHES = 64  # that naive keeps ready; a rank's other memory is in the 300 MB of rank_bytes
BUSY = 0.95  # share of the time that an accelerator computes, from which its utilization is called near 100 %
WORTH = 0.02  # of the images/s, below which a gain is not worth a conversion


# The most telling first: the poster's range is reached with its own decoder first.
ORDER = [(model, decoder, ranks) for decoder, ranks in [
    ("opencv", 1), ("opencv", 16), ("opencv", 8), ("opencv", 4), ("opencv", 2), ("fast", 1), ("fast", 2), ("fast", 4),
    ("fast", 8), ("fast", 16)] for model in MODELS]


def rank_bytes(group):
    return 300e6 + PREFETCHED_BATCHES * group.batch_size * IMAGE_SIZE[group.config] ** 2


def gain_claim(results, model, published):
    """Whether the measured gain on the GPUs of the published one agrees with it."""
    ranks, percent = next((int(row["ranks"]), float(row["value"])) for row in published if row["model"] == model)
    claim = f"{MODELS[model]}, optimized: TFRecords gain {percent} % on {ranks} GPUs"
    finding = results.ratios.get((model, "opencv", ranks, "format_ratio"))
    if finding is None:
        return claim, UNKNOWN, f"not measured on {ranks} ranks"
    text = f"images/s of TFRecords against PNGs on {ranks} ranks: {ratio_text(finding)}{doubt(finding)}"
    if doubt(finding) or finding["ratio_ci95"] is None:
        return claim, UNKNOWN, text
    low, high = (100 * (bound - 1) for bound in finding["ratio_ci95"])
    if high < percent or low > percent:
        return claim, FAILS, f"{text}; from the page cache, where the poster's files came from Lustre"
    return claim, HOLDS if high - low < percent else UNKNOWN, text


def worth_claim(results):
    """Holds if one measured gain is surely too small to pay, and fails if all are surely large enough."""
    claim = "Converting to TFRecords is not always worth it"
    found = [(key, finding) for key, finding in sorted(results.ratios.items())
             if key[3] == "format_ratio" and finding["ratio_ci95"] and not doubt(finding)]
    if not found:
        return claim, UNKNOWN, "not measured"
    highest = max(found, key=lambda one: one[1]["ratio"])
    text = (f"{len(found)} gains were measured; the largest is {ratio_text(highest[1])}, of {MODELS[highest[0][0]]} on "
            f"{highest[0][2]} ranks, decoder {highest[0][1]}")
    if any(finding["ratio_ci95"][1] < 1 + WORTH for _, finding in found):
        return claim, HOLDS, text
    return claim, FAILS if all(finding["ratio_ci95"][0] > 1 + WORTH for _, finding in found) else UNKNOWN, text


def busy_claim(results, model):
    claim = f"{MODELS[model]}, optimized: the GPUs are near 100 % busy"
    rows = results.select(model=model, decoder="opencv", pipeline="optimized", format="images", kind="measured")
    if not rows:
        return claim, UNKNOWN, "not measured"
    text = "; ".join(f"{100 * row['busy_share']:.1f} % on {row['ranks']}" for row in rows)
    verdict = HOLDS if all(row["busy_share"] >= BUSY for row in rows) else FAILS
    return claim, verdict, f"{text} rank{'s' * (rows[-1]['ranks'] > 1)}"


def claims(results, published):
    found = []
    for model in MODELS:
        found += [linear_claim(results, model, "optimized"), flat_claim(results, model, "naive"),
                  gain_claim(results, model, published), busy_claim(results, model)]
    return [*found, worth_claim(results)]


def gain_rows(results):
    """TFRecord's gain in percent by ranks, over PNG: measured in rounds, or from two predictions."""
    rows = []
    for png in results.select(pipeline="optimized", format="images"):
        place = {name: png[name] for name in ("model", "decoder", "ranks")}
        finding = results.ratios.get((png["model"], png["decoder"], png["ranks"], "format_ratio"))
        if finding:
            low, high = finding["ratio_ci95"] or (None, None)
            ratio, kind = finding["ratio"], "measured"
        elif not (predicted := results.select(pipeline="optimized", format="tfrecord", kind="predicted", **place)):
            continue
        else:
            tfrecord, = predicted
            ratio, low, high, kind = tfrecord["images_per_s"] / png["images_per_s"], None, None, "predicted"
        percent = [None if value is None else 100 * (value - 1) for value in (ratio, low, high)]
        rows.append({**place, "series": f"{png['model']} {png['decoder']}", "kind": kind, "value": percent[0],
                     "low": percent[1], "high": percent[2], "scale_factor": png["scale_factor"]})
    return rows


def figures(results, folder, published, engine):
    """Writes the CSV of each figure and draws it; returns the blocks of the page."""
    blocks = []
    gains = gain_rows(results)
    told = [{"model": row["model"], "ranks": int(row["ranks"]), "kind": "published", "value": float(row["value"]),
             "source": row["source"], "series": f"{row['model']} opencv"} for row in published]
    rates = [{**row, "series": "optimized opencv"} for row in dell_article.published_rows()
             if row["ranks"] in RANKS and not engine.is_real]  # of V100s
    of_rates = ("Stars are what the authors published elsewhere for the same training; "
                "configs/studies/dell-article/published.csv has 3 and 12 GPUs, too. ") if rates else ""
    of_gains = "Stars are the poster's largest gains: " + " and ".join(
        f"{row['value']:g} % with {MODELS[row['model']]} on {row['ranks']} GPUs" for row in told) + ". "
    names = ("pipeline", "decoder")
    plans = [(f"figure{number}", f"Figure {number}: naive against optimized, {MODELS[model]}, PNG", "images_per_s",
              series_rows(results, names, model=model, format="images"), stars, note)
             for number, model, stars, note in ((1, "resnet50", (), ""), (2, "densenet121", rates, of_rates))]
    plans.append(("figure3", "Figure 3: PNG against TFRecord, optimized pipeline, OpenCV's decoder", "images_per_s",
                  series_rows(results, ("model", "format"), pipeline="optimized", decoder="opencv"), (), ""))
    plans.append(("figure4", "Figure 4: gain by TFRecords, optimized pipeline", "gain_percent", gains, told,
                  of_gains))
    for name, title, quantity, rows, stars, note in plans:
        write_figure(folder / f"{name}.csv", [*rows, *stars], quantity)
        blocks.append(page.heading(title))
        label = "images/s" if quantity == "images_per_s" else "% more images/s from TFRecords"
        bars = [{"low": None, "high": None, **row, "group": str(row["ranks"])}
                for row in sorted([*rows, *stars], key=lambda row: row["ranks"])]
        blocks += [] if not bars else page.figure(drawing.grouped, folder, name, title, label, bars,
                              across=f"ranks (one {engine.device} each)")
        blocks.append(page.paragraph(f"{note}Values: {name}.csv."))
    return blocks


def setting(engine):
    """How the trainings of this page differ from the poster's."""
    if engine.is_real:
        return (f"Here engine {engine.name} trains for real, in batches of {engine.batch_size(64)}, on as many ranks "
                f"as this machine has devices: {engine.most_ranks()}.")
    return ("Here emulated V100s of ten cores each run on fewer: a scale model slows them down until their balance "
            "with the real pipelines is that of the poster's nodes, and reports rates at full scale. It assumes that "
            f"a core here decodes as fast as one there. Sixteen ranks take batches of {BATCH_SIZE[16]}, because a "
            "step of 64 takes naive minutes on a few cores. The emulated V100 is as fast per image as with 64, and "
            "links are as much faster as the batch is smaller, so that sending keeps its share.")


def blocks(results, found, plan, figure_blocks, made, engine):
    yield made
    yield page.paragraph(
        "Rakshith Vasudev and John Lockman's poster compares a naive input pipeline with that of TensorFlow's official "
        f"models, on ResNet50 and DenseNet121 with batches of 64 X-rays per GPU. {setting(engine)} Decoder opencv is "
        "about as fast as TensorFlow's was in 2019; fast is chexbench's own.")
    yield page.heading("Claims")
    yield page.table(["claim", "verdict", "evidence"], found)
    yield page.paragraph("The poster shows bars without values, and no copy of its figures gives any: only the two "
                         "gains of figure 4 are published as numbers, and are drawn. Scaling is called linear from an "
                         f"efficiency of {LINEAR} on 16 ranks, and a GPU near 100 % busy from {100 * BUSY:.0f} %. "
                         "Files come from the page cache here, where PNGs and TFRecords differ least; the "
                         "poster's came from Lustre.")
    yield from figure_blocks
    for model, name in MODELS.items():
        yield page.heading(f"Images/s: {name}")
        yield rates_table(results, model)
    yield from closing(results, plan)


def run(folder, data, budget_minutes, engine):
    """Measures, predicts and writes the pages; returns their paths and the claims."""
    ends = time.monotonic() + 60 * budget_minutes
    plan = groups(ORDER, engine)
    published = read_csv(SPECS / "published.csv")
    say(f"{NAME}: measuring what the cores of this machine decode")
    predicted, environment = predict(folder, SPECS, data, ("opencv", "fast"), MODELS, engine)
    results = Results(predicted, measure(SPECS, plan, predicted, folder, data, ends, rank_bytes, engine))
    drawn = figures(results, folder, published, engine)
    found = claims(results, published)
    made = made_by(NAME, budget_minutes, ends, words_of(data), environment, engine)
    content = blocks(results, found, plan, drawn, made, engine)
    return page.publish(folder, TITLE, content), found

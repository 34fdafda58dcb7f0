"""Dell's article "Optimization Techniques for Training CheXNet on Dell C4140 with Nvidia V100 GPUs", October 2019.

Timelines of steps with and without pipelining, the ten steps of its new pipeline one by one, DenseNet121 on 1 to 16
V100s next to the authors' figures, and the mapping of ranks.
"""

import statistics
import time
from pathlib import Path

import drawing
import page
import timeline
from measuring import ROOT, kept, measured, read_csv, say
from planning import cores
from verdicts import FAILS, HOLDS, LINEAR, UNKNOWN, doubt, write_csv
from worlds import (BATCH_SIZE, RANKS, Results, closing, groups, made_by, measure, predict, rates_table, ratio_text,
                    flat_claim, how, linear_claim, series_rows, write_figure)
from xrays import words_of

NAME = "dell-article"
TITLE = "Dell's article: optimization techniques for training CheXNet"
NEEDS_DATA = True
TRAINS_FOR_REAL = True  # with --engine cuda or onednn
MEASURES = True
SPECS = ROOT / "configs/studies" / NAME
MODEL = "densenet121"
RANK_BYTES = 300e6 + 64 * 64 * 256 ** 2  # 64 batches that naive keeps ready, and a rank's other memory
BUSY = 0.95  # share of the time that an accelerator computes, below which it is called starved
AGREES = 0.1  # of a ratio from the one that the article's sum and maximum give
MAPPINGS = {"socket": ["--map-by", "socket"], "core": ["--bind-to", "core"], "numa": ["--bind-to", "numa"],
            "none": ["--bind-to", "none"]}
EPOCH_IMAGES = 77_871  # of the authors' training set
MAPPING_ROUNDS = 5
MAPPING_S = 100  # seconds of the rounds on two cores


def sockets():
    """How many sockets the cores of this machine are in."""
    return len({path.read_text() for path in
                Path("/sys/devices/system/cpu").glob("cpu[0-9]*/topology/physical_package_id")})


def mapping_runs(folder, data, ranks):
    """(mapping, arguments of measured()) of the optimized input; the mappings alternate."""
    settings = [f"data.root={data}", "sweep=null", "pipeline=optimized", f"ranks={ranks}", "measure.repeats=1"]
    return [(name, (folder / "runs" / f"mapping-{name}-{number}", SPECS / "ablation.json", settings, ranks, options))
            for number in range(MAPPING_ROUNDS) for name, options in MAPPINGS.items()]


def map_ranks(runs):
    """images/s by mapping: a list of one value for each round."""
    rates = {name: [] for name in MAPPINGS}
    for name, run in runs:
        rates[name].append(measured(*run)["trials"][0]["figures"]["images_per_s"])
    return rates


def finding(report, kind, trial):
    """The finding of a kind that compares the trial of this pipeline with the first, or None."""
    for one in report["findings"]:
        if one["kind"] == kind and one.get("ratio") is not None and one["trial"].startswith(trial):
            return one
    return None


def overlap_claim(report):
    claim = "Pipelining reduces a step from the sum of preparing and training to the larger of the two"
    sequential = report["trials"][0]["figures"]
    ratio = finding(report, "pipeline_ratio", "pipelined")
    if ratio is None or ratio["ratio_ci95"] is None:
        return claim, UNKNOWN, "not measured"
    prepare, train = sequential["wait_share"], sequential["busy_share"]
    expected = (prepare + train) / max(prepare, train)
    text = (f"without a prefetch {100 * prepare:.0f} % of a step is preparing and {100 * train:.0f} % training, so the "
            f"larger of the two would train {expected:.2f} x the images/s; measured {ratio_text(ratio)}"
            f"{doubt(ratio)}")
    low, high = (bound / expected for bound in ratio["ratio_ci95"])
    if doubt(ratio):
        return claim, UNKNOWN, text
    if low >= 1 - AGREES and high <= 1 + AGREES:
        return claim, HOLDS, text
    return claim, FAILS if high < 1 - AGREES or low > 1 + AGREES else UNKNOWN, text


def starving_claim(results):
    claim = "The old approach stalls: GPUs are frequently idle"
    rows = results.select(decoder="opencv", pipeline="naive", kind="measured")
    if not rows:
        return claim, UNKNOWN, "not measured"
    rows = sorted(rows, key=lambda row: row["ranks"])
    text = "busy " + "; ".join(f"{100 * row['busy_share']:.0f} % on {row['ranks']}" for row in rows) + " ranks"
    if rows[-1]["busy_share"] < BUSY:
        return claim, HOLDS, text
    return claim, FAILS if rows[-1]["ranks"] == RANKS[-1] else UNKNOWN, text


def mapping_claim(rates):
    claim = "Mapping ranks by socket is best"
    if not rates:
        return claim, UNKNOWN, "not measured: the budget leaves no time, or one core has nothing to map"
    parts = []
    for name, values in rates.items():
        if name != "socket":
            ratios = [by_socket / value for by_socket, value in zip(rates["socket"], values)]
            parts.append(f"{statistics.median(ratios):.2f} x ({min(ratios):.2f} to {max(ratios):.2f}) that of {name}")
    text = f"images/s by socket are {', '.join(parts)} over {MAPPING_ROUNDS} rounds"
    if sockets() == 1:
        return claim, UNKNOWN, f"{text}; this machine has one socket, and chexbench binds its threads by itself"
    worst = max(max(value / by_socket for by_socket, value in zip(rates["socket"], values))
                for name, values in rates.items() if name != "socket")
    best = min(min(value / by_socket for by_socket, value in zip(rates["socket"], values))
               for name, values in rates.items() if name != "socket")
    return claim, HOLDS if worst < 1 else FAILS if best > 1 else UNKNOWN, text


def claims(results, overlap, rates):
    return [overlap_claim(overlap), flat_claim(results, MODEL, "naive", "tfrecord"), starving_claim(results),
            linear_claim(results, MODEL, "optimized", "tfrecord"), mapping_claim(rates)]


def ablation_rows(report):
    rows = []
    for trial in report["trials"]:
        figures = trial["figures"]
        low, high = figures["images_per_s_ci95"] or (None, None)
        rows.append({"step": trial["spec"]["pipeline"]["name"], "ranks": trial["ranks"], "kind": "measured",
                     "value": figures["images_per_s"], "low": low, "high": high})
    return rows


def ablation_blocks(folder, report):
    title = "Figure 4: from the old pipeline to the new one, one change after the other"
    rows = ablation_rows(report)
    write_csv(folder / "figure4.csv", [{**row, "images_per_s": row["value"], "ci95_low": row["low"],
                                        "ci95_high": row["high"]} for row in rows],
              ["step", "ranks", "kind", "images_per_s", "ci95_low", "ci95_high"])
    yield page.heading(title)
    yield from page.figure(drawing.bars, folder, "figure4", title, "images/s of the input alone", "step", rows)
    first = rows[0]["value"]
    yield page.table(["pipeline", "images/s (95 % interval)", "of the first"],
                     [[row["step"], f"{row['value']:.1f}" + (f" ({row['low']:.1f} to {row['high']:.1f})"
                                                             if row["low"] is not None else ""),
                       f"{row['value'] / first:.2f} x"] for row in rows])
    yield page.paragraph(
        "The numbers are those of the article's list. Its steps 1, 2 and 8 (list of files, data set of it, repeat) are "
        f"in both pipelines. The input alone, on {rows[0]['ranks']} ranks with this machine's own cores. "
        "Values: figure4.csv.")


def scaling_blocks(folder, results, published, engine):
    title = "Figure 3: old and new approach, DenseNet121" + ("" if engine.is_real else " on 1 to 16 V100s")
    rows = series_rows(results, ("pipeline",), decoder="opencv")
    write_figure(folder / "figure3.csv", [*rows, *published], "images_per_s")
    yield page.heading(title)
    labels = (f"ranks (one {engine.device} each)", "images/s")
    yield from page.figure(drawing.by_ranks, folder, "figure3", title, labels, rows, True, published)
    yield page.paragraph("The article shows its figure 3 without values; the stars are what its authors published for "
                         f"the same training elsewhere, as averages of whole jobs. {batches(engine)} Values: "
                         "figure3.csv.")
    yield rates_table(results, MODEL)


def time_blocks(results, published):
    """The authors' times of ten epochs, next to what the rates here would take."""
    ours = {row["ranks"]: row for row in results.select(decoder="opencv", pipeline="optimized")}
    yield page.heading("Time of ten epochs")
    yield page.table(["GPUs", "published", "here", "how"], [
        [row["ranks"], f"{float(row['ten_epochs_s']):,.0f} s",
         *((f"{10 * EPOCH_IMAGES / ours[row['ranks']]['images_per_s']:,.0f} s", how(ours[row["ranks"]]))
           if row["ranks"] in ours else ("", "not computed"))] for row in published])
    yield page.paragraph(
        f"The authors' README calls these the times of one epoch, averaged over ten; but 10 x {EPOCH_IMAGES:,} images "
        "divided by them are its images/s, so each is the time of a whole job of ten epochs, start included.")


def auroc_blocks():
    rows = read_csv(SPECS / "published_auroc.csv")
    mean = statistics.mean(float(row["auroc"]) for row in rows)
    yield page.heading("AUROC")
    yield page.table(["label", "published"], [[row["label"].replace("_", " "), f"{float(row['auroc']):.3f}"]
                                              for row in rows] + [["mean", f"{mean:.4f}"]])
    yield page.paragraph(
        "As the authors' README has them; Pneumonia and Pneumothorax look exchanged there, compared with the order of "
        "its labels. The same recipe on chexbench's synthetic X-rays, which are other data and easier, is in "
        "results/learning.md: no training here had the real set.")


def batches(engine):
    if engine.is_real:
        return f"Batches of {engine.batch_size(64)}, on as many ranks as this machine has devices."
    return (f"Batches of 64, on 16 ranks of {BATCH_SIZE[16]}, over links that are faster by the same factor, so that "
            "sending keeps its share of a step.")


def blocks(found, pictures, plan, made, results, engine):
    yield made
    trained = ("V100s are emulated here: figure 3 is a scale model, in which each has the ten cores of the article's "
               "nodes; figures 1, 2 and 4 have this machine's own cores.") if not engine.is_real else (
                   f"Engine {engine.name} trains for real in figure 3; figures 1, 2 and 4 are made without it.")
    yield page.paragraph(
        "Rakshith Vasudev and John Lockman replaced the input pipeline of their CheXNet by that of TensorFlow's "
        f"official models, in ten steps. {trained} OpenCV decodes about as fast as TensorFlow did in 2019.")
    yield page.heading("Claims")
    yield page.table(["claim", "verdict", "evidence"], found)
    yield page.paragraph(f"Scaling is called linear from an efficiency of {LINEAR} on 16 ranks. The authors' own rates "
                         "have an efficiency of 0.65 on 16 V100s.")
    yield from pictures
    yield from closing(results, plan)


def published_rows():
    return [{**row, "device": "v100", "ranks": int(row["ranks"]), "value": float(row["images_per_s"]),
             "kind": "published", "series": "Dell, 2019"} for row in read_csv(SPECS / "published.csv")]


def run(folder, data, budget_minutes, engine):
    """Measures, predicts and writes the pages; returns their paths and the claims."""
    ends = time.monotonic() + 60 * budget_minutes
    plan = groups([(MODEL, "opencv", ranks) for ranks in (1, 16, 8, 4, 2)], engine)
    published = published_rows()
    several = min(2, cores())
    say(f"{NAME}: time lines and the ablation, about 3 minutes")
    overlap = measured(folder / "runs/timeline", SPECS / "timeline.json", [f"data.root={data}"])
    ablation = measured(folder / "runs/ablation", SPECS / "ablation.json",
                        [f"data.root={data}", f"ranks={several}"], several)
    predicted, environment = predict(folder, SPECS, data, ("opencv",), (MODEL,), engine)
    results = Results(predicted, measure(SPECS, plan, predicted, folder, data, ends, lambda group: RANK_BYTES, engine))
    # Last, because it is meaningless on one socket.
    runs = mapping_runs(folder, data, several) if several > 1 else []
    has_time = ends - time.monotonic() > MAPPING_S or all(kept(*run) for _, run in runs)
    rates = map_ranks(runs) if runs and has_time else {}
    found = claims(results, overlap, rates)
    pictures = [*timeline.blocks(folder, folder / "runs/timeline/trace.json"),
                *scaling_blocks(folder, results, published, engine), *time_blocks(results, published), *auroc_blocks(),
                *ablation_blocks(folder, ablation)]
    made = made_by(NAME, budget_minutes, ends, words_of(data), environment, engine)
    pages = page.publish(folder, TITLE, blocks(found, pictures, plan, made, results, engine))
    return pages, found

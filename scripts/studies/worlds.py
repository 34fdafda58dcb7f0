"""Worlds of one to sixteen accelerators: their rows, whether they scale, and their page and CSV."""

import json
import time

import page
import engines
from budget import measure_until
from engines import Engine
from measuring import chexbench, measured, read_spec
from planning import Group, cores, forecast_s, left_out
from verdicts import FAILS, HOLDS, LINEAR, UNKNOWN, write_csv

MODELS = {"resnet50": "ResNet50", "densenet121": "DenseNet121"}
IMAGE_SIZE = {"resnet50": 224, "densenet121": 256}
RANKS = (1, 2, 4, 8, 16)
FLAT = 1.1  # images/s on twice the ranks / before, below which more ranks gain nothing
# With more ranks a step passes more images, so fewer steps show the same amount of input. On sixteen ranks a step of 64
# images a rank takes naive minutes on a few cores, and a window of one step would only show its full buffers.
STEPS = {1: 3, 2: 3, 4: 2, 8: 1, 16: 3}
MOST_TRIALS = 3  # of a spec: naive, and optimized over PNGs and TFRecords
BATCH_SIZE = {1: 64, 2: 64, 4: 64, 8: 64, 16: 8}


def arm_of(trial):
    spec = trial["spec"]
    return {"decoder": spec["data"]["decoder"], "pipeline": spec["pipeline"]["name"], "format": spec["data"]["format"]}


def predict(folder, specs, data, decoders, models, engine):
    """Rows for all ranks, from this machine's decoding rate, and the environment of the runs behind it.

    `specs` is the folder of a study's specs: input.json, and one named after each model. Nothing is predicted for a
    real engine, whose speed is not known.
    """
    rows = []
    for decoder in decoders:
        for model in models:
            run = folder / "runs" / f"input-{model}-{decoder}"
            report = measured(run, specs / "input.json", [f"data.root={data}", f"data.decoder={decoder}",
                                                          f"model.image_size={IMAGE_SIZE[model]}"])
            if engine.is_real:
                continue
            output = chexbench("predict", "--report", run, "--config", specs / f"{model}.json", "--set",
                               f"data.decoder={decoder}", "--set", f"data.root={data}", "--cores-per-rank", 10,
                               "--ranks", *RANKS, "--format", "json")
            for arm in json.loads(output)["arms"]:
                pipeline, fmt = arm["name"].split(",")[0].split()[:2]
                rows += [{"model": model, "decoder": decoder, "pipeline": pipeline, "format": fmt,
                          "ranks": row["ranks"], "kind": "predicted", "images_per_s": row["images_per_s"],
                          "low": None, "high": None, "busy_share": row["accelerator_share"], "scale_factor": None}
                         for row in arm["rows"]]
    return rows, report["environment"]


def link_settings(spec, batch_size):
    """Links that are as much faster as a batch is smaller than the study's, so that sending keeps its share of a step.

    Gradients do not shrink with the batch.
    """
    share, comm = batch_size / spec["training"]["batch_size"], spec["comm"]
    return [] if share == 1 else [f"comm.alpha_s={share * comm['alpha_s']:g}",
                                  f"comm.beta_bytes_per_s={comm['beta_bytes_per_s'] / share:g}"]


def groups(order, engine):
    """A group for each (model, decoder, ranks) of `order` that the engine has enough devices for."""
    most = engine.most_ranks() if engine.is_real else RANKS[-1]
    return [Group(model, decoder, ranks, STEPS[ranks], engine.batch_size(BATCH_SIZE[ranks]))
            for model, decoder, ranks in order if ranks <= most]


def measure(specs, plan, predicted, folder, data, ends, rank_bytes, engine):
    """The groups of `plan` that fit before `ends` (time.monotonic()), with their reports; marks those left out."""
    def run_of(group):
        spec = specs / f"{group.config}.json"
        stated = read_spec(spec)
        changed = engine.settings(stated) if engine.is_real else link_settings(stated, group.batch_size)
        name = f"{group.name}-{engine.name}" if engine.is_real else group.name
        return folder / "runs" / name, spec, [f"data.root={data}", *group.settings(), *changed], group.ranks

    for group in plan:
        rates = [row["images_per_s"] for row in predicted
                 if (row["model"], row["decoder"], row["ranks"]) == (group.config, group.decoder, group.ranks)]
        trials = rates or [group.ranks * engines.GUESSED_RATE[engine.name]] * MOST_TRIALS
        group.seconds = forecast_s(group, trials, engine.scale_factor(group.ranks))
    return measure_until(ends, specs.name, plan, run_of, lambda group: rank_bytes(group) + engine.rank_bytes)


def measured_rows(group, report):
    rows = []
    for trial in report["trials"]:
        figures = trial["figures"]
        low, high = figures["images_per_s_ci95"] or (None, None)
        rows.append({"model": group.config, **arm_of(trial), "ranks": group.ranks, "kind": "measured",
                     "images_per_s": figures["images_per_s"], "low": low, "high": high,
                     "busy_share": figures["busy_share"],
                     "scale_factor": trial["scale_factor"] if figures["emulated"] else None})
    return rows


class Results:
    """The rows, measured ones instead of predicted ones where there are both, and the measured ratios."""

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


def linear_claim(results, model, pipeline, fmt="images"):
    """Judges whether a pipeline scales linearly, to all ranks."""
    claim = f"{MODELS[model]}, {pipeline}: scaling is close to linear"
    arm = {"model": model, "decoder": "opencv", "pipeline": pipeline, "format": fmt}
    predicted = {row["ranks"]: row for row in results.select(kind="predicted", **arm)}
    most, one = results.most(**arm)
    if most is None or most["low"] is None or one["low"] is None:
        return claim, UNKNOWN, "not measured on more than one rank"
    value, low, high = efficiency(most, one)
    verdict = FAILS if high < LINEAR else HOLDS if low >= LINEAR and most["ranks"] == RANKS[-1] else UNKNOWN
    text = f"efficiency {value:.2f} ({low:.2f} to {high:.2f}) on {most['ranks']} ranks, measured"
    if 16 in predicted:
        text += f"; {predicted[16]['images_per_s'] / (16 * one['images_per_s']):.2f} on 16 ranks, predicted"
    return claim, verdict, text


def flat_claim(results, model, pipeline, fmt="images"):
    """Judges whether more ranks gain nothing, by the last doubling of the ranks that was measured.

    It scales only if the doubling to all ranks gains.
    """
    claim = f"{MODELS[model]}, {pipeline}: it does not scale"
    rows = {row["ranks"]: row for row in results.select(kind="measured", model=model, decoder="opencv",
                                                        pipeline=pipeline, format=fmt) if row["low"] is not None}
    doubled = [(rows[ranks // 2], row) for ranks, row in sorted(rows.items()) if ranks // 2 in rows]
    if not doubled:
        return claim, UNKNOWN, "not measured on two numbers of ranks, one twice the other"
    few, many = doubled[-1]
    low, high = many["low"] / few["high"], many["high"] / few["low"]
    text = (f"{many['ranks']} ranks train {many['images_per_s'] / few['images_per_s']:.2f} x ({low:.2f} to {high:.2f}) "
            f"the images/s of {few['ranks']}, measured")
    fails = low > FLAT and many["ranks"] == RANKS[-1]
    return claim, HOLDS if high < FLAT else FAILS if fails else UNKNOWN, text


def ratio_text(finding):
    low, high = finding["ratio_ci95"] or (None, None)
    interval = f" ({low:.2f} to {high:.2f})" if low is not None else ""
    return f"{finding['ratio']:.2f}{interval}"


def series_rows(results, names, **values):
    return [{**row, "series": " ".join(row[name] for name in names), "value": row["images_per_s"]}
            for row in results.select(**values)]


def write_figure(path, rows, quantity):
    renamed = {"value": quantity, "low": "ci95_low", "high": "ci95_high"}
    columns = ["model", "decoder", "pipeline", "format", "ranks", "kind", "value", "low", "high", "scale_factor",
               "source"]
    write_csv(path, [{renamed.get(name, name): row.get(name) for name in columns} for row in rows],
              [renamed.get(name, name) for name in columns])


def rates_table(results, model):
    rows = []
    for row in sorted(results.select(model=model), key=lambda row: (row["decoder"], row["pipeline"], row["format"],
                                                                   row["ranks"])):
        interval = f" ({row['low']:,.0f} to {row['high']:,.0f})" if row["low"] is not None else ""
        rows.append([row["decoder"], row["pipeline"], row["format"], row["ranks"],
                     f"{row['images_per_s']:,.0f}{interval}", f"{100 * row['busy_share']:.1f} %", how(row)])
    return page.table(["decoder", "pipeline", "format", "ranks", "images/s (95 % interval)", "busy", "how"], rows)


def how(row):
    """How a rate was found."""
    if row["kind"] != "measured":
        return "predicted"
    return f"scale model, 1 : {row['scale_factor']:.3g}" if row["scale_factor"] else "trained for real"


def predictions_table(results):
    """Measured rates next to predictions from the input alone."""
    rows = []
    for row in results.select(kind="measured"):
        predicted = results.predicted[results.key(row)]["images_per_s"]
        rows.append([row["model"], row["decoder"], row["pipeline"], row["format"], row["ranks"],
                     f"{row['images_per_s']:,.0f}", f"{predicted:,.0f}", f"{predicted / row['images_per_s']:.2f}"])
    return page.table(["model", "decoder", "pipeline", "format", "ranks", "measured", "predicted", "ratio"], rows)


def made_by(name, budget_minutes, ends, data, environment, engine=Engine()):
    """A page's first paragraph. `data` is its words for the data; `environment` is that of a run, or None."""
    options = f" --engine {engine.name}" if engine.is_real else ""
    minutes = budget_minutes - (ends - time.monotonic()) / 60
    machine = "" if environment is None else (
        f" Measured on {environment['cpu']}, {cores()} cores, {environment['date_utc'][:10]}, with chexbench "
        f"{environment['chexbench_version']}.")
    return page.paragraph(f"Made by scripts/reproduce {name} --budget {budget_minutes:g}{options} in {minutes:.1f} "
                          f"minutes; any measurements of earlier runs were reused. Data: {data}.{machine}")


def closing(results, plan):
    """The end of a page: predictions next to measurements, and the groups left out."""
    if results.predicted and results.select(kind="measured"):
        yield page.heading("Predictions and measurements")
        yield predictions_table(results)
    if left_out(plan):
        yield page.heading("Not measured")
        instead = " and were predicted instead" if results.predicted else ""
        yield page.paragraph(f"These did not fit into the budget{instead}:")
        yield page.bullets(left_out(plan))

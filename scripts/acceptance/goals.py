"""The summary: each figure with its goal, from the rows alone."""

import statistics

# In the same run, on an H200: lib/engine/cuda's own kernels around plain convolutions, then with fused convolutions.
RATIO_GOALS = {"resnet50": [1.5, 2.3], "densenet121": [2.0]}
FED_SHARE_GOAL = 0.9  # if the cores decode that many
# The parts that check whether numbers are right.
NUMBERS = {"golden": "golden values", "gate": "as in f32, fused and unfused"}
LEARNED_GOALS = {"mean_auroc": 0.95}  # of 8,000 synthetic X-rays, on patients outside the training set
COPY_SHARE_GOAL = 0.85  # of a plain copy's bandwidth, by own kernels
OUTSIDE_KERNELS_GOAL = 0.03  # of a step at batch 64, at most
# Images/s of one GPU in NVIDIA's DeepLearningExamples, MxNet/Classification/RN50v1.5, README.md, "Training
# performance": (model, precision, batch, images/s). The DGX-1 has V100s of 16 GB.
PUBLISHED_FOR = {"V100": [("resnet50", "fp16", 192, 1376), ("resnet50", "f32", 96, 384)]}
PUBLISHED = {"resnet50": "published for PyTorch AMP on an H200: 3079 images/s, on an H100: 2790"}


def figure(name, value, goal=None, note="", judged=True, at_most=False):
    """`met` is None without a goal, or without a figure for it."""
    met = None
    if judged and goal is not None and value is not None:
        met = value <= goal if at_most else value >= goal
    value = round(value, 4) if isinstance(value, float) else value
    return {"figure": name, "value": value, "goal": goal, "met": met, **({"note": note} if note else {})}


class Rows:
    """The rows that have a figure, found by their facts."""

    def __init__(self, rows):
        self.rows = rows

    def rates(self, **facts):
        """images/s by turn, of whole and cut rows; a later part's row of the same turn does not count."""
        by_turn = {}
        for row in self.rows:
            if row.get("images_per_s") and all(row.get(key) == value for key, value in facts.items()):
                by_turn.setdefault(row.get("turn", 1), row["images_per_s"])
        return by_turn

    def rate(self, **facts):
        rates = self.rates(**facts)
        return statistics.median(rates.values()) if rates else None

    def why_not(self, **facts):
        """Why no such row has a figure: the first one's message."""
        for row in self.rows:
            if all(row.get(key) == value for key, value in facts.items()) and row["outcome"] != "ok":
                return f"not measured: {row.get('reason', row['outcome'])}"
        return "not measured: not asked for"


def ratios_to_torch(rows, training):
    """Ours to the better of PyTorch's modes within each turn, and those modes; if a mode did not run in a turn, its
    first turn is used."""
    ours = rows.rates(framework="chexbench", mode="default", **training)
    modes = {mode: rows.rates(framework="torch", mode=mode, **training) for mode in ("eager", "compiled")}
    modes = {mode: rates for mode, rates in modes.items() if rates}
    if not modes:
        return [], []
    peer = {turn: max(rates.get(turn, next(iter(rates.values()))) for rates in modes.values()) for turn in ours}
    return [rate / peer[turn] for turn, rate in ours.items()], list(modes)


def against_torch(rows, model, batch, precision, goals=(None,)):
    training = {"model": model, "batch": batch, "precision": precision}
    name = f"{model} {precision} batch {batch}: chexbench / PyTorch's better of eager and compiled"
    ratios, modes = ratios_to_torch(rows, training)
    if not ratios:
        lacking = "torch" if rows.rate(framework="chexbench", mode="default", **training) else "chexbench"
        return [figure(name, None, goal, rows.why_not(framework=lacking, **training)) for goal in goals]
    note = f"turns: {len(ratios)}, {min(ratios):.2f} to {max(ratios):.2f}"
    if len(modes) == 1:
        note += f"; against {modes[0]} alone, so no goal can be met"
    value = statistics.median(ratios)
    return [figure(name, value, goal, note, judged=len(modes) == 2 or goal is None or value < goal) for goal in goals]


def published_for(gpu):
    return next((known for name, known in PUBLISHED_FOR.items() if name in gpu), [])


def published(rows):
    figures = []
    for row in rows.rows:
        for gpu in row.get("doctor", {}).get("gpus", [])[:1]:
            for model, precision, batch, goal in published_for(gpu["name"]):
                facts = {"part": "published", "model": model, "precision": precision, "batch": batch}
                rate = rows.rate(**facts)
                name = f"{model} {precision} batch {batch}: images/s, goal published by NVIDIA"
                figures.append(figure(name, rate, goal, "" if rate else rows.why_not(**facts)))
    return figures


def numbers(rows):
    figures = []
    for row in rows.rows:
        if row["part"] in NUMBERS:
            judged = row["outcome"] in ("ok", "failed")
            note = "" if row["outcome"] == "ok" else rows.why_not(case=row["case"])
            figures.append(figure(f"{NUMBERS[row['part']]}, {row['model']} {row['precision']}",
                                  row["outcome"] == "ok" if judged else None, True, note))
    return figures


def learned(rows):
    """The best epoch of each training to the end, by the score that judges it."""
    return [figure(f"{row['case']}: {row['score']}", row["best"], LEARNED_GOALS.get(row["score"]),
                   f"{len(row['by_epoch'])} epochs, {row['elapsed_s'][-1]} s")
            for row in rows.rows if row["part"] == "learning" and "best" in row]


def fed_by_pngs(rows, model):
    """Whether the engine or the cores' decoding bounds the fed rate."""
    name = f"{model} fp16 batch 256: fed by PNGs (optimized) / synthetic"
    fed = rows.rate(part="input", model=model, mode="optimized")
    synthetic = rows.rate(framework="chexbench", model=model, precision="fp16", batch=256, mode="default")
    if not fed or not synthetic:
        lacks = {"part": "input", "model": model} if synthetic else {"framework": "chexbench", "model": model}
        return figure(name, None, FED_SHARE_GOAL, rows.why_not(**lacks))
    ceiling = rows.rate(part="input", mode="ceiling")
    if ceiling is None:
        return figure(name, fed / synthetic, FED_SHARE_GOAL, "what the cores decode was not measured")
    share = f"the cores decode {ceiling:.0f} images/s, {ceiling / synthetic:.2f} of synthetic"
    if ceiling >= FED_SHARE_GOAL * synthetic:
        return figure(name, fed / synthetic, FED_SHARE_GOAL, share)
    return figure(name, fed / synthetic, FED_SHARE_GOAL, f"{share}: bound by decoding, so the goal does not apply; fed "
                  f"reaches {fed / ceiling:.2f} of that", judged=False)


def quotient(rows, name, above, below):
    rates = rows.rate(**above), rows.rate(**below)
    if not all(rates):
        return figure(name, None, note=rows.why_not(**(below if rates[0] else above)))
    return figure(name, rates[0] / rates[1])


def quotients(rows):
    for model in RATIO_GOALS:
        for part, name, above, below in (("input", "fed by PNGs", "optimized", "naive"),
                                         ("graph", "fp16 batch 64", "replay", "eager"),
                                         ("graph", "fp16 batch 64", "accumulated", "replay"),
                                         ("graph", "fp16 batch 64", "replay", "one by one"),
                                         ("graph", "fp16 batch 256", "fused", "unfused"),
                                         ("graph", "fp16 batch 256", "concurrent weight gradients", "fused"),
                                         ("graph", "fp16 batch 256", "frozen base", "fused")):
            facts = {"part": part, "model": model}
            yield quotient(
                rows, f"{model} {name}: {above} / {below}", {**facts, "mode": above}, {**facts, "mode": below}
            )


def outside_kernels(rows, model):
    """Kernels from the run that timed them, the step from one that did not: timing widens the gaps between kernels."""
    name = f"{model} fp16 batch 64: share of the step outside kernels (at most)"
    timed = next((row for row in rows.rows if row.get("model") == model and row.get("batch") == 64
                  and row.get("kernel_s_per_step")), None)
    if not timed:
        return figure(name, None, OUTSIDE_KERNELS_GOAL, rows.why_not(part="kernels", model=model, batch=64))
    kernels_s = timed["kernel_s_per_step"]
    while_timed = 1 - kernels_s / timed["step_s"]
    note = f"{kernels_s * 1e3:.3f} ms in kernels; while kernels were timed {while_timed:.3f}"
    rate = rows.rate(framework="chexbench", model=model, precision="fp16", batch=64, mode="default")
    if rate is None:  # an upper bound: only a goal that is met is conclusive
        return figure(name, while_timed, OUTSIDE_KERNELS_GOAL, f"{note}; the step was not timed without that",
                      judged=while_timed <= OUTSIDE_KERNELS_GOAL, at_most=True)
    return figure(name, 1 - kernels_s * rate / 64, OUTSIDE_KERNELS_GOAL, note, at_most=True)


def own_kernels(rows):
    """Whether they match the host, and how near they are to a copy: all together, and the worst of those that take at
    least a twentieth of their time. A sweep that was cut short gives no share."""
    for row in rows.rows:
        if row["part"] != "kernel-sweep":
            continue
        name = f"{row['model']} {row['precision']} batch {row['batch']}: own kernels"
        wrong = row.get("wrong")
        if wrong:
            yield figure(f"{name} compute what the host does", False, True, f"wrong: {', '.join(wrong[:3])}")
        else:
            note = rows.why_not(case=row["case"]) if wrong is None else \
                f"{row['checked_kernels']} kernels and shapes, {row['checked_values']} values"
            yield figure(f"{name} compute what the host does", None if wrong is None else True, True, note)
        worst = row.get("worst_kernel")
        for what, value, note in (("all, weighted by time", row.get("copy_share"), ""),
                                  ("the worst", row.get("worst_copy_share"), worst)):
            complete = row.get("complete", False)
            if value is None:
                note = rows.why_not(case=row["case"])
            elif not complete:
                note = "not all were measured"
            yield figure(f"{name} / a copy of as many bytes, {what}", value, COPY_SHARE_GOAL, note, judged=complete)


def memory_errors(rows):
    for row in rows.rows:
        if row["part"] == "memcheck":
            errors = row.get("memory_errors")
            clean = None if errors is None else errors == 0
            return [figure("own kernels without memory errors", clean, True,
                           rows.why_not(part="memcheck") if clean is None else f"{errors} errors")]
    return []


def summarize(row_list):
    """Every figure, its goal (None: it has none), and whether it is met (None: not measured, or no goal)."""
    rows = Rows(row_list)
    figures = numbers(rows) + published(rows)
    for model, goals in RATIO_GOALS.items():
        figures += against_torch(rows, model, 256, "fp16", goals)
    for model in RATIO_GOALS:
        for mode in ("eager", "compiled"):
            facts = {"framework": "torch", "model": model, "precision": "fp16", "batch": 256, "mode": mode}
            rate = rows.rate(**facts)
            figures.append(figure(f"{model} fp16 batch 256: PyTorch {mode}, images/s", rate,
                                  note=PUBLISHED.get(model, "") if rate else rows.why_not(**facts)))
    figures += [fed_by_pngs(rows, model) for model in RATIO_GOALS]
    for model in RATIO_GOALS:
        for batch, precision in ((64, "fp16"), (128, "fp16"), (256, "bf16")):
            figures += against_torch(rows, model, batch, precision)
    figures += quotients(rows)
    figures += learned(rows)
    figures += own_kernels(rows)
    figures += memory_errors(rows)
    return figures + [outside_kernels(rows, model) for model in RATIO_GOALS]

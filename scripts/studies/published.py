"""Published rates on several GPUs next to predictions: over links alone, and with the software that their authors ran.

Each prediction begins with the source's own rate on one GPU. Nothing is fitted to the rates that it is compared with:
configs/communication has the source of each term.
"""

import itertools
import json
import statistics
import tempfile
from pathlib import Path

import drawing
import page
from measuring import ROOT, StudyError, chexbench, read_csv
from verdicts import EXPLAINED, UNEXPLAINED, write_csv

NAME = "published"
TITLE = "Published rates on several GPUs, and what explains them"
NEEDS_DATA = False
TRAINS_FOR_REAL = False  # with --engine cuda or onednn
MEASURES = False
STUDIES = ROOT / "configs/studies"
SPECS = STUDIES / NAME
SOURCES = {"dell-article": "published.csv", "malik": "published.csv", "salvaris": "published.csv",
           NAME: "held_out.csv"}
CLASSES = {"Dell": 14}  # outputs of the network; ImageNet's 1000 in all other sources
MISFIT = 0.15  # of a rate from a published one, beyond which they differ
COLUMNS = ["study", "device", "model", "precision", "batch_size", "ranks", "by", "comm_profile", "published", "ideal",
           "predicted", "ideal_ratio", "ratio", "source"]


def published_rows(study):
    """A study's published rates, with numbers as numbers."""
    return [{**row, **{name: int(row[name]) for name in ("ranks", "image_size", "batch_size")}, "study": study,
             "images_per_s": float(row["images_per_s"]), "kind": "published"}
            for row in read_csv(STUDIES / study / SOURCES[study])]


def without_repeats(rows):
    """The rows, without those that another study has, too."""
    return list({tuple(row[name] for name in ("device", "model", "precision", "batch_size", "ranks", "images_per_s")):
                 row for row in reversed(rows)}.values())[::-1]


def system_of(systems, row):
    """What the row's author ran it on, or None if no row of systems.csv has it."""
    return next((one for one in systems if one["by"] == row["by"] and one["device"] in ("", row["device"])), None)


def profile_of(row, rate):
    """An accelerator profile whose only entry is a source's own rate on one GPU."""
    entry = {name: row[name] for name in ("model", "image_size", "precision", "batch_size", "source")}
    return {"name": row["device"], "device": row["device"].upper(),
            "entries": [{**entry, "images_per_s": rate, "includes_update": True, "includes_communication": False}]}


def rates(profile, row, ranks, options):
    """Predicted images/s by number of ranks."""
    settings = [f"engine=emulated:{profile}", f"model.name={row['model']}", f"model.image_size={row['image_size']}",
                f"training.batch_size={row['batch_size']}", f"training.precision={row['precision']}",
                f"data.labels.classes={CLASSES.get(row['by'], 1000)}"]
    output = chexbench("predict", "--config", SPECS / "training.json",
                       *(text for setting in settings for text in ("--set", setting)), *options, "--ranks", *ranks,
                       "--format", "json")
    return {one["ranks"]: one["images_per_s"] for one in json.loads(output)["arms"][0]["rows"]}


def link_options(system):
    options = ["--host-link", system["host_link"], "--ranks-per-host", system["ranks_per_host"]]
    return options + (["--link", system["link"]] if system["link"] else [])


def predicted(rows, alone, system):
    """The rows of one source's training on several GPUs, with both predictions."""
    ranks = sorted({row["ranks"] for row in rows})
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile.json"
        profile.write_text(json.dumps(profile_of(alone, alone["images_per_s"])))
        links = link_options(system)
        ideal = rates(profile, alone, ranks, links)
        named = rates(profile, alone, ranks, [*links, "--comm", system["comm_profile"]])
    return [{**row, "comm_profile": system["comm_profile"], "published": row["images_per_s"],
             "ideal": ideal[row["ranks"]], "predicted": named[row["ranks"]],
             "ideal_ratio": ideal[row["ranks"]] / row["images_per_s"],
             "ratio": named[row["ranks"]] / row["images_per_s"]} for row in rows]


def training_of(row):
    return tuple(str(row[name]) for name in ("study", "device", "model", "precision", "batch_size", "by"))


def compare(rows, systems):
    """The rows of several GPUs with both predictions."""
    compared = []
    alone = {training_of(row): row for row in rows if row["ranks"] == 1}
    several = sorted((row for row in without_repeats(rows) if row["ranks"] > 1), key=training_of)
    for training, group in itertools.groupby(several, training_of):
        group = sorted(group, key=lambda row: row["ranks"])
        system = system_of(systems, group[0])
        own = alone.get((*training[:-1], system["alone"] or training[-1])) if system else None
        if own is None:
            raise StudyError(f"{SPECS / 'systems.csv'}: it has no system, or {group[0]['study']} no rate on one GPU, "
                             f"for {group[0]['by']}, {group[0]['model']} on {group[0]['device']}", 3)
        compared += predicted(group, own, system)
    return compared


def median_misfit(rows, ratio):
    return statistics.median(abs(row[ratio] - 1) for row in rows)


def off(rows, ratio="ratio"):
    return [row for row in rows if abs(row[ratio] - 1) > MISFIT]


def percent(share):
    return f"{100 * share:.1f} %"


def totals(rows):
    """A row of a table over these compared rates, by both models."""
    return [len(rows), *(text for ratio in ("ideal_ratio", "ratio") for text in (
        percent(median_misfit(rows, ratio)), len(off(rows, ratio)),
        f"{min(row[ratio] for row in rows):.2f} to {max(row[ratio] for row in rows):.2f}"))]


def name_of(system):
    return system["by"] + (f", {system['device'].upper()}" if system["device"] else "")


def system_table(compared, systems):
    header = ["source", "communication", "rows", "links alone: median misfit",
              f"beyond {100 * MISFIT:.0f} %", "predicted / published", "with software: median misfit",
              f"beyond {100 * MISFIT:.0f} %", "predicted / published"]
    made = []
    for system in systems:
        rows = [row for row in compared if system_of(systems, row) is system]
        if rows:
            made.append([name_of(system), system["comm_profile"], *totals(rows)])
    return page.table(header, [*made, ["all", "", *totals(compared)]])


def row_table(rows):
    return page.table(
        ["GPU", "model", "batch", "GPUs", "by", "published", "links alone", "with software", "ratio"],
        [[row["device"].upper(), f"{row['model']} {row['precision']}", row["batch_size"], row["ranks"], row["by"],
          f"{row['published']:,.5g}", f"{row['ideal']:,.0f}", f"{row['predicted']:,.0f}", f"{row['ratio']:.2f}"]
         for row in rows])


def claims(compared):
    """Whether the named software explains the published rates of each source."""
    found = []
    for by in dict.fromkeys(row["by"] for row in compared):
        rows = [row for row in compared if row["by"] == by]
        worst = max(rows, key=lambda row: abs(row["ratio"] - 1))
        claim = f"{by}: {rows[0]['comm_profile']} predicts the published rates within {100 * MISFIT:.0f} %"
        found.append((claim, UNEXPLAINED if off(rows) else EXPLAINED,
                      f"{len(rows) - len(off(rows))} of {len(rows)} rows; predicted / published is at worst "
                      f"{worst['ratio']:.2f}, on {worst['ranks']} {worst['device'].upper()}s"))
    return found


def ratio_figure(folder, compared):
    title = "Predicted / published, by the number of GPUs"
    lines = []
    for training, group in itertools.groupby(compared, training_of):
        lines += [{"series": f"{row['by']}, {row['device'].upper()} {row['model']} {row['precision']}",
                   "computed": True, "x": row["ranks"],
                   **dict.fromkeys(("low", "value", "high"), row["ratio"])} for row in group]
    return page.figure(drawing.over, folder, "figure1", title, ("GPUs", "predicted / published"), lines)


def blocks(folder, compared, systems):
    yield page.paragraph(
        f"Made by scripts/reproduce {NAME}: predictions only, each from the source's own rate on one GPU. \"Links "
        "alone\" is a ring at the line rate; \"with software\" adds what the source's communication software costs, by "
        "the profiles of configs/communication. Each of their terms has a published source, and none was fitted to a "
        "rate below. The bandwidth of horovod-mpi-host includes the wait for the first gradients, so where computing "
        "hides it, a rate is up to 0.5 % above that of the links.")
    yield page.heading("Claims")
    yield page.table(["claim", "verdict", "evidence"], claims(compared))
    yield page.heading("By source")
    yield system_table(compared, systems)
    yield page.bullets([f"{name_of(system)}: {system['system']}" for system in systems])
    yield from ratio_figure(folder, compared)
    yield page.heading("What the model does not explain")
    yield page.paragraph(
        "Dell's rates average whole jobs of ten epochs, start included, which no term describes. On Ethernet, "
        "Salvaris's K80s fall behind within a host already, at four GPUs, and the nodes' link is not stated. Over "
        "InfiniBand the model makes his V100s and P100s up to 18 % too slow. What AlexNet loses on eight P100s of one "
        "host, no term describes. "
        "horovod/horovod issue 416 (ResNet101) is not compared, because chexbench lacks that network.")
    yield row_table(off(compared))
    yield page.heading("All rows")
    yield row_table(compared)
    yield page.paragraph("Values, with their sources: compared.csv.")


def run(folder, *_):
    """Predicts and writes the pages; returns their paths and the claims."""
    systems = read_csv(SPECS / "systems.csv")
    compared = compare([row for study in SOURCES for row in published_rows(study)], systems)
    write_csv(folder / "compared.csv", compared, COLUMNS)
    pages = page.publish(folder, TITLE, blocks(folder, compared, systems))
    return pages, claims(compared)

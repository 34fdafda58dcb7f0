"""Salvaris's stores, loaders and data formats: measured on one emulated V100 with shaped stores."""

import statistics

import drawing
import page
from measuring import ROOT, StudyError, chexbench, read_csv, read_spec
from planning import Group, at_most_cores, cores
from verdicts import FAILS, HOLDS, UNKNOWN, doubt, select, with_interval, write_csv
from worlds import ratio_text
from xrays import images_of

SPECS = ROOT / "configs/studies/salvaris"
STORES = {"local": "local", "nfs": "NFS", "blob": "blob"}
LOADERS = {"keras": "Keras", "pytorch": "PyTorch", "optimized": "TensorFlow"}
FORMATS = {"images": "PNG", "tfrecord": "TFRecord"}
FORMAT_STORES = ("local", "blob")
CEILING = "storage-synthetic"
SLOW = "storage-nfs-slow"  # a latency at which TensorFlow's loader falls to what Salvaris published
SLOW_STEPS = 14  # more would begin a second epoch
BATCH_SIZE = 64
STEPS = 20
IMAGES = 1536  # of the set that is made here
IMAGE_SIZE = 512
MAKE_S = 20  # of that set, on two cores
CORES = 6  # that a GPU of a Standard_NC24rs_v3 has: 24 for four
V100_IMAGES_PER_S = 357
RANK_BYTES = 600e6
DECODE_S = 3e-3  # that a thread needs for an image, for the forecast
# Images that arrive before the first batch.
FIRST_IMAGES = {"keras": BATCH_SIZE, "pytorch": 5 * BATCH_SIZE, "optimized": 500 + BATCH_SIZE}
START_S = 1.0  # to start and end a repeat
IN_FLIGHT = {"keras": 1, "pytorch": 5, "optimized": 10}  # files that a loader reads at once
EQUAL = 0.05  # of a ratio from 1, within which two rates are called equal
COLUMNS = ["store", "loader", "format", "kind", "images_per_s", "ci95_low", "ci95_high", "of_synthetic", "buffer_fed",
           "source"]


def groups():
    """The most telling first. Formats are compared on local and blob storage, as in the talk."""
    made = [Group(CEILING, "none", 1, STEPS)]
    made += [Group(f"storage-{store}", "opencv", 1, STEPS) for store in ("blob", "local", "nfs")]
    return [*made, Group(SLOW, "opencv", 1, SLOW_STEPS)]


def store_of(group):
    return group.config.removeprefix("storage-")


def formats_of(group):
    return tuple(FORMATS) if store_of(group) in FORMAT_STORES else ("images",)


def settings(group, data):
    made = [f"measure.steps={group.steps}", f"measure.repeats={group.repeats}",
            f"measure.warmup_steps={group.warmup_steps}", f"engine=emulated:{SPECS}/accelerators/v100.json",
            *at_most_cores(1, CORES)]
    if group.config != CEILING:
        made.append(f"data.root={data}")
        if len(formats_of(group)) == 1:
            made.append(f"data.format={formats_of(group)[0]}")
    return made


def expected_rate(shape, loader, fmt, image_bytes):
    """images/s that a loader should reach on a store, for the forecast of a group's time."""
    requests = 1 if fmt == "images" else image_bytes / 2 ** 20
    bandwidth = 1e6 * shape["bandwidth_mb_per_s"] if "bandwidth_mb_per_s" in shape else float("inf")
    image_s = requests * shape.get("latency_ms", 0) / 1e3 + image_bytes / bandwidth + DECODE_S
    threads = 1 if loader == "keras" else min(IN_FLIGHT[loader], cores())
    return min(V100_IMAGES_PER_S, IN_FLIGHT[loader] / image_s, threads / DECODE_S, bandwidth / image_bytes,
               shape.get("iops", float("inf")) / requests)


def forecast_s(group, image_bytes):
    steps = group.warmup_steps + group.steps
    if group.config == CEILING:
        return group.repeats * (START_S + steps * group.batch_size / V100_IMAGES_PER_S)
    shape = read_spec(SPECS / f"{group.config}.json").get("store", {}).get("shape", {})
    arms = [(FIRST_IMAGES[loader] + steps * group.batch_size) / expected_rate(shape, loader, fmt, image_bytes)
            for loader in (("optimized",) if group.config == SLOW else LOADERS) for fmt in formats_of(group)]
    return group.repeats * (START_S * len(arms) + sum(arms))


def own_root(folder):
    return folder / "runs/xrays"


def is_made(folder):
    return (own_root(folder) / "tfrecord/all-manifest.json").is_file()


def own_data(folder):
    """A set that is large enough for PyTorch's workers, with files as large as ImageNet's; made once."""
    data = own_root(folder)
    chexbench("data", "synth", data, "--images", IMAGES, "--size", IMAGE_SIZE)  # continues with the existing files
    if not is_made(folder):
        chexbench("data", "convert", data, "--split", "all", "--shards", 16)
    return data


def check(data):
    """How many images a given data set has; rejects one that cannot be measured before any measurement.

    @throws StudyError
    """
    images = images_of(data)
    if images < BATCH_SIZE:
        raise StudyError(f"{data}: it has {images} images, and a batch of this study {BATCH_SIZE}: give a larger data "
                         f"set, or none, and {IMAGES} synthetic X-rays are made", 3)
    chexbench("--config", SPECS / "storage-local.json", "--set", f"data.root={data}", "--set",
              f"engine=emulated:{SPECS}/accelerators/v100.json", "--dry-run")  # ends with an error without TFRecords
    return images


def image_bytes_of(data):
    """The mean size of an image file, for the forecast."""
    sizes = [path.stat().st_size for path, _ in zip(data.glob("images/*"), range(100))]
    return statistics.mean(sizes) if sizes else 110e3


def run_of(group, folder, data):
    """The arguments of measured() for a group; None, with the reason in `left_out`, if there is no data set."""
    if data is None and group.config != CEILING:
        group.left_out = "making its data set takes more than the budget leaves"
        return None
    return folder / "runs" / group.config, SPECS / f"{group.config}.json", settings(group, data)


def forecast(plan, data):
    image_bytes = image_bytes_of(data) if data else 110e3
    for group in plan:
        group.seconds = forecast_s(group, image_bytes)


def rows_of(reports):
    """A row for each store, loader and format; the ceiling has store "synthetic"."""
    rows = []
    for group, report in reports:
        for trial in report["trials"]:
            figures = trial["figures"]
            low, high = figures["images_per_s_ci95"] or (None, None)
            is_ceiling = group.config == CEILING
            rows.append({"store": store_of(group), "loader": "" if is_ceiling else trial["spec"]["pipeline"]["name"],
                         "format": trial["spec"]["data"]["format"], "kind": "measured",
                         "images_per_s": figures["images_per_s"], "ci95_low": low, "ci95_high": high,
                         "buffer_fed": figures["buffer_fed"],
                         "repeats": [repeat["images_per_s"] for repeat in trial["repeats"]]})
    ceiling = next((row["images_per_s"] for row in rows if row["store"] == "synthetic"), None)
    for row in rows:
        row["of_synthetic"] = row["images_per_s"] / ceiling if ceiling else None
    return rows


def published_rows():
    return [{**row, "kind": "published", "images_per_s": float(row["images_per_s"]) / int(row["ranks"])}
            for row in read_csv(SPECS / "published_storage.csv")]


def ratios_of(reports):
    """The ratios that chexbench found within a store's rounds, by (store, kind, loader, format)."""
    found = {}
    for group, report in reports:
        for finding in report["findings"]:
            if finding.get("ratio") is not None and finding["kind"] in ("pipeline_ratio", "format_ratio"):
                words = finding["trial"].split()  # a trial is named after the differences, so perhaps without a format
                fmt = next((word for word in words if word in FORMATS), formats_of(group)[0])
                found[store_of(group), finding["kind"], words[0], fmt] = finding
    return found


def is_told(finding):
    return finding["ratio_ci95"] is not None and not doubt(finding)


def across(row, base):
    """row / base of two runs, with the bounds that both intervals allow, or None if one has no interval."""
    if row["ci95_low"] is None or base["ci95_low"] is None:
        return None
    return (row["images_per_s"] / base["images_per_s"], row["ci95_low"] / base["ci95_high"],
            row["ci95_high"] / base["ci95_low"])


def bar(row, group, series):
    return {"group": group, "series": series, "value": row["images_per_s"], "low": row.get("ci95_low"),
            "high": row.get("ci95_high"), "kind": row["kind"], "buffer_fed": row.get("buffer_fed")}


def set_text(images):
    """A page's words for a given data set of this many images, or for the one made here if None."""
    if images is None:
        return f"{IMAGES:,} synthetic X-rays of {IMAGE_SIZE}x{IMAGE_SIZE}, whose files are as large as ImageNet's."
    window = BATCH_SIZE * (STEPS + 2)
    return f"{images:,} images of a data set that was given." + (
        f" A window passes {window:,}, so loaders begin epochs within it, and PyTorch's workers are started anew."
        if images < window else "")


def storage_blocks(folder, rows, published, images):
    """Figures 7 and 8: images/s by store and loader, and relative to local storage."""
    title = "Figure 7: ResNet50 on a V100 by store and loader"
    ceiling = select(rows, store="synthetic")
    files = [row for row in rows if row["format"] == "images"]
    write_csv(folder / "figure7.csv", [*ceiling, *files, *published], COLUMNS)
    yield page.heading(title)
    if not files:
        yield page.paragraph("Not measured. Values: figure7.csv.")
        return
    bars = [bar(row, STORES[row["store"]], LOADERS[row["loader"]]) for store in STORES for loader in LOADERS
            for row in [*select(files, store=store, loader=loader), *select(published, store=store, loader=loader)]]
    yield from page.figure(drawing.grouped, folder, "figure7", title, "images/s of one GPU", bars,
                           ceiling[0]["images_per_s"] if ceiling else None)
    yield page.table(["store", "loader", "images/s (95 % interval)", "of synthetic", "fed from buffers"],
                     [[STORES.get(row["store"], row["store"]), LOADERS.get(row["loader"], "none"), interval(row),
                       f"{row['of_synthetic']:.2f}" if row["of_synthetic"] else "",
                       "yes" if row["buffer_fed"] else "no"]
                      for row in [*ceiling, *files]])
    yield page.paragraph("One rank feeds an emulated V100, with the share of the store that configs/studies/salvaris "
                         f"states and sources, over {set_text(images)} The line is synthetic data. The star is what "
                         "Salvaris's own notebook printed for TensorFlow over JPEGs on NFS, for each of eight V100s. "
                         "Values: figure7.csv.")
    yield page.paragraph(
        "No NFS server runs here: local files, which the page cache may hold, are read as slowly as storage-nfs.json "
        "says, with an assumed latency, by one GPU that reads alone. The star is of a real server that eight GPUs on "
        f"two hosts read at once. {latency_text(rows, published)}")
    yield from relative_blocks(folder, files)


def latency_text(rows, published):
    """The latency at which TensorFlow's loader is as slow as the star, if it was measured."""
    star, = (row["images_per_s"] / V100_IMAGES_PER_S for row in published)
    latency_ms = read_spec(SPECS / f"{SLOW}.json")["store"]["shape"]["latency_ms"]
    slow = select(rows, store=SLOW.removeprefix("storage-"))
    if not slow or slow[0]["of_synthetic"] is None or slow[0]["buffer_fed"]:
        return "Which of these differences separates TensorFlow's bar from its star was not measured."
    share = slow[0]["of_synthetic"]
    text = (f"With requests of {latency_ms} ms, found by trial, TensorFlow's loader, which reads "
            f"{IN_FLIGHT['optimized']} files at once, reaches {share:.2f} of synthetic (nfs-slow in the table)")
    explains = abs(share - star) < 0.03
    return f"{text}: that latency alone would explain the star." if explains else f"{text}, not {star:.2g}."


def interval(row):
    return with_interval(row["images_per_s"], row["ci95_low"], row["ci95_high"])


def relative_blocks(folder, files):
    title = "Figure 8: ResNet50, relative performance across storage"
    made = []
    for loader in LOADERS:
        local = select(files, store="local", loader=loader)
        for store in STORES if local else []:
            for row in select(files, store=store, loader=loader):
                found = across(row, local[0]) if row is not local[0] else None
                made.append({"store": store, "loader": loader, "kind": "measured",
                             "ratio": row["images_per_s"] / local[0]["images_per_s"],
                             "low": found[1] if found else None, "high": found[2] if found else None,
                             "buffer_fed": row["buffer_fed"] or local[0]["buffer_fed"]})
    write_csv(folder / "figure8.csv", made, ["store", "loader", "kind", "ratio", "low", "high", "buffer_fed"])
    yield page.heading(title)
    if made:
        yield from page.figure(drawing.grouped, folder, "figure8", title, "images/s, of local storage",
                               [{**row, "group": STORES[row["store"]], "series": LOADERS[row["loader"]],
                                 "value": row["ratio"]} for row in made])
    yield page.paragraph("Bounds are those that both intervals allow. Values: figure8.csv.")


def format_blocks(folder, rows):
    """Figure 9: PNG against TFRecord, average and maximum over loaders and repeats, as in the talk."""
    title = "Figure 9: ResNet50, data formats, average and maximum"
    made = []
    for store in FORMAT_STORES:
        for fmt in FORMATS:
            found = select(rows, store=store, format=fmt)
            rates = [rate for row in found for rate in row["repeats"]]
            if rates:
                made += [{"store": store, "format": fmt, "statistic": name, "kind": "measured", "images_per_s": value,
                          "buffer_fed": any(row["buffer_fed"] for row in found)}
                         for name, value in (("average", statistics.mean(rates)), ("maximum", max(rates)))]
    each = [row for row in rows if row["store"] in FORMAT_STORES]
    write_csv(folder / "figure9.csv", [*made, *[{**row, "statistic": "median"} for row in each]],
              ["store", "loader", "format", "statistic", "kind", "images_per_s", "ci95_low", "ci95_high",
               "buffer_fed"])
    yield page.heading(title)
    if not made:
        yield page.paragraph("Not measured. Values: figure9.csv.")
        return
    yield from page.figure(drawing.grouped, folder, "figure9", title, "images/s of one GPU",
                           [bar(row, f"{STORES[row['store']]}\n{row['statistic']}", FORMATS[row["format"]])
                            for name in ("average", "maximum") for row in select(made, statistic=name)])
    yield page.table(["store", "loader", "format", "images/s (95 % interval)", "fed from buffers"],
                     [[STORES[row["store"]], LOADERS[row["loader"]], FORMATS[row["format"]], interval(row),
                       "yes" if row["buffer_fed"] else "no"] for row in each])
    yield page.paragraph("Average and maximum are those of all repeats of all loaders; they are hatched if buffers fed "
                         "one of these. Values: figure9.csv.")


def judged(ratios, count, is_worse_enough=False):
    """HOLDS if an interval is beyond EQUAL of 1 (below it, if `is_worse_enough`), FAILS if all `count` are within."""
    differ = any(high < 1 - EQUAL or (low > 1 + EQUAL and not is_worse_enough) for low, high in ratios)
    same = all(low >= 1 - EQUAL and (high <= 1 + EQUAL or is_worse_enough) for low, high in ratios)
    return HOLDS if differ else FAILS if same and len(ratios) == count else UNKNOWN


def loaders_claim(ratios):
    claim = "Not all data loaders are equal"
    parts, intervals = [], []
    for store in STORES:
        for loader in ("pytorch", "optimized"):
            finding = ratios.get((store, "pipeline_ratio", loader, "images"))
            if finding:
                parts.append(f"{LOADERS[loader]} {ratio_text(finding)} on {STORES[store]}{doubt(finding)}")
                intervals += [finding["ratio_ci95"]] if is_told(finding) else []
    if not parts:
        return claim, UNKNOWN, "not measured"
    return claim, judged(intervals, 2 * len(STORES)), "images/s against Keras's, PNGs: " + "; ".join(parts)


def location_claim(rows, published):
    claim = "The location of the data affects training"
    told = "".join(f"; {LOADERS[row['loader']]} {row['images_per_s'] / V100_IMAGES_PER_S:.2f} on "
                   f"{STORES[row['store']]}, {row['ranks']} GPUs, published" for row in published)
    parts, intervals = [], []
    for store in ("nfs", "blob"):
        for loader in LOADERS:
            here, local = (select(rows, store=place, loader=loader, format="images") for place in (store, "local"))
            found = across(here[0], local[0]) if here and local else None
            if found:
                parts.append(f"{LOADERS[loader]} {found[0]:.2f} ({found[1]:.2f} to {found[2]:.2f}) on {STORES[store]}")
                intervals.append(found[1:])
    if not parts:
        return claim, UNKNOWN, "not measured" + told
    verdict = judged(intervals, 2 * len(LOADERS), True)
    return claim, verdict, "share of local storage's images/s: " + "; ".join(parts) + told


def formats_claim(ratios):
    """Holds if most comparisons show TFRecords faster and none slower, and fails if none does."""
    claim = "Do use TFRecords or other columnar or row based data formats"
    parts, intervals = [], []
    for store in FORMAT_STORES:
        for loader in LOADERS:
            finding = ratios.get((store, "format_ratio", loader, "tfrecord"))
            if finding:
                parts.append(f"{ratio_text(finding)} with {LOADERS[loader]} on {STORES[store]}{doubt(finding)}")
                intervals += [finding["ratio_ci95"]] if is_told(finding) else []
    if not parts:
        return claim, UNKNOWN, "not measured"
    faster = sum(low > 1 + EQUAL for low, _ in intervals)
    slower = sum(high < 1 - EQUAL for _, high in intervals)
    compared = len(FORMAT_STORES) * len(LOADERS)
    nowhere = len(intervals) == compared and all(high <= 1 + EQUAL for _, high in intervals)
    verdict = HOLDS if 2 * faster > compared and not slower else FAILS if nowhere else UNKNOWN
    return claim, verdict, "images/s of TFRecords against PNGs: " + "; ".join(parts)

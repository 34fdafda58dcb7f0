"""The data set of studies that are given none: the real X-rays of the tests, each twice."""

import csv
import json
import shutil

from measuring import ROOT, chexbench

SOURCE = ROOT / "tests/data/nih"
# 48 files are three for each of 16 ranks. The 24 would be two for some and one for others, and then a pipeline that
# shards after decoding has to decode more for the ranks with fewer files than it would on a whole data set.
COPIES = 2
XRAYS = ROOT / f"data/studies/nih-{24 * COPIES}"
SHARDS = 16
PATIENTS_APART = 1000  # the copies are of other patients


def renamed(name, copy):
    """The name of a copy's image: 00000001_000.png becomes 00001001_000.png."""
    patient, rest = name.split("_", 1)
    return f"{int(patient) + copy * PATIENTS_APART:0{len(patient)}d}_{rest}"


def write_table(folder):
    with open(SOURCE / "Data_Entry_2017.csv", newline="") as file:
        header, *rows = csv.reader(file)
    patient = header.index("Patient ID")
    with open(folder / "Data_Entry_2017.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for copy in range(COPIES):
            for row in rows:
                made = [renamed(row[0], copy), *row[1:]]
                made[patient] = int(row[patient]) + copy * PATIENTS_APART
                writer.writerow(made)


def write_list(folder, name):
    names = (SOURCE / name).read_text().split()
    (folder / name).write_text("".join(f"{renamed(one, copy)}\n" for copy in range(COPIES) for one in names))


def make(folder):
    """Makes the set in a folder, without TFRecords."""
    (folder / "images").mkdir(parents=True)
    write_table(folder)
    for name in ("train_val_list.txt", "test_list.txt"):
        write_list(folder, name)
    for path in (SOURCE / "images").iterdir():
        for copy in range(COPIES):
            shutil.copyfile(path, folder / "images" / renamed(path.name, copy))


def images_of(data):
    """How many images a data set has."""
    return json.loads(chexbench("data", "index", data, "--format", "json"))["images"]


def words_of(data):
    """A page's words for a data set."""
    images = images_of(data)
    return (f"the {images // COPIES} X-rays of tests/data/nih, each twice" if data == XRAYS else
            f"{images:,} images of a data set that was given")


def own_xrays():
    """The folder of the set, as PNGs and TFRecords; makes it if it is not there."""
    if not XRAYS.is_dir():  # under its name only when complete: a study may be stopped and run again
        part = XRAYS.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        make(part)
        part.rename(XRAYS)
    if not (XRAYS / "tfrecord").is_dir():
        chexbench("data", "convert", XRAYS, "--split", "all", "--shards", SHARDS)
    return XRAYS

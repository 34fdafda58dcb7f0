"""Reads the CSVs of runs, and finds the table that has a column."""

import csv
import difflib
import itertools
import math
import re
import statistics
from pathlib import Path

# In the order of the search for a column; any other CSV of a run comes after them.
TABLES = ("trials", "repeats", "steps", "epochs", "aurocs", "ops", "gpu")
OLD_FORMATS = {"png": "images", "synthetic": "ready"}  # older words for values of data.format


class Unusable(Exception):
    """The runs lack data that the figure needs."""


def unguarded(field):
    """Returns a field without the apostrophe that keeps a spreadsheet from reading text as a formula."""
    return field[1:] if re.match(r"'+[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]", field) else field


def read_csv(path, most_rows=None):
    """Returns the names of the columns of a CSV, and its rows or the first of them."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, restval="", restkey="")
            columns, rows = reader.fieldnames, list(itertools.islice(reader, most_rows))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Unusable(f"{path}: cannot read it: {getattr(error, 'strerror', None) or error}") from error
    if not columns:
        raise Unusable(f"{path} is empty: it lacks even the line with the names of its columns")
    for number, row in enumerate(rows, 1):
        if "" in row:
            raise Unusable(f"{path}: row {number} has more fields than there are names of columns")
    return columns, [{name: OLD_FORMATS.get(field, field) if name == "format" else unguarded(field)
                      for name, field in row.items()} for row in rows]


def require(path, columns, needed):
    missing = [name for name in needed if name not in columns]
    if missing:
        raise Unusable(f"{path} lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}: "
                       f"is it {'the ' + path.name if path.stem in TABLES else 'a trials.csv'} of a run of chexbench?")


class Run:
    """The CSVs of one run: of its folder, or of the folder that one of them is in. A CSV alone is a trials.csv."""

    def __init__(self, path):
        is_alone = not path.is_dir() and path.stem not in TABLES and not (path.parent / "trials.csv").exists()
        self.folder = path if path.is_dir() else path.parent
        self.name = str(path.with_suffix("") if is_alone else self.folder)
        if is_alone and not path.exists():
            raise Unusable(f"{path}: No such file or directory")
        found = [path] if is_alone else self.folder.glob("*.csv")
        self._paths = {"trials" if is_alone else one.stem: one for one in found}
        self._read = {}

    def tables(self):
        return sorted(self._paths, key=lambda name: (TABLES.index(name) if name in TABLES else len(TABLES), name))

    def path(self, table):
        return self._paths.get(table, self.folder / f"{table}.csv")

    def has(self, table):
        return table in self._paths

    def table(self, table):
        """Returns the columns and the rows of a table; the run is in each row."""
        if table not in self._read:
            columns, rows = read_csv(self.path(table))
            self._read[table] = columns, [{**row, "run": self.name} for row in rows]
        return self._read[table]

    def columns(self, table):
        """Returns the names of a table's columns, without reading the rest of it; none of an empty file."""
        is_there = self.has(table) and self.path(table).stat().st_size > 0
        return read_csv(self.path(table), 0)[0] if is_there else []

    def rows(self, table):
        """Returns the rows of a table, each with the columns of its trial that the table lacks."""
        columns, rows = self.table(table)
        if table == "trials" or "trial" not in columns or "trial" not in self.columns("trials"):
            return rows
        trials = {row["trial"]: row for row in self.table("trials")[1]}
        return [{**trials.get(row["trial"], {}), **row} for row in rows]


def name_runs(rows):
    """Calls runs by the name of their folder, unless two have the same."""
    folders = {row["run"]: Path(row["run"]).resolve().name for row in rows}
    if len(set(folders.values())) == len(folders):
        for row in rows:
            row["run"] = folders[row["run"]]


def read_trials(runs, needed):
    """Returns the trials of all runs that have a result. `needed` columns must be there."""
    trials = []
    for run in runs:
        columns, rows = run.table("trials")
        require(run.path("trials"), columns, needed)
        trials += [dict(row) for row in rows if row["images_per_s"]]
    if not trials:
        raise Unusable("no trial of these runs has a result")
    name_runs(trials)
    return trials


def number(row, column):
    """Returns the field of a row, which must be a finite number."""
    try:
        value = float(row[column])
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise Unusable(f"{where(row)}: {column} is '{row[column]}', and not a number")
    return value


def where(row):
    """Returns the place of a row, for a message."""
    return row.get("where") or (f"trial '{row['trial']}' of {row['run']}" if "trial" in row else row["run"])


def positive(row, column):
    """Returns the field of a row, which must be a number above 0."""
    value = number(row, column)
    if value <= 0:
        raise Unusable(f"{where(row)}: {column} is {row[column]}, and must be above 0")
    return value


def optional_number(row, column):
    """Returns None for a field that is empty or not there."""
    return number(row, column) if row.get(column) else None


def point(row, x, column, has_interval=True):
    """Returns the value of a column at `x`, with its 95 % interval if there is one."""
    low, high = (optional_number(row, f"{column}_ci95_{end}") if has_interval else None for end in ("low", "high"))
    return {"x": x, "value": number(row, column), "low": low, "high": high}


def middles(points, is_spread=False):
    """Returns a point for each place, in their order: the median of several.

    Its bounds are the smallest and the largest or, with `is_spread`, the quartiles.
    """
    by_place = {}
    for one in points:
        by_place.setdefault(one["x"], []).append(one)
    return [middle(by_place[x], is_spread) for x in sorted(by_place)]


def middle(points, is_spread):
    if len(points) == 1:
        return points[0]
    values = [one["value"] for one in points]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive") if is_spread else (
        min(values), None, max(values))
    return {"x": points[0]["x"], "value": statistics.median(values), "low": low, "high": high}


def check_new(found, row, axis, label):
    """Two trials of one label and one place would be mixed up."""
    if row[axis] in found:
        raise Unusable(f"'{label}' was measured twice at {axis} {row[axis]}, and trials.csv does not tell what "
                       "differs: give one run, of one of the two")


def nearest(column, valid):
    """Returns the valid name that is nearest to `column`."""
    return max(sorted(valid), key=lambda name: difflib.SequenceMatcher(None, column.lower(), name.lower()).ratio())


def find_table(runs, y, others, asked=None):
    """Returns the table that has the column `y`; the `others` may be columns of its trials instead."""
    for run in runs:
        if not run.tables():
            run.table("trials")  # raises, with the reason
    tables = list(dict.fromkeys(table for run in runs for table in run.tables()))
    if asked and asked not in tables:
        raise Unusable(f"{runs[0].path(asked)} is not there; the nearest is {nearest(asked, tables)}.csv")
    known = {table: {name for run in runs for name in run.columns(table)} for table in tables}
    if asked and not known[asked] or not any(known.values()):
        runs[0].table(asked or "trials")  # raises, with the reason
    for name in (y, *others):
        check_known(name, {runs[0].path(table).name: known[table] for table in tables
                           if not asked or table in (asked, "trials")})
    for table in [asked] if asked else tables:
        if y in known[table] and all(name == "run" or name in known[table] or name in known.get("trials", ())
                                     for name in others):
            for run in runs:
                check_has(run, table, y)
            return table
    places = {name: [f"{table}.csv" for table in tables if name in known[table]] for name in (y, *others)}
    raise Unusable((f"{asked}.csv has not all of these columns: " if asked else "no CSV has all of these columns: ")
                   + "; ".join(f"'{name}' is in {', '.join(found)}" for name, found in places.items() if found))


def check_known(column, known):
    """Refuses a column that no file has, and names the nearest one. `known` has the columns of each file."""
    file_of = {name: file for file in reversed(known) for name in known[file]}
    if column not in file_of and column != "run":
        near = nearest(column, file_of)
        raise Unusable(f"there is no column '{column}' in {', '.join(known)}; "
                       f"the nearest is '{near}' of {file_of[near]}")


def check_has(run, table, column):
    if column not in run.columns(table):
        raise Unusable(f"{run.path(table)} lacks the column {column}, which another of these runs has")

"""Reads the CSVs of runs, and finds the table that holds a column."""

import csv
import difflib
import statistics
from pathlib import Path

# In the order in which a column is looked for.
TABLES = ("trials", "repeats", "steps", "epochs", "aurocs", "ops", "gpu")


class Unusable(Exception):
    """The runs do not hold what the figure needs."""


def read_csv(path):
    """Returns the names of the columns of a CSV, and its rows."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file, restval="")
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Unusable(f"{path}: cannot read it: {getattr(error, 'strerror', None) or error}") from error
    if not reader.fieldnames:
        raise Unusable(f"{path} is empty: it lacks even the line with the names of its columns")
    return reader.fieldnames, rows


def require(path, columns, needed):
    missing = [name for name in needed if name not in columns]
    if missing:
        raise Unusable(f"{path} lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}: "
                       "is it the trials.csv of a run of chexbench?")


class Run:
    """The CSVs of one run: of its folder, or of the folder that one of them is in. Any other CSV is a trials.csv."""

    def __init__(self, path):
        named = not path.is_dir() and path.name in {f"{table}.csv" for table in TABLES}
        self.folder = path if path.is_dir() else path.parent
        self.name = str(self.folder if named or path.is_dir() else path.with_suffix(""))
        self._trials = path if not named and not path.is_dir() else None
        self._read = {}

    def path(self, table):
        return self._trials if self._trials and table == "trials" else self.folder / f"{table}.csv"

    def has(self, table):
        return (table == "trials" or not self._trials) and self.path(table).exists()

    def table(self, table):
        """Returns the columns and the rows of a table; the run is in each row."""
        if table not in self._read:
            columns, rows = read_csv(self.path(table))
            self._read[table] = columns, [{**row, "run": self.name} for row in rows]
        return self._read[table]

    def columns(self, table):
        return self.table(table)[0] if self.has(table) else []

    def rows(self, table):
        """Returns the rows of a table, each with the columns of its trial that the table has not itself."""
        columns, rows = self.table(table)
        if table == "trials" or "trial" not in columns or not self.has("trials"):
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
    try:
        return float(row[column])
    except ValueError as error:
        raise Unusable(f"trial '{row['trial']}' of {row['run']}: {column} is '{row[column]}', and not a number"
                       ) from error


def optional_number(row, column):
    """Returns None for a field that is empty or not there."""
    return number(row, column) if row.get(column) else None


def point(row, x, column):
    """Returns the value of a column at `x`, with its 95 % interval where there is one."""
    low, high = (optional_number(row, f"{column}_ci95_{end}") for end in ("low", "high"))
    return {"x": x, "value": number(row, column), "low": low, "high": high}


def middle(points):
    """Returns one point for several at the same place: their median, from the smallest to the largest."""
    if len(points) == 1:
        return points[0]
    values = [one["value"] for one in points]
    return {"x": points[0]["x"], "value": statistics.median(values), "low": min(values), "high": max(values)}


def middles(points):
    """Returns a point for each place, in their order."""
    by_place = {}
    for one in points:
        by_place.setdefault(one["x"], []).append(one)
    return [middle(by_place[x]) for x in sorted(by_place)]


def check_new(found, row, axis, label):
    """Two trials of one label and one place would be mixed up."""
    if row[axis] in found:
        raise Unusable(f"'{label}' was measured twice at {axis} {row[axis]}, and trials.csv does not tell what differs: "
                       "give one run, of one of the two")


def nearest(column, valid):
    """Returns the valid name that is nearest to `column`."""
    return max(sorted(valid), key=lambda name: difflib.SequenceMatcher(None, column.lower(), name.lower()).ratio())


def find_table(runs, y, others, asked=None):
    """Returns the table that has the column `y`; the `others` may be columns of its trials instead."""
    known = {table: list(dict.fromkeys(name for run in runs for name in run.columns(table))) for table in TABLES}
    if asked and not known[asked]:
        raise Unusable(f"{runs[0].path(asked)} is not there or empty: this run has "
                       f"{', '.join(f'{table}.csv' for table in TABLES if known[table]) or 'no CSV at all'}")
    if not any(known.values()):
        runs[0].table("trials")  # raises, with the reason
    where = {name: [table for table in TABLES if name in known[table]] for name in (y, *others)}
    for name, tables in where.items():
        if not tables and name != "run":
            valid = {column: table for table in reversed(TABLES) if not asked or table in (asked, "trials")
                     for column in known[table]}
            near = nearest(name, valid)
            raise Unusable(f"no CSV of these runs has a column '{name}'; the nearest is '{near}' of {valid[near]}.csv")
    for table in [asked] if asked else TABLES:
        if y in known[table] and all(name == "run" or name in known[table] or name in known["trials"]
                                     for name in others):
            check_all_have(runs, table, [y])
            return table
    raise Unusable("no table has all of these columns: " + "; ".join(
        f"'{name}' is in {', '.join(f'{table}.csv' for table in tables)}" for name, tables in where.items() if tables)
        + (f"; --table says {asked}" if asked else ""))


def check_all_have(runs, table, columns):
    for run in runs:
        for name in columns:
            if name not in run.columns(table):
                raise Unusable(f"{run.path(table)} lacks the column {name}, which another of these runs has")

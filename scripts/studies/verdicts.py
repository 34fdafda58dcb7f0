"""A study's verdict on a claim of its source, and the tidy CSVs of its figures."""

import csv

HOLDS, FAILS, UNKNOWN = "holds", "does not hold", "cannot be told"
EXPLAINED, UNEXPLAINED = "the model explains", "the model does not explain"  # what no machine here can repeat
LINEAR = 0.9  # efficiency from which scaling is called linear


def select(rows, **values):
    """The rows that have these values."""
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def doubt(finding):
    """" [machine too busy]" or the like after a ratio that judges no claim, else ""."""
    return "" if finding["grade"] in ("told apart", "cannot be told") else f" [{finding['grade']}]"


def with_interval(value, low, high, digits=1):
    """A value and its interval, if it has one, as text."""
    return f"{value:,.{digits}f}" + (f" ({low:,.{digits}f} to {high:,.{digits}f})" if low is not None else "")


def write_csv(path, rows, columns):
    """Writes the columns of the rows; a value that a row lacks, or None, is an empty field."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([["" if row.get(name) is None else row[name] for name in columns] for row in rows])

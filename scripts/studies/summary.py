"""The page over all studies: every claim with its verdict, and every published figure next to ours."""

import comparison
import page
from verdicts import write_csv

TITLE = "The studies that chexbench grew from, rerun"


def blocks(results):
    yield page.paragraph("Made by scripts/reproduce all. Each study has a page of its own, with its figures.")
    for name, (title, claims, _) in results.items():
        yield page.heading(f"{title} ({name})")
        yield page.table(["claim", "verdict", "evidence"], claims)
    compared = [{**row, "study": name} for name, (_, _, rows) in results.items() for row in comparison.of_several(rows)]
    if not compared:
        return
    yield page.heading("Published figures and ours")
    yield page.paragraph(f"{comparison.sentence(compared)} Nothing was fitted. Those that differ by more:")
    yield comparison.table(comparison.off(compared))
    yield page.paragraph("compared.csv has all rows.")


def write(folder, results):
    """Writes the page, and compared.csv; returns the paths. `results`: study -> (title, claims, compared rows)."""
    rows = [{**row, "study": name} for name, (_, _, compared) in results.items() for row in compared]
    columns = ["study", "device", "model", "batch_size", "ranks", "by", "published", "images_per_s", "kind", "ratio"]
    write_csv(folder / "compared.csv", rows, columns)
    return page.write(folder, TITLE, list(blocks(results)))

"""The page over all studies: every claim with its verdict."""

import page

TITLE = "The studies that chexbench grew from, rerun"


def blocks(results):
    yield page.paragraph("Made by scripts/reproduce all. Each study has a page, with its figures.")
    for name, (title, claims) in results.items():
        yield page.heading(f"{title} ({name})")
        yield page.table(["claim", "verdict", "evidence"], claims)


def write(folder, results):
    """Writes the page; returns its paths. `results`: study -> (title, claims)."""
    return page.write(folder, TITLE, list(blocks(results)))

"""The figure of the trainings' AUROC against their speed: the cost of a larger batch."""

from plotting.labels import names
from plotting.style import colour, error_lengths, foot, legend, marker
from plotting.tables import Unusable, number, point, positive

RATE = "training.learning_rate"
COLUMNS = ["mean_auroc", "mean_auroc_ci95_low", "mean_auroc_ci95_high", "batch_size"]


def learned(trials):
    """Returns {label: trials} of those that have an AUROC; labels leave out the learning rate."""
    series = {}
    rows = [row for row in trials if row["mean_auroc"]]
    if len(rows) < 2:
        raise Unusable("fewer than two trials have a mean AUROC: train over epochs (\"training.epochs\") and sweep "
                       "\"training.batch_size\" or \"training.learning_rate\"")
    for row, label in zip(rows, names(rows, place=RATE)):
        series.setdefault(label, []).append(row)
    return series


def best_of(rows):
    return max(rows, key=lambda row: number(row, "mean_auroc"))


def draw_tradeoff(pyplot, trials):
    """Draws a point for each trial, named by its learning rate, and a line through the best of each batch size."""
    series = learned(trials)
    figure, axes = pyplot.subplots(figsize=(6.4, 4.2))
    for i, (label, rows) in enumerate(series.items()):
        for row in rows:
            at = point(row, positive(row, "images_per_s"), "mean_auroc")
            errors = [[length] for length in error_lengths(at)]
            axes.errorbar(at["x"], at["value"], yerr=errors if any(map(any, errors)) else None, color=colour(i),
                          marker=marker(i), capsize=3, linestyle="none", label=label if row is rows[0] else None)
            if row.get(RATE):
                axes.annotate(f"{number(row, RATE):g}", (at["x"], at["value"]), xytext=(6, -3), fontsize=7,
                              textcoords="offset points", color="0.3")
    best = sorted((best_of(rows) for rows in series.values()), key=lambda row: positive(row, "images_per_s"))
    axes.plot([number(row, "images_per_s") for row in best], [number(row, "mean_auroc") for row in best], color="0.6",
              linewidth=1, zorder=0, label="the best of each")
    axes.set_xlabel("images/s")
    axes.set_ylabel("AUROC, mean over findings (1)")
    axes.set_title("What is learned against how fast")
    axes.margins(x=0.12)
    axes.grid()
    legend(axes)
    has_rates = any(row.get(RATE) for rows in series.values() for row in rows)
    foot(figure, "numbers: learning rates" if has_rates else "", "error bars: 95 % intervals over patients")
    return figure

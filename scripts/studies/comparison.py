"""Published figures on several GPUs next to a study's measurements or predictions."""

import statistics

import page

MISFIT = 0.15  # of a rate from a published figure, beyond which they differ


def row(published, ours, kind, by):
    """One published figure, a row with device, model, batch_size, ranks and images_per_s, and our rate for it."""
    return {**{name: published[name] for name in ("device", "model", "batch_size", "ranks")}, "by": by, "kind": kind,
            "published": published["images_per_s"], "images_per_s": ours, "ratio": ours / published["images_per_s"]}


def of_several(rows):
    """Without those of one GPU, which are meaningless because the prediction is made from them."""
    return [one for one in rows if one["ranks"] > 1]


def off(rows):
    return [one for one in rows if abs(one["ratio"] - 1) > MISFIT]


def median(rows):
    return statistics.median(abs(one["ratio"] - 1) for one in rows)


def sentence(rows):
    return (f"Median misfit {100 * median(rows):.1f} %; {len(off(rows))} of {len(rows)} rows differ by more than "
            f"{100 * MISFIT:.0f} %.")


def table(rows):
    return page.table(["GPU", "model", "batch", "GPUs", "by", "published", "here", "how", "ratio"],
                      [[one["device"].upper(), one["model"], one["batch_size"], one["ranks"], one["by"],
                        f"{one['published']:,.5g}", f"{one['images_per_s']:,.0f}", one["kind"], f"{one['ratio']:.2f}"]
                       for one in rows])

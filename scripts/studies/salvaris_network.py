"""Salvaris's networks, measured: ResNet50's gradients, sent between two emulated GPUs over a slow and a fast link."""

import statistics
from dataclasses import dataclass

import drawing
import page
import salvaris_gpus as gpus
from planning import Group, at_most_cores, scale_factor
from verdicts import FAILS, HOLDS, UNKNOWN, select, with_interval, write_csv

CORES = 6  # emulation.cores_per_accelerator of network.json
RANKS = 2
START_S = 0.5  # to start and end a repeat
RANK_BYTES = 1.5e9  # gradients, messages, and batches


@dataclass
class NetworkGroup(Group):
    """Both links of one kind of GPU, in rounds."""
    device: str = ""

    @property
    def name(self):
        return f"network-{self.device}-{self.ranks}"


def groups(found):
    """From the newest GPU to the oldest: those with the author's own speed and a profile."""
    made = [NetworkGroup("network", "none", RANKS, 3, device=device) for device in ("v100", "p100", "k80")
            if (device, "resnet50", "f32") in found]
    for group in made:
        step_s = 1.1 * gpus.BATCH_SIZE / found[group.device, "resnet50", "f32"][1]["images_per_s"]
        steps_s = (group.warmup_steps + group.steps) * step_s * scale_factor(RANKS, CORES)
        group.seconds = 2 * group.repeats * (START_S + steps_s)
    return made


def run_of(group, folder, found):
    settings = [f"ranks={RANKS}", f"engine=emulated:{found[group.device, 'resnet50', 'f32'][0]}",
                f"measure.steps={group.steps}", f"measure.repeats={group.repeats}", *at_most_cores(RANKS, CORES)]
    return folder / "runs" / group.name, gpus.SPECS / "network.json", settings, RANKS


def rows_of(reports):
    rows = []
    for group, report in reports:
        for trial in report["trials"]:
            low, high = trial["figures"]["images_per_s_ci95"] or (None, None)
            beta = trial["spec"]["comm"]["beta_bytes_per_s"]
            rows.append({"device": group.device, "beta_bytes_per_s": beta, "ranks": group.ranks, "kind": "measured",
                         "network": gpus.SLOW_NETWORK if beta < 2e9 else gpus.NETWORK,
                         "images_per_s": trial["figures"]["images_per_s"], "ci95_low": low, "ci95_high": high,
                         "repeats": [repeat["images_per_s"] for repeat in trial["repeats"]],
                         "scale_factor": trial["scale_factor"]})
    return rows


def ratios_of(rows):
    """images/s over the fast link / over the slow one by device: the median of the rounds, their least and largest."""
    found = {}
    for device in gpus.DEVICES:
        fast, slow = (select(rows, device=device, network=network) for network in (gpus.NETWORK, gpus.SLOW_NETWORK))
        pairs = [one / other for one, other in zip(fast[0]["repeats"], slow[0]["repeats"])] if fast and slow else []
        if len(pairs) >= 5:
            found[device] = statistics.median(pairs), min(pairs), max(pairs)
    return found


def claim(ratios, predicted, published):
    """Holds if the fast network gains on the newest GPU, and more than on older ones, both here and for the author."""
    text = "Do use enhanced networking wherever possible, especially for the latest GPUs"
    parts = [f"{device.upper()}: {gpus.NETWORK} trains {value:.3f} x ({low:.3f} to {high:.3f}) the images/s of "
             f"{gpus.SLOW_NETWORK} on {RANKS} GPUs, measured" for device, (value, low, high) in ratios.items()]
    efficiencies = gpus.network_text(predicted, "resnet50")
    if efficiencies:
        parts.append(f"efficiency of ResNet50 on {gpus.RANKS[-1]} GPUs, {gpus.NETWORK} against {gpus.SLOW_NETWORK}, "
                     f"predicted: {efficiencies}")
    own = gpus.published_network_ratios(published)
    if own:
        parts.append(f"published by the author for {gpus.RANKS[-1]}, InfiniBand with MPI against Ethernet with NCCL: "
                     + ", ".join(f"{device.upper()} {ratio:.2f} x" for device, ratio in own.items()))
    return text, verdict(ratios, own), "; ".join(parts) or "no profile has a speed for it"


def verdict(ratios, own):
    older = [ratios[device] for device in gpus.DEVICES[:-1] if device in ratios]
    if gpus.DEVICES[-1] not in ratios or not older:
        return UNKNOWN
    _, low, high = ratios[gpus.DEVICES[-1]]
    if low > max(1, *(bounds[2] for bounds in older)):
        return HOLDS if max(own, key=own.get, default=gpus.DEVICES[-1]) == gpus.DEVICES[-1] else UNKNOWN
    return FAILS if high < max(1, *(bounds[1] for bounds in older)) else UNKNOWN


def gains(rows):
    """The gain from the fast network, in percent of the slow one's images/s, by device."""
    return [{"device": device, "kind": "measured", **{name: 100 * (ratio - 1) for name, ratio in
                                                     zip(("value", "low", "high"), ratios)}}
            for device, ratios in ratios_of(rows).items()]


def blocks(folder, rows):
    title = f"Figure 6: what {gpus.NETWORK} is worth on {RANKS} GPUs"
    bars = gains(rows)
    write_csv(folder / "figure6.csv", [{**row, "gain_percent": row["value"], "least": row["low"],
                                        "largest": row["high"]} for row in bars],
              ["device", "kind", "gain_percent", "least", "largest"])
    yield page.heading(title)
    if not rows:
        yield page.paragraph("Not measured. Values: figure6.csv.")
        return
    if bars:
        yield from page.figure(drawing.bars, folder, "figure6", title, f"% more images/s than over {gpus.SLOW_NETWORK}",
                               "device", [{**row, "device": row["device"].upper()} for row in bars])
    yield page.table(["GPU", "network", "images/s (95 % interval)", "how"], [
        [row["device"].upper(), row["network"], with_interval(row["images_per_s"], row["ci95_low"], row["ci95_high"]),
         f"scale model, 1 : {row['scale_factor']:.3g}"] for row in rows])
    yield page.paragraph("ResNet50's gradients are really sent and added, by a ring of chexbench's own, over links "
                         "that are as slow as the scale model is; medians, from the least to the largest of the "
                         "rounds. On 32 GPUs each sends nearly twice as much. Values: figure6.csv.")

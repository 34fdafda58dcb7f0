"""Chooses what a study measures within its budget. The rest is predicted."""

import os
from dataclasses import dataclass

CORES_PER_ACCELERATOR = 10  # emulation.cores_per_accelerator of the studies' specs
START_S = 2.0  # to start and end a repeat
MEMORY_SHARE = 0.8  # of the available memory, which a study may fill


@dataclass
class Group:
    """Trials that are measured together, in rounds, so that their ratios have intervals."""
    config: str  # a spec of the study's folder, without .json
    decoder: str
    ranks: int
    steps: int
    batch_size: int = 64
    repeats: int = 5
    warmup_steps: int = 1
    seconds: float = 0  # forecast
    left_out: str = ""  # why it is not measured, or ""

    @property
    def name(self):
        return f"{self.config}-{self.decoder}-{self.ranks}"

    def settings(self):
        settings = [f"ranks={self.ranks}", f"data.decoder={self.decoder}", f"training.batch_size={self.batch_size}",
                    f"measure.steps={self.steps}", f"measure.repeats={self.repeats}",
                    f"measure.warmup_steps={self.warmup_steps}"]
        return settings + at_most_cores(self.ranks)


def cores():
    return len(os.sched_getaffinity(0))


def at_most_cores(ranks, per_accelerator=CORES_PER_ACCELERATOR):
    """The setting that limits a rank to its accelerator's number of cores, if there are more."""
    return [f"cores_per_rank={per_accelerator}"] if cores() // ranks > per_accelerator else []


def scale_factor(ranks, per_accelerator=CORES_PER_ACCELERATOR):
    """How many times slower than at full scale `ranks` ranks run here: chexbench's scale_model_of()."""
    share = cores() // ranks or cores() / ranks
    return max(1.0, per_accelerator / share)


def available_bytes():
    with open("/proc/meminfo") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    return 0


def forecast_s(group, predicted, factor):
    """Seconds that a group takes, from the images/s predicted for each of its trials.

    `factor` is that of its scale model.
    """
    step_s = sum(group.ranks * group.batch_size / images_per_s for images_per_s in predicted)
    steps = group.repeats * (group.warmup_steps + group.steps)
    return steps * step_s * factor + START_S * group.repeats * len(predicted)


def choose(groups, budget_s, rank_bytes):
    """Marks the groups left out: those that do not fit into memory or, in the order of `groups`, into the budget.

    `rank_bytes` returns the memory that a rank of a group needs.
    """
    limit, left_s = MEMORY_SHARE * available_bytes(), budget_s
    for group in groups:
        need = group.ranks * rank_bytes(group)
        if need > limit:
            group.left_out = (f"{group.ranks} ranks need {need / 1e9:.1f} GB of memory, more than "
                              f"{100 * MEMORY_SHARE:.0f} % of what is available")
        elif group.seconds > left_s:
            minutes = f"{max(1, group.seconds / 60):.0f}"
            group.left_out = f"it takes {minutes} minute{'s' * (minutes != '1')}, more than the budget leaves"
        else:
            left_s -= group.seconds


def left_out(plan):
    """What is not measured, and why: a line for each group."""
    return [f"{group.name}: {group.left_out}" for group in plan if group.left_out]

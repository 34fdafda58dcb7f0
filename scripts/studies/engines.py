"""What trains in a study: emulated V100s, or this machine's own GPUs or CPUs, which decide ranks and batches."""

import json
from dataclasses import dataclass

from measuring import StudyError, chexbench
from planning import cores, scale_factor

NAMES = ("emulated", "cuda", "onednn")
CPU_BATCH_SIZE = 8  # a batch of 64 X-rays takes a CPU minutes, and several GB
GUESSED_RATE = {"cuda": 200.0, "onednn": 2.0}  # images/s of a rank, before anything was measured


@dataclass(frozen=True)
class Engine:
    """One of NAMES."""
    name: str = "emulated"

    @property
    def is_real(self):
        return self.name != "emulated"

    @property
    def device(self):
        return {"emulated": "emulated V100", "cuda": "GPU", "onednn": "core"}[self.name]

    def settings(self, spec):
        """What a real engine changes in a spec: nothing is emulated, and gradients are sent for real."""
        if not self.is_real:
            return []
        emulated = [f"{group}.{key}=null" for group in ("emulation", "comm") for key in spec.get(group, {})]
        return [f"engine={self.name}", *emulated]

    def batch_size(self, emulated):
        """The batch of a rank; `emulated` is that of an emulated V100."""
        return {"emulated": emulated, "cuda": 64, "onednn": CPU_BATCH_SIZE}[self.name]

    def most_ranks(self):
        """How many ranks this machine trains on.

        @raises StudyError if there is none
        """
        if self.name == "onednn":
            return cores()
        gpus = len(json.loads(chexbench("doctor", "--format", "json"))["gpus"])
        if gpus == 0:
            raise StudyError("--engine cuda: chexbench finds no GPU here; see chexbench doctor, or use --engine "
                             "emulated", 4)
        return gpus

    def scale_factor(self, ranks):
        return 1.0 if self.is_real else scale_factor(ranks)

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
        # With all cores divided among the ranks, a core would not train faster on more ranks.
        return [f"engine={self.name}", *emulated, *(["cores_per_rank=1"] if self.name == "onednn" else [])]

    @property
    def rank_bytes(self):
        """Memory of a rank's training; DenseNet121 takes 4.2 GB on a CPU, and that of a GPU's host is a guess."""
        return {"emulated": 0, "cuda": 4e9, "onednn": 5e9}[self.name]

    def batch_size(self, emulated):
        """The batch of a rank; `emulated` is that of an emulated V100."""
        return {"emulated": emulated, "cuda": 64, "onednn": CPU_BATCH_SIZE}[self.name]

    def most_ranks(self):
        """How many ranks this machine trains on.

        @raises StudyError if there is none
        """
        if self.name == "onednn":
            return cores()
        try:
            gpus = len(json.loads(chexbench("doctor", "--format", "json"))["gpus"])
        except StudyError as error:
            raise StudyError("--engine cuda: chexbench doctor finds conflicts", error.code) from error
        if gpus == 0:
            raise StudyError("--engine cuda: chexbench finds no GPU here; see chexbench doctor, or use --engine "
                             "emulated", 4)
        return gpus

    def scale_factor(self, ranks):
        return 1.0 if self.is_real else scale_factor(ranks)

"""A case is one command and one row; a place is where everything is."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Case:
    """`facts` go into its row as they are; `read` makes figures of the command's output, or raises ValueError."""
    part: str
    name: str
    command: list
    read: object
    facts: dict = field(default_factory=dict)
    limit_s: float = 120
    needs: str = "gpu"  # or "torch": a GPU and PyTorch

    @property
    def runs_torch(self):
        return self.facts.get("framework") == "torch"


@dataclass
class Place:
    """`home` is the bundle, `scratch` a folder of this run, whose logs go into an archive."""
    home: Path
    scratch: Path
    python: str

    @property
    def images(self):
        return self.scratch / "set"

    @property
    def logs(self):
        return self.scratch / "logs"

    def share(self, path):
        return self.home / "share/chexbench" / path


def read_text(output, errors):
    return {"said": output.strip()}


def run_command(place, spec, name, settings):
    """A run over one of the bundle's specs, with `settings` in place of its keys, and its folder."""
    folder = place.scratch / "runs" / name.replace(" ", "-")
    command = [place.home / "chexbench", "--config", place.share(f"configs/{spec}"), "--quiet", "--format", "csv",
               "--output", folder]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    return command, folder

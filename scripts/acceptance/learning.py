"""Trainings that must learn, and the quality of their networks, which no rate shows."""

import csv
import json

from acceptance.case import Case, read_text, run_command

SIZE = 64  # px of the network's input: enough for synthetic X-rays
# Settings that a training of many epochs would have anyway, and options that a default one never uses.
COMMON = {"engine": "cuda", "data.deliver": "u8", "training.batch_size": 64, "model.image_size": SIZE,
          "cores_per_rank": "all"}
OPTIONS = {"training.optimizer": "adamw", "training.weight_decay": 0.01, "training.clip_gradient_norm": 1,
           "training.ema_decay": 0.98, "training.label_smoothing": 0.02}


def made(place, name, *options):
    """A synthetic set that a network can learn."""
    command = [place.home / "chexbench", "data", "synth", place.scratch / name, *options]
    return Case("learning", f"learning {name}", command, read_text, {"framework": "chexbench"})


def read_epochs(folder, score):
    """The scores of a training's validations by epoch, and their times."""
    def read(output, errors):
        if not (folder / "epochs.csv").is_file():
            raise ValueError("it left no epochs.csv")
        with (folder / "epochs.csv").open() as file:
            epochs = list(csv.DictReader(file))
        return {"score": score, "by_epoch": [round(float(epoch[score]), 4) for epoch in epochs],
                "elapsed_s": [round(float(epoch["elapsed_s"]), 2) for epoch in epochs],
                "best": max(float(epoch[score]) for epoch in epochs)}
    return read


def training(place, name, spec, settings, score):
    command, folder = run_command(place, spec, name, {**COMMON, **settings})
    facts = {"framework": "chexbench", "model": settings["model.name"], "precision": settings["training.precision"]}
    return Case("learning", name, command, read_epochs(folder, score), facts)


def findings(place, precision, label, **options):
    """X-rays by the recipe of the article, shortened."""
    settings = {"data.root": place.scratch / "xrays", "model.name": "resnet50", "training.precision": precision,
                "preprocess.flip": "false", "preprocess.crop": 0.95, "training.epochs": 8,
                "training.schedule": "cosine", "training.warmup_epochs": 0.5, "training.validation_share": 0.2,
                **options}
    name = f"learning findings {precision} {label}"
    return training(place, name, "studies/dell-article/accuracy.json", settings, "mean_auroc")


def classes(place):
    settings = {"data.root": place.scratch / "classes", "data.labels.classes": 10, "model.name": "resnet50",
                "training.precision": "fp16", "training.epochs": 4}
    return training(place, "learning classes fp16", "experiments/imagenet.json", settings, "top1")


def read_evaluation(output, errors):
    told = json.loads(output)
    figures = {name: value for name, value in told["mean"].items() if not isinstance(value, (dict, list))}
    return {**{key: told[key] for key in ("images", "precision", "device")}, **figures}


def evaluation(place, trained, precision):
    """The best network of a training, on the split that it never saw. Its folder's name contains the trial's."""
    shell = (f'exec "{place.home}/chexbench" evaluate --checkpoint "{place.scratch}"/runs/{trained}/checkpoints/*/'
             f'best.safetensors --data "{place.scratch}/xrays" --split test --output '
             f'"{place.scratch}/runs/evaluation-{precision}" --set engine=cuda --set training.precision={precision} '
             '--format json')
    return Case("learning", f"learning evaluate {precision}", ["sh", "-c", shell], read_evaluation,
                {"framework": "chexbench", "precision": precision})


def all_cases(place):
    trained = findings(place, "fp16", "adamw", **OPTIONS)
    return [made(place, "xrays", "--images", 8000, "--size", 256), findings(place, "fp16", "adam"), trained,
            findings(place, "bf16", "adam"),
            *(evaluation(place, trained.name.replace(" ", "-"), precision) for precision in ("f32", "fp16")),
            made(place, "classes", "--classes", 10, "--images", 4000, "--size", 96), classes(place)]

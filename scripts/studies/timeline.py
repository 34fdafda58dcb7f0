"""Pictures of CPU and accelerator activity over some steps, from a trace.json."""

import json

import drawing
import page
from measuring import StudyError
from verdicts import write_csv

TITLES = {"sequential": "Figure 1: without pipelining, the CPU and the accelerator take turns",
          "pipelined": "Figure 2: with pipelining, the CPU prepares the next batch while the accelerator trains"}
STEPS = 4  # that are drawn
LANES = {"prepare": "CPU prepares", "train": "accelerator trains", "wait": "accelerator waits"}


def read_trace(path):
    try:
        events = json.loads(path.read_text())["traceEvents"]
    except (OSError, ValueError, KeyError) as error:
        raise StudyError(f"{path}: cannot read it as a trace: delete its folder and run the same command again", 3
                         ) from error
    rows = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    return [{**event, "row": rows.get((event["pid"], event["tid"]))} for event in events if event["ph"] == "X"]


def spans(events, trial):
    """The spans of a trial's first measured steps: lane, and begin and end in seconds since their start."""
    steps = [event for event in events if event["row"] == "steps"]
    whole = next(event for event in steps if event.get("cat") == "trial" and event["name"] == trial)
    inside = [event for event in steps if event.get("cat") == "step" and
              whole["ts"] <= event["ts"] < whole["ts"] + whole["dur"]]
    drawn = [event for event in inside if event["name"].startswith("step ")][:STEPS]
    begin_us, end_us = drawn[0]["ts"], drawn[-1]["ts"] + drawn[-1]["dur"]
    lanes = {"compute": "train", "wait": "wait"}
    found = [(lanes[event["name"]], event) for event in inside if event["name"] in lanes]
    found += [("prepare", event) for event in events if event["name"] == "batch" and event["row"] != "steps"]
    return [{"pipeline": trial, "lane": lane, "begin_s": max(0, event["ts"] - begin_us) / 1e6,
             "end_s": (min(end_us, event["ts"] + event["dur"]) - begin_us) / 1e6}
            for lane, event in found if event["ts"] < end_us and event["ts"] + event["dur"] > begin_us]


def blocks(folder, trace):
    """The blocks of both figures, to one scale; writes their CSVs."""
    events = read_trace(trace)
    found = {trial: spans(events, trial) for trial in TITLES}
    longest_s = max(span["end_s"] for one in found.values() for span in one)
    for number, (trial, title) in enumerate(TITLES.items(), 1):
        name = f"figure{number}"
        write_csv(folder / f"{name}.csv", found[trial], ["pipeline", "lane", "begin_s", "end_s"])
        yield page.heading(title)
        yield from page.figure(drawing.lanes, folder, name, title, LANES, found[trial], longest_s)
        yield page.paragraph(f"{STEPS} steps of DenseNet121 on an emulated V100, from a trace of this machine. Values: "
                             f"{name}.csv.")

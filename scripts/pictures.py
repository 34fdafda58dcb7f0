#!/usr/bin/env python3
"""Draws the pictures of the documents, apps/chexbench/guides/pictures/*.svg, from terminal.txt and lanes.json there.

usage: pictures.py              draw all pictures
       pictures.py --lanes RUN  first make lanes.json from a run's trace.json and report.json
"""

import argparse
import json
import re
import shlex
from html import escape
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "apps/chexbench/guides/pictures"
SANS = "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif"
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
INK, SOFT, LINE, PAPER = "#1f2328", "#57606a", "#d0d7de", "#ffffff"
# Of the parts of a step. All are light: the text on them is dark.
SHADES = {"wait": "#ffb3ad", "upload": "#d6c6f5", "forward": "#a5d3ff", "backward": "#7ab8f5", "exposed": "#ffcf8a",
          "update": "#a6e0b5", "other": "#e4e7eb", "plain": "#f3f5f7"}


def attributes(style):
    return "".join(f' {name.replace("_", "-")}="{value}"' for name, value in style.items())


class Picture:
    """An SVG with its own background, so that it is legible on light and dark pages."""

    def __init__(self, width, height, title, description, paper=PAPER, line=LINE, font=SANS, ink=INK):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                      f'height="{height}" role="img" aria-labelledby="t d" font-family="{font}" font-size="13" '
                      f'fill="{ink}">', f'<title id="t">{escape(title)}</title>',
                      f'<desc id="d">{escape(description)}</desc>']
        self.box(0.5, 0.5, width - 1, height - 1, paper, line, 6)

    def box(self, x, y, width, height, fill, stroke=None, radius=2):
        edge = f' stroke="{stroke}"' if stroke else ""
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" '
                          f'fill="{fill}"{edge}/>')

    def text(self, x, y, words, **style):
        """Writes words, if any; `style` are attributes such as fill, font_weight and text_anchor."""
        if words:
            self.parts.append(f'<text x="{x:g}" y="{y:g}"{attributes(style)}>{escape(words, quote=False)}</text>')

    def middle(self, x, y, words, **style):
        self.text(x, y, words, text_anchor="middle", **style)

    def labelled(self, x, y, width, height, fill, words, stroke=None, **style):
        self.box(x, y, width, height, fill, stroke)
        self.middle(x + width / 2, y + height / 2 + 4.5, words, **style)

    def path(self, data, **style):
        self.parts.append(f'<path d="{data}"{attributes(style)}/>')

    def __str__(self):
        return "\n".join([*self.parts, "</svg>", ""])


def terminal():
    lines = (FOLDER / "terminal.txt").read_text().splitlines()
    step, advance = 18, 7.3
    width = round(40 + advance * max(map(len, lines)))
    picture = Picture(width, 46 + step * len(lines), "chexbench DIR in a terminal", "\n".join(lines), "#0d1117",
                      "#30363d", MONO, "#e6edf3")
    for row, line in enumerate(lines):
        for found in re.finditer(r"\S+(?: \S+)*", line):
            style = ({"fill": "#7ee787"} if row == 0 else {"font_weight": "bold"} if row == 1
                     else {"fill": "#79c0ff"} if found.start() == 2 else {})
            picture.text(20 + advance * found.start(), 38 + step * row, found[0], font_size=12,
                         textLength=f"{advance * len(found[0]):.0f}", **style)  # columns agree in every font
    return picture


def step():
    picture = Picture(760, 320, "A step and its parts",
                      "A step is wait, upload, forward, backward, exposed communication, update and other. Busy is "
                      "upload, forward, backward and update; AU leaves out the upload. Gradients are averaged in "
                      "buckets from the middle of backward on; what lasts longer than backward is exposed.")
    widths = {"wait": 120, "upload": 70, "forward": 95, "backward": 165, "exposed": 80, "update": 75, "other": 55}
    left, at = {}, 85
    for name, width in widths.items():
        left[name] = at
        picture.labelled(at, 50, width, 44, SHADES[name], name, INK)
        at += width
    picture.text(85, 38, "the previous step ends", fill=SOFT)
    picture.text(at, 38, "this step ends", fill=SOFT, text_anchor="end")
    for y, name, spans in ((112, "busy", (("upload", "backward"), ("update", "update"))),
                           (138, "AU", (("forward", "backward"), ("update", "update")))):
        picture.text(15, y + 13, name, font_weight="bold")
        for first, last in spans:
            picture.box(left[first], y, left[last] + widths[last] - left[first], 16, SHADES["forward"])
    picture.text(15, 177, "network", font_weight="bold")
    for bucket in range(4):
        picture.labelled(left["exposed"] - 130 + 53 * bucket, 164, 50, 18, SHADES["exposed"], "bucket",
                         font_size=11)
    for y, name, words in ((212, "wait", "no batch has arrived: the accelerator idles"),
                           (232, "upload", "the batch is copied to the accelerator"),
                           (252, "exposed", "the rest of averaging gradients, after backward has ended"),
                           (272, "other", "the rest of the step, which is in no other part"),
                           (292, "busy, AU", "two shares of the step's wall time; AU only of emulated engines")):
        picture.text(85, y, name, font_weight="bold")
        picture.text(160, y, words)
    picture.text(745, 310, "widths are not to scale", fill=SOFT, font_size=11, text_anchor="end")
    return picture


def experiment():
    trials = ("naive images", "naive tfrecord", "optimized images", "optimized tfrecord")
    picture = Picture(760, 342, "Experiment, trial, repeat, step",
                      "An experiment is one spec. It has trials, here two pipelines over two formats. Each trial is "
                      "repeated, and trials take turns. A repeat has warm-up steps and measured steps, with a fresh "
                      "pipeline and fresh weights. A step is one batch.")
    for y, name, words in ((32, "experiment", "one spec, here of two pipelines over two formats; "
                            "its trials take turns: 1, 2, 3, …"), (66, "trials", "")):
        picture.text(15, y, name, font_weight="bold")
        picture.text(130, y, words)
    for column, trial in enumerate(trials):
        picture.labelled(130 + 153 * column, 48, 145, 28, SHADES["update"], trial)
        for row in range(2):
            picture.labelled(130 + 153 * column, 86 + 34 * row, 145, 26, SHADES["forward"],
                             str(4 * row + column + 1), INK if row and column == 1 else None)
    for row in range(2):
        picture.text(15, 104 + 34 * row, f"repeat {row + 1}", font_weight="bold")
    picture.text(15, 165, "…", font_weight="bold")
    picture.path("M283 146L130 216M428 146L740 216", stroke=SOFT, stroke_dasharray="3 3")
    picture.text(15, 236, "one repeat", font_weight="bold")
    for number in range(15):
        shade = SHADES["other"] if number < 3 else SHADES["backward"]
        picture.labelled(130 + 40.8 * number, 217, 38, 28, shade, "", INK if number == 14 else None)
    picture.text(130, 262, "3 warm-up steps", fill=SOFT)
    picture.text(252, 262, "12 measured steps, with a fresh pipeline and fresh weights", fill=SOFT)
    picture.path("M720 245V292", stroke=SOFT, stroke_dasharray="3 3")
    picture.text(15, 312, "one step", font_weight="bold")
    picture.labelled(130, 292, 610, 32, SHADES["backward"],
                     "one batch: wait, upload, forward, backward, averaging, update")
    return picture


def engines():
    picture = Picture(760, 326, "Real, emulated and scale model",
                      "The input pipeline is real in all three. A real accelerator computes; an emulated one takes "
                      "the time of a profile; in a scale model it is slowed down as well, so that few cores stand for "
                      "many.")
    picture.labelled(115, 18, 630, 36, SHADES["update"],
                     "always real: the input pipeline reads, decodes and resizes on this machine's cores")
    picture.text(15, 41, "input", font_weight="bold")
    rows = (("accelerator", "computes", "computes nothing", "computes nothing"),
            ("a step takes", "the time it needs", "the time in a profile", "80 times the profile's"),
            ("links", "real or shaped", "real, shaped or modelled", "shaped or modelled, slowed"),
            ("its waits", "measured", "measured", "measured, at full scale"),
            ("mark", "none", "(emulated)", "(scale model, 1 : 80)"))
    columns = (("real", "upload", "engine cuda or onednn"), ("emulated", "exposed", "engine emulated:v100"),
               ("scale model", "wait", "16 ranks of 10 cores, on 2"))
    for column, (name, shade, example) in enumerate(columns):
        x = 115 + 213 * column
        picture.path(f"M{x + 102} 56v18m-5-6l5 6l5-6", stroke=SOFT, fill="none", stroke_width=1.5)
        picture.box(x, 78, 204, 232, SHADES["plain"], LINE, 4)
        picture.box(x, 78, 204, 50, SHADES[shade], LINE, 4)
        picture.middle(x + 102, 99, name, font_weight="bold")
        picture.middle(x + 102, 118, example, font_size=12)
        for row, words in enumerate(rows):
            picture.middle(x + 102, 157 + 34 * row, words[column + 1], font_size=12.5)
    for row, words in enumerate(rows):
        picture.text(15, 157 + 34 * row, words[0], font_weight="bold", font_size=12)
    return picture


# What lanes.json keeps of rank 0's rows in trace.json, by the names of events.
KEPT = {"decode-0": {"decode": "decode", "map_and_batch: waits for room": "full"},
        "prefetch": {"batch": "collect", "prefetch: waits for room": "full"},
        "steps": {"wait": "wait", "compute": "train"}}
STEPS = 3  # of the first trial, in the window


def window(steps, waits):
    """Start and end of consecutive steps whose wait is nearest to the mean; of equals, those in the middle."""
    mean, last = sum(waits) / len(waits), len(steps) - STEPS
    first = min(range(last + 1), key=lambda i: (abs(sum(waits[i:i + STEPS]) / STEPS - mean), abs(i - last / 2)))
    return steps[first]["ts"], steps[first + STEPS - 1]["end"]


def extract_lanes(run):
    """Steps of naive and as much time of optimized, rank 0 of a traced run on two: [start, end] of spans in ms."""
    environment = json.loads((run / "report.json").read_text())["environment"]
    events = [event for event in json.loads((run / "trace.json").read_text())["traceEvents"] if event["pid"] == 0]
    rows = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    spans = sorted(({**event, "row": rows[event["tid"]], "end": event["ts"] + event["dur"]}
                    for event in events if event["ph"] == "X"), key=lambda span: span["ts"])
    lanes, trial_begin, length = {}, 0, None
    for trial in (span for span in spans if span.get("cat") == "trial"):
        mine = [span for span in spans if trial_begin <= span["ts"] < trial["end"]]
        trial_begin = trial["end"]
        steps = [span for span in mine if re.match(r"step \d", span["name"])]
        begin, end = window(steps, [sum(span["dur"] for span in mine if span["row"] == "steps" and
                                        span["name"] == "wait" and step["ts"] <= span["ts"] < step["end"])
                                    for step in steps])
        length = length or end - begin
        last = max((span for span in mine if span["name"] == "prefetch"), key=lambda span: span["args"]["op_index"])
        decoded, lanes[trial["name"]] = 0, {row: {} for row in KEPT}
        for span in mine:
            what = KEPT.get(span["row"], {}).get(span["name"])
            if what == "decode":
                # naive decodes in order and shards afterwards: rank 0 of two keeps the images 0, 2, 4, ...
                what = "discard" if trial["name"] == "naive" and decoded % 2 else "decode"
                decoded += 1
            start, stop = (round(min(max(at - begin, 0), length) / 1000, 1) for at in (span["ts"], span["end"]))
            if what and stop - start > 0.5 and (span["row"] != "prefetch" or span["tid"] == last["tid"]):
                found = lanes[trial["name"]][span["row"]].setdefault(what, [])
                if what == "full" and found and start - found[-1][1] < 0.5:
                    start = found.pop()[0]
                found.append([start, stop])
    words = environment["command_line"]
    at = words.index("--output")
    vendor = "AMD" if "AMD" in environment["cpu"] else "Intel"
    return {"command": f"mpirun -np 2 chexbench {shlex.join(words[1:at] + words[at + 2:])}",
            "date": environment["date_utc"][:10],
            "machine": f"{environment['cores']} cores of an {vendor} {environment['cpu_kind']}",
            "length_ms": round(length / 1000, 1), "lanes": lanes}


BARS = {"decode": ("update", 24), "discard": ("exposed", 11)}  # shade and height of a decoded image


def bars(picture, what, y, spans):
    """Draws spans as one path of bars that stand on y + 24."""
    shade, height = BARS[what]
    data, at = f"M0 {y + 24 - height / 2:g}", 0
    for start, end in spans:
        start, end = round(start), max(round(end - 1), round(start) + 1)
        data += f"m{start - at} 0h{end - start}"
        at = end
    picture.path(data, stroke=SHADES[shade], stroke_width=height)


def lanes():
    found = json.loads((FOLDER / "lanes.json").read_text())
    picture = Picture(760, 316, "Naive and optimized over time",
                      "Rank 0 of two, emulated V100. Naive: the decoding thread discards every other image, and the "
                      "accelerator waits for each batch. Optimized: the decoding thread keeps all its images, the "
                      "buffer of batches is full, and the accelerator trains without a break.")
    left, scale = 120, 625 / found["length_ms"]
    names = {"decode-0": "decoding", "prefetch": "prefetching", "steps": "emulated V100"}
    looks = {"full": ("plain", "buffer full"), "collect": ("upload", "collects a batch"), "wait": ("wait", "waits"),
             "train": ("backward", "trains")}
    for arm, (name, rows) in enumerate(found["lanes"].items()):
        top = 12 + 124 * arm
        waits = sum(end - start for start, end in rows["steps"].get("wait", []))
        picture.text(15, top + 15, name, font_weight="bold")
        picture.text(left, top + 15, f"rank 0 of 2: its accelerator waits {100 * waits / found['length_ms']:.0f} % of "
                     f"these {found['length_ms']:.0f} ms", fill=SOFT)
        for row, (lane, spans) in enumerate(rows.items()):
            y = top + 22 + 32 * row
            picture.text(15, y + 17, names[lane])
            for what, times in spans.items():
                if what in BARS:
                    bars(picture, what, y, [(left + scale * start, left + scale * end) for start, end in times])
                    continue
                shade, label = looks[what]
                for start, end in times:
                    x, width = round(left + scale * start, 1), round(scale * (end - start), 1)
                    words = next((text for text in (label, label.split()[-1]) if 7 * len(text) < width), "")
                    picture.labelled(x, y, width, 24, SHADES[shade], words, INK)
    for x, what, words in ((left, "decode", "decodes an image"),
                           (left + 150, "discard", "decodes an image of the other rank: discards it")):
        bars(picture, what, 272, [(x, x + 5), (x + 6, x + 11)])
        picture.text(x + 18, 289, words)
    picture.text(745, 289, f"{found['date']}", fill=SOFT, font_size=11, text_anchor="end")
    return picture


DRAWN = {"terminal": terminal, "step": step, "experiment": experiment, "engines": engines, "lanes": lanes}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanes", type=Path, metavar="RUN", help="folder of a traced run on two ranks")
    run = parser.parse_args().lanes
    if run:
        lines = (f'"{key}": {json.dumps(value)}' for key, value in extract_lanes(run).items())
        (FOLDER / "lanes.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    for name, draw in DRAWN.items():
        (FOLDER / f"{name}.svg").write_text(str(draw()))


if __name__ == "__main__":
    main()

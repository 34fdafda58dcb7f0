"""Names that carry code for their readers: HTML, Markdown, a formula, the commands of a terminal.

They come as names of pipelines, labels, files and hosts, and as every text of a report.json from elsewhere. (A spec
can give no such name to an experiment, because it is a folder's.)
"""

import base64
import csv
import hashlib
import html.parser
import json
import os
import re
import shutil
import sys
import unittest

from harness import HAS_ONEDNN, ROOT, SystemTest, command_line, run, run_on_terminal, small_images

sys.path.insert(0, str(ROOT / "scripts"))
from plotting.tables import read_csv  # noqa: E402

# \u202e reverses the direction of the following text; the last line is a formula or the beginning of a message.
HOSTILE = ("=a|b</script><!--<img src=x onerror=alert(1)>&lt;\"'`*b*_[l](javascript:x)"
           "\x1b]0;t\x07\x1b[2J\u202e\n=1+1\n[12:00:00] error: forged")
NAIVE = json.loads(re.sub("//.*", "", (ROOT / "configs/pipelines/naive.json").read_text()))["ops"]
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Page(html.parser.HTMLParser):
    """The elements of a page with their attributes, the texts of scripts and styles, and the sources its policy
    allows."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.inline, self.policy, self.title = [], [], "", ""
        self._inside = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, *sorted(attrs)))
        self._inside = tag
        if tag in ("script", "style"):
            self.inline.append([tag, dict(attrs).get("type"), ""])
        if ("http-equiv", "Content-Security-Policy") in attrs:
            self.policy = dict(attrs)["content"]

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside in ("script", "style"):
            self.inline[-1][2] += data
        elif self._inside == "title":
            self.title += data

    def sources(self, directive):
        found = [part.split()[1:] for part in self.policy.split(";") if part.split()[0] == directive]
        return sorted(found[0]) if len(found) == 1 else None

    def hashes(self, tag):
        return sorted("'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
                      for name, kind, text in self.inline if name == tag and kind is None and text)


def with_hostile_texts(value):
    """A value of report.json in which every text is hostile, except for those that the reader knows."""
    if isinstance(value, dict):
        kept = ("spec", "key", "page_cache", "columns")
        return {name: inner if name in kept else with_hostile_texts(inner)
                for name, inner in value.items()}
    if isinstance(value, list):
        return [with_hostile_texts(inner) for inner in value]
    return HOSTILE if isinstance(value, str) else value


class HostileText(SystemTest):
    def measured(self):
        out = self.folder / "out"
        spec = self.spec(pipeline={"name": HOSTILE, "ops": NAIVE}, sweep={"training.batch_size": [2, 3]})
        done = self.succeed("--config", spec, "--output", out)
        self.check_terminal(done.stdout + done.stderr)
        return out

    def from_elsewhere(self):
        """The folder of a report.json that only an attacker has written."""
        out = self.measured()
        report = self.report(out)
        report["findings"] = [{"kind": "", "text": "", "trial": "", "base": "", "emulated": False}]
        for trial in report["trials"]:
            trial["notes"] = [""]
        report = with_hostile_texts(report)
        for trial in report["trials"]:  # another pipeline for each: its name is in all tables
            trial["spec"]["pipeline"]["name"] = f"{HOSTILE} {trial['spec']['training']['batch_size']}"
        (out / "report.json").write_text(json.dumps(report))
        return out

    def check_terminal(self, text):
        """Nothing that a terminal obeys, and no line that looks like a message of the program."""
        self.assertIsNone(OBEYED.search(text), repr(text))
        self.assertNotRegex(text, r"(?m)^\[12:00:00\] error: forged")

    def check_page(self, text):
        page = Page(text)
        self.assertEqual(page.elements, Page((self.plain_page())).elements)
        self.assertEqual(page.sources("script-src"), page.hashes("script"))
        self.assertEqual(page.sources("style-src"), page.hashes("style"))
        self.assertEqual(page.sources("default-src"), ["'none'"])
        return page

    def plain_page(self):
        """A page of a run whose names are plain."""
        out = self.folder / "plain"
        if not out.exists():
            self.succeed("--config", self.spec(), "--output", out)
        return (out / "report.html").read_text()

    def test_a_run_under_such_names(self):
        out = self.measured()
        data = [text for _, kind, text in self.check_page((out / "report.html").read_text()).inline if kind]
        names = {trial["spec"]["pipeline"]["name"] for trial in json.loads(data[0])["trials"]}
        self.assertEqual(names, {HOSTILE})
        self.assertEqual({trial["spec"]["pipeline"]["name"] for trial in self.report(out)["trials"]}, {HOSTILE})
        for path in out.glob("*.csv"):
            with open(path, newline="") as file:
                lines = list(csv.reader(file))
            for line in lines:
                self.assertEqual(len(line), len(lines[0]), path)
                for field in line:
                    self.assertNotRegex(field, r"^[=@\t\r]|^[+-](?![0-9.e+-]*$)")
        for name in ("trials.csv", "repeats.csv"):
            self.assertEqual({row["pipeline"] for row in read_csv(out / name)[1]}, {HOSTILE}, name)

    def test_a_report_of_such_texts(self):
        out = self.from_elsewhere()
        self.succeed("report", out)
        page = self.check_page((out / "report.html").read_text())
        self.assertIn("</script>", page.title)  # the title shows the name, as text
        self.check_terminal(self.succeed("report", out, "--format", "table").stdout)
        trials = self.folder / "printed.csv"
        trials.write_text(self.succeed("report", out, "--format", "csv").stdout)
        for row in read_csv(trials)[1]:
            self.assertEqual((row["experiment"], row["trial"], row["host"]), (HOSTILE, HOSTILE, HOSTILE))
        self.check_markdown(self.succeed("report", out, "--format", "markdown").stdout)

    def test_comparisons_of_such_reports(self):
        out = self.from_elsewhere()
        self.check_terminal(self.succeed("compare", out, out).stdout)
        self.check_markdown(self.succeed("compare", out, out, "--format", "markdown").stdout)

    def check_markdown(self, text):
        self.check_terminal(text)
        text = re.sub(r"(?m)^~~~sh\nchexbench .*\n~~~$", "", text)  # code is shown as it is, and it is one line
        columns = 0
        for line in text.splitlines():
            plain = re.sub(r"\\.", "", line)  # without escaped text
            self.assertNotRegex(plain, r"[<>`*\[\]]|&lt;", line)
            cells = plain.count("|")
            if line.startswith("|"):
                self.assertIn(columns, (0, cells), line)
            columns = cells if line.startswith("|") else 0

    def test_names_of_labels_and_files(self):
        root = self.folder / "set"
        for label in ("b", HOSTILE.replace("/", "")):
            (root / label).mkdir(parents=True)
            for image in sorted(small_images().rglob("*.png"))[:2]:
                (root / label / image.name).write_bytes(image.read_bytes())
        (root / HOSTILE.replace("/", "") / (HOSTILE.replace("/", "") + ".png")).write_bytes(b"no image")
        for verb in (("data", "index"), ("data", "check")):
            done = run(*verb, root)
            self.check_terminal(done.stdout + done.stderr)
        done = run("--config", self.spec(data__root=str(root)), cwd=self.folder)
        self.assertNotEqual(done.returncode, 0)
        self.check_terminal(done.stderr)

    def test_what_is_for_programs_is_shown_where_it_goes_to_a_terminal(self):
        out = self.from_elsewhere()
        for form in ("csv", "json"):
            text = run_on_terminal(command_line(["report", out, "--format", form]), stdin=None, stderr=None)
            self.assertIsNone(OBEYED.search(text.replace("\r\n", "\n")), form)


class NotUtf8(SystemTest):
    """Names in Latin-1, as in old archives: of the data folder, of its classes and images, and of the output."""

    def setUp(self):
        super().setUp()
        self.root = self.folder / os.fsdecode(b"r\xe9p")
        images = sorted((small_images() / "images").iterdir())
        for number, name in enumerate((b"m\xe9lanome", b"m\xe8lanome")):
            folder = self.root / os.fsdecode(name)
            folder.mkdir(parents=True)
            for image in images[4 * number:4 * number + 4]:
                shutil.copy(image, folder / os.fsdecode(b"\xe9" + image.name.encode()))

    def shell(self, command):
        """The last word of a command, as bash parses it."""
        return self.ends_with(0, "bash", "-c", "chexbench() { printf %s \"${!#}\"; }\n" + command, text=False).stdout

    def test_the_index_is_json_and_its_next_command_names_the_folder(self):
        told = self.told("data", "index", self.root)
        self.assertEqual([(label["name"], label["images"]) for label in told["labels"]],
                         [("m\ufffdlanome", 4), ("m\ufffdlanome", 4)])
        self.assertEqual(self.shell(told["next"]), b"data.root=" + os.fsencode(self.root))
        self.assertIn("label.m\\xe9lanome: 4", self.succeed("data", "index", "--explain", self.root).stdout)

    def test_runs_and_conversions_work_and_write_utf_8(self):
        out = self.folder / os.fsdecode(b"s\xf6")
        for form in ("images", "tfrecord", "cached"):
            with self.subTest(form=form):
                options = ["--image-size", 32] if form == "cached" else []
                if form != "images":
                    self.succeed("data", "convert", self.root, "--split", "all", "--to", form, *options)
                spec = self.spec(data={"split": "all", "format": form, "deliver": "u8"}, model__image_size=32)
                self.succeed("--config", spec, "--set", f"data.root={self.root}", "--output", out / form)
                self.assertEqual(self.report(out / form)["trials"][0]["spec"]["data"]["root"],
                                 str(self.folder / "r\ufffdp"))
                for path in [*(out / form).iterdir(), *self.root.glob("*/*.json")]:
                    path.read_text(encoding="utf-8")
        self.succeed("data", "check", self.root)

    @unittest.skipUnless(HAS_ONEDNN, "needs oneDNN")
    def test_a_network_that_was_trained_for_such_classes_is_evaluated(self):
        spec = self.spec(engine="onednn", data={"split": "all"}, model={"name": "mobilenet_v2", "image_size": 32},
                         training={"batch_size": 4, "epochs": 1, "task": "classes"}, measure={"warmup_steps": 0})
        out = self.folder / "out"
        self.succeed("--config", spec, "--set", f"data.root={self.root}", "--output", out)
        checkpoint, = out.glob("checkpoints/*/last.safetensors")
        judged = self.folder / os.fsdecode(b"\xfcber")
        self.succeed("evaluate", "--checkpoint", checkpoint, "--data", self.root, "--split", "all", "--output", judged)
        for path in [*out.iterdir(), *judged.iterdir()]:
            if path.is_file():
                path.read_text(encoding="utf-8")

    def test_what_json_cannot_hold_is_refused(self):
        self.fail_with(3, "data", "convert", self.root, "--split", "all", "--to", "webdataset", says="--to tfrecord")
        out = self.folder / os.fsdecode(b"s\xf6")
        given = ["--config", self.spec(data={"split": "all"}), "--set", f"data.root={self.root}"]
        self.succeed(*given, "--output", out)
        self.fail_with(2, "--resume", out, says="give the original --config and --set")
        self.succeed(*given, "--resume", out)

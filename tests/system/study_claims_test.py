"""Verdicts of studies on claims, their planning and their output, without measuring anything."""

import csv
import json
import shutil
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from harness import ROOT

sys.path.insert(0, str(ROOT / "scripts/studies"))
import budget  # noqa: E402
import dell_article  # noqa: E402
import malik  # noqa: E402
import planning  # noqa: E402
import published  # noqa: E402
import salvaris_gpus  # noqa: E402
import salvaris_network  # noqa: E402
import salvaris_storage  # noqa: E402
import sc19_poster  # noqa: E402
import summary  # noqa: E402
import timeline  # noqa: E402
import worlds  # noqa: E402
import xrays  # noqa: E402
from measuring import StudyError, read_report  # noqa: E402

def row(pipeline, ranks, images_per_s, kind="measured", fmt="images", busy_share=1.0):
    return {"model": "resnet50", "decoder": "opencv", "pipeline": pipeline, "format": fmt, "ranks": ranks,
            "kind": kind, "images_per_s": images_per_s, "low": 0.99 * images_per_s, "high": 1.01 * images_per_s,
            "busy_share": busy_share, "scale_factor": 5.0}


def results(rows, gains=()):
    """Results of rows, and of the ratios of TFRecords to PNGs by ranks: {ranks: (ratio, low, high, grade)}."""
    made = sc19_poster.Results(rows, [])
    for ranks, (ratio, low, high, grade) in dict(gains).items():
        made.ratios["resnet50", "opencv", ranks, "format_ratio"] = {
            "kind": "format_ratio", "ratio": ratio, "ratio_ci95": [low, high], "grade": grade}
    return made


class Claims(unittest.TestCase):
    def test_scaling_is_judged_by_the_interval_and_called_linear_on_all_ranks_only(self):
        for ranks, rate, expected in ((16, 6000, worlds.HOLDS), (4, 1500, worlds.UNKNOWN), (4, 900, worlds.FAILS),
                                      (4, 1385, worlds.UNKNOWN)):
            made = results([row("optimized", 1, 384), row("optimized", ranks, rate)])
            self.assertEqual(worlds.linear_claim(made, "resnet50", "optimized")[1], expected, rate)

    def test_a_pipeline_does_not_scale_if_twice_the_ranks_gain_nothing(self):
        for rates, expected in (({1: 384, 2: 385}, worlds.HOLDS), ({1: 384, 2: 600, 4: 605}, worlds.HOLDS),
                                ({1: 384, 2: 520}, worlds.UNKNOWN), ({8: 3000, 16: 5800}, worlds.FAILS),
                                ({1: 384, 2: 422}, worlds.UNKNOWN),
                                ({1: 384, 16: 400}, worlds.UNKNOWN)):
            made = results([row("naive", ranks, rate) for ranks, rate in rates.items()])
            self.assertEqual(worlds.flat_claim(made, "resnet50", "naive")[1], expected, rates)

    def test_a_prediction_judges_nothing(self):
        made = results([row("optimized", 1, 384), row("optimized", 16, 6100, kind="predicted")])
        claim, verdict, evidence = worlds.linear_claim(made, "resnet50", "optimized")
        self.assertEqual(verdict, sc19_poster.UNKNOWN)
        self.assertIn("not measured on more than one rank", evidence)

    def test_a_gain_is_judged_on_the_gpus_of_the_published_one_alone(self):
        published = [{"model": "resnet50", "ranks": "4", "value": "8.39"}]
        for ranks, gain, expected in ((4, (1.09, 1.07, 1.11, "told apart"), sc19_poster.HOLDS),
                                      (4, (1.01, 1.00, 1.03, "cannot be told"), sc19_poster.FAILS),
                                      (4, (1.06, 1.01, 1.20, "told apart"), sc19_poster.UNKNOWN),
                                      (4, (1.01, 1.00, 1.03, "machine too busy"), sc19_poster.UNKNOWN),
                                      (2, (1.09, 1.07, 1.11, "told apart"), sc19_poster.UNKNOWN)):
            made = results([row("optimized", ranks, 700)], {ranks: gain})
            _, verdict, evidence = sc19_poster.gain_claim(made, "resnet50", published)
            self.assertEqual(verdict, expected, gain)
            self.assertEqual("[" in evidence, gain[3] == "machine too busy", evidence)  # a verdict has no doubt

    def test_a_conversion_is_not_always_worth_it_if_one_gain_is_surely_small(self):
        large = (1.09, 1.07, 1.11, "told apart")
        for gains, expected in (({2: large, 4: (1.00, 0.99, 1.01, "cannot be told")}, sc19_poster.HOLDS),
                                ({2: large}, sc19_poster.FAILS), ({}, sc19_poster.UNKNOWN),
                                ({2: (1.02, 1.00, 1.04, "told apart")}, sc19_poster.UNKNOWN),
                                ({2: (1.00, 0.99, 1.01, "machine too busy")}, sc19_poster.UNKNOWN)):
            self.assertEqual(sc19_poster.worth_claim(results([], gains))[1], expected, gains)

    def test_every_measured_row_must_be_busy(self):
        for share, expected in ((0.99, sc19_poster.HOLDS), (0.8, sc19_poster.FAILS)):
            made = results([row("optimized", 1, 384), row("optimized", 2, 700, busy_share=share)])
            self.assertEqual(sc19_poster.busy_claim(made, "resnet50")[1], expected)


class Worlds(unittest.TestCase):
    def test_sending_keeps_its_share_of_a_step_of_a_smaller_batch(self):
        spec = {"training": {"batch_size": 64}, "comm": {"alpha_s": 2e-6, "beta_bytes_per_s": 1.25e10}}
        self.assertEqual(worlds.link_settings(spec, 8), ["comm.alpha_s=2.5e-07", "comm.beta_bytes_per_s=1e+11"])
        self.assertEqual(worlds.link_settings(spec, 64), [])

    def test_a_kept_report_of_an_older_version_has_todays_words(self):
        with tempfile.TemporaryDirectory() as folder:
            trial = {"partial": False, "spec": {"data": {"format": "png"}}}
            Path(folder, "report.json").write_text(json.dumps({"interrupted": False, "trials": [trial]}))
            self.assertEqual(read_report(Path(folder))["trials"][0]["spec"]["data"]["format"], "images")


class Xrays(unittest.TestCase):
    def test_the_set_has_as_many_images_and_labels_for_each_of_16_ranks(self):
        folder = Path(tempfile.mkdtemp()) / "set"
        self.addCleanup(shutil.rmtree, folder.parent)
        xrays.make(folder)
        images = sorted(path.name for path in (folder / "images").iterdir())
        self.assertEqual(len(images) % 16, 0)
        with open(folder / "Data_Entry_2017.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(sorted(row["Image Index"] for row in rows), images)
        self.assertEqual({int(row["Image Index"].split("_")[0]) - int(row["Patient ID"]) for row in rows}, {0})
        listed = [name for file in ("train_val_list.txt", "test_list.txt")
                  for name in (folder / file).read_text().split()]
        self.assertEqual(sorted(listed), images)


class DellArticle(unittest.TestCase):
    def overlap(self, ratio, interval, grade="told apart", wait=0.6, busy=0.4):
        figures = {"wait_share": wait, "busy_share": busy}
        ratio = {"kind": "pipeline_ratio", "trial": "pipelined (emulated)", "ratio": ratio, "ratio_ci95": interval,
                 "grade": grade}
        return dell_article.overlap_claim({"trials": [{"figures": figures}], "findings": [ratio]})[1]

    def test_pipelining_must_hide_the_smaller_part_of_a_step(self):
        self.assertEqual(self.overlap(1.66, [1.6, 1.7]), dell_article.HOLDS)  # 1 / 0.6
        self.assertEqual(self.overlap(1.02, [1.0, 1.05]), dell_article.FAILS)
        self.assertEqual(self.overlap(1.5, [1.2, 1.8]), dell_article.UNKNOWN)
        self.assertEqual(self.overlap(1.66, [1.6, 1.7], "machine too busy"), dell_article.UNKNOWN)
        self.assertEqual(self.overlap(1.66, None), dell_article.UNKNOWN)

    def test_a_time_line_begins_with_the_first_measured_step(self):
        def event(name, row, ts, dur, cat=None):
            return {"ph": "X", "name": name, "row": row, "ts": ts, "dur": dur, "cat": cat}
        events = [event("batch", "main", 0, 40), event("pipelined", "steps", 100, 90, "trial"),
                  event("batch", "prefetch", 90, 30)]
        for number in range(6):
            events += [event(f"step {number}", "steps", 100 + 10 * number, 10, "step"),
                       event("wait", "steps", 100 + 10 * number, 4, "step"),
                       event("compute", "steps", 104 + 10 * number, 6, "step")]
        spans = timeline.spans(events, "pipelined")
        self.assertEqual([(span["begin_s"], round(span["end_s"], 9)) for span in spans if span["lane"] == "prepare"],
                         [(0, 20e-6)])
        self.assertEqual(len([span for span in spans if span["lane"] == "train"]), timeline.STEPS)
        self.assertEqual(max(span["end_s"] for span in spans), 40e-6)


class Malik(unittest.TestCase):
    def test_a_batch_that_no_profile_has_takes_the_speed_of_the_nearest_and_says_so(self):
        def entries(device):
            return [{"model": "alexnet", "image_size": 224, "precision": "f32", "batch_size": size}
                    for size in (32, 256)] if device == "k80" else []
        with mock.patch.object(malik.profiles, "entries", entries):
            known, holes = malik.trainings()
        self.assertEqual({size: entry["batch_size"] for (_, _, size), entry in known.items()},
                         {64: 32, 128: 32, 256: 256, 512: 256})
        self.assertEqual(malik.speed_of(known["k80", "alexnet", 512], 512), "published at batch 256")
        self.assertEqual(malik.speed_of(known["k80", "alexnet", 256], 256), "published")
        self.assertIn(("k80", "googlenet"), holes)
        self.assertIn(("p100", "alexnet"), holes)


class Salvaris(unittest.TestCase):
    def speeds(self, **profiles):
        """gpus.speeds() of profiles with these entries: (model, precision, batch_size, images_per_s, more keys)."""
        folders = []
        for entries in (profiles.get("own", {}), profiles.get("others", {})):
            folder = Path(tempfile.mkdtemp())
            self.addCleanup(shutil.rmtree, folder)
            folders.append(folder)
            for device, rows in entries.items():
                made = [{"model": model, "image_size": 224, "precision": precision, "batch_size": batch_size,
                         "images_per_s": rate, "includes_communication": False, "source": "a test", **more}
                        for model, precision, batch_size, rate, more in rows]
                (folder / f"{device}.json").write_text("// made by a test\n" + json.dumps({"entries": made}))
        with mock.patch.object(salvaris_gpus, "PROFILES", tuple(folders)):
            return salvaris_gpus.speeds()

    def test_a_speed_is_the_authors_own_before_others_and_that_of_the_nearest_batch(self):
        found, missing = self.speeds(own={"v100": [("resnet50", "f32", 32, 300, {}), ("resnet50", "f32", 64, 357, {})]},
                                     others={"v100": [("resnet50", "f32", 64, 384, {}),
                                                      ("resnet50", "fp16", 192, 1376, {})]})
        self.assertEqual({key: entry["images_per_s"] for key, (_, entry) in found.items()},
                         {("v100", "resnet50", "f32"): 357, ("v100", "resnet50", "fp16"): 1376})
        self.assertIn("K80, ResNet50, f32: no profile has its speed", missing)

    def test_a_speed_with_communication_in_it_is_left_out_and_a_computed_one_is_marked(self):
        computed = {"computed": True}
        found, missing = self.speeds(others={
            "p40": [("mobilenet_v2", "f32", 64, 900, computed)],
            "k80": [("resnet50", "f32", 64, 50, {"includes_communication": True})]})
        self.assertEqual(list(found), [("p40", "mobilenet_v2", "f32")])
        self.assertTrue(salvaris_gpus.is_computed(found["p40", "mobilenet_v2", "f32"][1]))
        self.assertIn("P40 (speed computed)", salvaris_gpus.series({"device": "p40", "precision": "f32",
                                                                    "computed_speed": True}))
        self.assertIn("K80, ResNet50, f32: its speed contains the communication of its source", missing)

    def test_every_gpu_of_the_talk_has_the_speed_of_resnet50_and_the_link_of_its_nodes(self):
        found, _ = salvaris_gpus.speeds()
        for device in salvaris_gpus.DEVICES:
            self.assertIn((device, "resnet50", "f32"), found)
            self.assertIsNotNone(salvaris_gpus.link_of(salvaris_gpus.links(), salvaris_gpus.NETWORK, device))
        self.assertIsNone(salvaris_gpus.link_of(salvaris_gpus.links(), "NVLink", "k80"))

    def test_every_speed_that_was_measured_names_its_program(self):
        found, _ = salvaris_gpus.speeds()
        self.assertEqual([key for key, (_, entry) in found.items() if not salvaris_gpus.is_computed(entry)
                          and salvaris_gpus.profiles.program_of(entry["source"]) == "program unknown"], [])

    def test_links_without_the_talks_own_are_refused(self):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        with mock.patch.object(salvaris_gpus, "SPECS", folder):
            with self.assertRaisesRegex(StudyError, "links.csv: cannot read it: No such file"):
                salvaris_gpus.links()
            (folder / "links.csv").write_text("link,devices,alpha_s,beta_bytes_per_s,source\n")
            with self.assertRaisesRegex(StudyError, "no row for FDR InfiniBand"):
                salvaris_gpus.links()

    def test_a_fast_network_must_be_worth_more_to_the_newest_gpu(self):
        for v100, p100, expected in (((1.04, 1.03, 1.05), (1.01, 1.00, 1.02), salvaris_network.HOLDS),
                                     ((1.01, 1.00, 1.02), (1.04, 1.03, 1.05), salvaris_network.FAILS),
                                     ((0.98, 0.97, 0.99), (0.95, 0.94, 0.96), salvaris_network.FAILS),
                                     ((1.04, 1.02, 1.06), (1.03, 1.01, 1.05), salvaris_network.UNKNOWN)):
            self.assertEqual(salvaris_network.verdict({"v100": v100, "p100": p100}, {}), expected, v100)
        self.assertEqual(salvaris_network.verdict({"v100": (1.04, 1.03, 1.05)}, {}), salvaris_network.UNKNOWN)
        here = {"v100": (1.04, 1.03, 1.05), "p100": (1.01, 1.00, 1.02)}
        self.assertEqual(salvaris_network.verdict(here, {"v100": 1.53, "k80": 1.67}), salvaris_network.UNKNOWN)
        self.assertEqual(salvaris_network.claim({}, [], [])[1:], (salvaris_network.UNKNOWN,
                                                                  "no profile has a speed for it"))

    def ratios(self, kind, values, grade="told apart"):
        """Ratios of a kind on every store and loader: (low, high), the same on all except those in `values`."""
        return {(store, kind, loader, fmt): {"ratio": (low + high) / 2, "ratio_ci95": [low, high], "grade": grade}
                for (store, loader, fmt), (low, high) in values.items()}

    def test_loaders_differ_if_one_interval_says_so_and_are_equal_if_all_do(self):
        equal = {(store, loader, "images"): (0.99, 1.01) for store in salvaris_storage.STORES
                 for loader in ("pytorch", "optimized")}
        for values, grade, expected in ((equal, "cannot be told", salvaris_storage.FAILS),
                                        ({**equal, ("blob", "pytorch", "images"): (2.9, 3.1)}, "told apart",
                                         salvaris_storage.HOLDS),
                                        ({**equal, ("blob", "pytorch", "images"): (0.9, 1.2)}, "told apart",
                                         salvaris_storage.UNKNOWN),
                                        ({("blob", "pytorch", "images"): (0.99, 1.01)}, "cannot be told",
                                         salvaris_storage.UNKNOWN),
                                        ({("blob", "pytorch", "images"): (2.9, 3.1)}, "machine too busy",
                                         salvaris_storage.UNKNOWN)):
            ratios = self.ratios("pipeline_ratio", values, grade)
            self.assertEqual(salvaris_storage.loaders_claim(ratios)[1], expected, values)
        self.assertEqual(salvaris_storage.loaders_claim({})[1:], (salvaris_storage.UNKNOWN, "not measured"))

    def test_tfrecords_must_be_faster_somewhere_and_slower_nowhere(self):
        equal = {(store, loader, "tfrecord"): (0.99, 1.01) for store in salvaris_storage.FORMAT_STORES
                 for loader in salvaris_storage.LOADERS}
        for more, expected in (({}, salvaris_storage.FAILS),
                               ({("blob", "keras", "tfrecord"): (1.8, 2.0)}, salvaris_storage.UNKNOWN),
                               (dict.fromkeys([*equal][:4], (1.8, 2.0)), salvaris_storage.HOLDS),
                               ({("blob", "keras", "tfrecord"): (1.8, 2.0), ("local", "keras", "tfrecord"): (0.8, 0.9)},
                                salvaris_storage.UNKNOWN)):
            ratios = self.ratios("format_ratio", {**equal, **more})
            self.assertEqual(salvaris_storage.formats_claim(ratios)[1], expected, more)

    def test_a_location_is_judged_by_the_bounds_of_both_runs(self):
        def store(name, rate):
            return [{"store": name, "loader": loader, "format": "images", "images_per_s": rate, "ci95_low": 0.99 * rate,
                     "ci95_high": 1.01 * rate} for loader in salvaris_storage.LOADERS]
        for nfs, blob, expected in ((357, 100, salvaris_storage.HOLDS), (357, 357, salvaris_storage.FAILS),
                                    (357, 342, salvaris_storage.UNKNOWN)):
            rows = store("local", 357) + store("nfs", nfs) + store("blob", blob)
            self.assertEqual(salvaris_storage.location_claim(rows, [])[1], expected, (nfs, blob))
        published = [{"store": "nfs", "loader": "optimized", "ranks": "8", "images_per_s": 142.8}]
        self.assertEqual(salvaris_storage.location_claim([], published)[1:],
                         (salvaris_storage.UNKNOWN, "not measured; TensorFlow 0.40 on NFS, 8 GPUs, published"))

    def test_a_ratio_is_that_of_its_store_loader_and_format(self):
        def report(*trials):
            return {"findings": [{"kind": kind, "trial": trial, "ratio": 2.0} for kind, trial in trials]
                    + [{"kind": "fed", "trial": "keras images (emulated)"}]}
        groups = {group.config: group for group in salvaris_storage.groups()}
        reports = [(groups["storage-blob"], report(("format_ratio", "keras tfrecord (emulated)"))),
                   (groups["storage-nfs"], report(("pipeline_ratio", "pytorch")))]  # of PNGs alone
        self.assertEqual(list(salvaris_storage.ratios_of(reports)), [("blob", "format_ratio", "keras", "tfrecord"),
                                                                     ("nfs", "pipeline_ratio", "pytorch", "images")])

    def test_the_forecast_knows_what_holds_a_loader_back(self):
        blob = {"latency_ms": 20.0}
        keras, pytorch = (salvaris_storage.expected_rate(blob, loader, "images", 110e3)
                          for loader in ("keras", "pytorch"))
        self.assertAlmostEqual(keras, 1 / (0.02 + salvaris_storage.DECODE_S))
        self.assertGreater(pytorch, 3 * keras)
        self.assertEqual(salvaris_storage.expected_rate({"bandwidth_mb_per_s": 11}, "optimized", "images", 110e3), 100)
        self.assertEqual(salvaris_storage.expected_rate({"iops": 50}, "optimized", "images", 110e3), 50)


class Published(unittest.TestCase):
    ROW = {"study": "a", "device": "k80", "model": "resnet50", "image_size": 224, "precision": "f32", "batch_size": 64,
           "by": "A", "source": "a test"}
    SYSTEM = {"by": "A", "device": "", "comm_profile": "horovod-nccl", "link": "edr", "host_link": "pcie3",
              "ranks_per_host": "4", "alone": "", "system": "a test"}

    def rows(self, **rates):
        return [{**self.ROW, "ranks": int(ranks[1:]), "images_per_s": rate} for ranks, rate in rates.items()]

    def test_a_prediction_begins_with_the_sources_own_rate_and_adds_its_software(self):
        two, = published.compare(self.rows(n1=50.0, n2=90.0), [self.SYSTEM])
        self.assertAlmostEqual(two["ideal"], 100, delta=0.5)
        self.assertAlmostEqual(two["predicted"], 128 / (64 / 50 + 161 * 0.16e-3), delta=0.5)
        self.assertAlmostEqual(two["ratio"], two["predicted"] / 90)

    def test_a_rate_of_two_studies_counts_once_and_one_without_a_system_is_an_error(self):
        rows = self.rows(n1=50.0, n2=90.0)
        again = [{**row, "study": "b", "by": "B"} for row in rows]
        self.assertEqual([row["study"] for row in published.compare([*rows, *again], [self.SYSTEM])], ["a"])
        with self.assertRaisesRegex(StudyError, "systems.csv: it has no system"):
            published.compare([{**row, "by": "B"} for row in rows], [self.SYSTEM])

    def test_what_misfits_is_not_called_false(self):
        rows = [{"by": "A", "device": "k80", "ranks": 2, "comm_profile": "ideal", "ratio": ratio}
                for ratio in (1.1, 1.2)]
        self.assertEqual(published.claims(rows)[0][1], published.UNEXPLAINED)
        self.assertEqual(published.claims(rows[:1])[0][1], published.EXPLAINED)

    def test_its_page_has_each_row_and_the_misfit_of_both_models(self):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        pages, claims = published.run(folder)
        text = (folder / "README.md").read_text()
        with open(folder / "compared.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(text[text.index("## All rows"):].count("\n| ") - 2, len(rows))
        self.assertIn(f"| all |  | {len(rows)} |", text)
        for claim, verdict, _ in claims:
            self.assertIn(f"| {claim} | {verdict} |", text)
        self.assertEqual({path.name for path in pages}, {"README.md", "index.html"})

    def test_all_studies_are_on_one_page(self):
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        summary.write(folder, {"one": ("First", [("It scales", "holds", "0.99")])})
        text = (folder / "README.md").read_text()
        self.assertIn("## First (one)", text)
        self.assertIn("| It scales | holds | 0.99 |", text)

    def test_every_published_rate_has_a_system(self):
        systems = published.read_csv(published.SPECS / "systems.csv")
        for study in published.SOURCES:
            for one in published.published_rows(study):
                if one["ranks"] > 1:
                    self.assertIsNotNone(published.system_of(systems, one), one)


class Budget(unittest.TestCase):
    def measure(self, seconds, kept=(), takes=1.0):
        """The names of the groups that are measured within 300 s, each `takes` times as long as forecast."""
        clock = [0.0]
        plan = [planning.Group(str(number), "none", 1, 3, seconds=one) for number, one in enumerate(seconds)]

        def measured(name):
            clock[0] += 0 if name in kept else takes * plan[int(name)].seconds
            return name
        with mock.patch.multiple(budget, measured=measured, kept=lambda name: name in kept or None, say=mock.DEFAULT), \
                mock.patch.object(budget.time, "monotonic", lambda: clock[0]):
            budget.measure_until(300, "test", plan, lambda group: (group.config,), lambda group: 1e6)
        return [group.config for group in plan if not group.left_out]

    def test_groups_are_measured_in_their_order_while_time_is_left(self):
        self.assertEqual(self.measure((100, 250, 150)), ["0", "2"])

    def test_what_was_measured_before_costs_nothing(self):
        self.assertEqual(self.measure((100, 250, 290), kept=("0", "1")), ["0", "1", "2"])
        self.assertEqual(self.measure((290, 100, 250), kept=("2",)), ["0", "2"])

    def test_a_machine_slower_than_forecast_leaves_more_out(self):
        self.assertEqual(self.measure((100, 80), takes=2.0), ["0"])

    def test_what_does_not_fit_into_memory_is_left_out(self):
        plan = [planning.Group("a", "none", 2, 3, seconds=1)]
        with mock.patch.object(budget, "kept", lambda name: None):
            self.assertEqual(budget.measure_until(time.monotonic() + 300, "test", plan, lambda group: ("a",),
                                                  lambda group: planning.available_bytes()), [])
        self.assertIn("GB of memory", plan[0].left_out)


class Planning(unittest.TestCase):
    def groups(self):
        return [planning.Group("a", "opencv", 1, 3, seconds=100), planning.Group("a", "opencv", 16, 1, seconds=900),
                planning.Group("b", "opencv", 2, 3, seconds=150)]

    def test_the_first_that_fit_are_measured(self):
        groups = self.groups()
        planning.choose(groups, 300, lambda group: 1e6)
        self.assertEqual([bool(group.left_out) for group in groups], [False, True, False])
        self.assertIn("15 minutes, more than the budget leaves", groups[1].left_out)
        groups[0].seconds = 62
        planning.choose(groups[:1], 30, lambda group: 1e6)
        self.assertIn("1 minute, more", groups[0].left_out)

    def test_what_does_not_fit_into_memory_is_left_out(self):
        groups = self.groups()
        planning.choose(groups, 3000, lambda group: planning.available_bytes() / 10)
        self.assertEqual([bool(group.left_out) for group in groups], [False, True, False])
        self.assertIn("GB of memory", groups[1].left_out)

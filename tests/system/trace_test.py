"""trace.json: the format, and that it agrees with the other files."""

import json
import sys
from collections import defaultdict

from harness import ROOT, SystemTest

sys.path.append(str(ROOT / "scripts"))
from pictures import extract_lanes

# With two ranks: under TSan a step whose gradients really go from rank to rank takes seconds.
MODELLED = {"model": "alpha_beta", "alpha_s": 1e-5, "beta_bytes_per_s": 1e9, "launch_s": 0}
TOLERANCE_US = 0.002  # times are whole nanoseconds, reckoned in binary microseconds


class Trace(SystemTest):
    def traced(self, ranks=None, **keys):
        """A traced run's trace.json, and its folder."""
        out = self.folder / "out"
        spec = self.spec(**{"measure__trace": True, **keys})
        self.succeed("--config", spec, "--output", out, ranks=ranks)
        return json.loads((out / "trace.json").read_text()), out

    def row_names(self, trace):
        return {(event["pid"], event["tid"]): event["args"]["name"] for event in trace["traceEvents"]
                if event["name"] == "thread_name"}

    def spans(self, trace):
        """Complete events by row, in the order of the file."""
        rows = defaultdict(list)
        for event in trace["traceEvents"]:
            if event["ph"] == "X":
                rows[event["pid"], event["tid"]].append(event)
        return rows

    def test_two_ranks_have_every_op_and_every_bucket_in_rows_with_names(self):
        trace, out = self.traced(ranks=2, engine="emulated:v100", pipeline="naive", measure__repeats=1)
        names = self.row_names(trace)
        rows = self.spans(trace)
        ops = [op["op"] for op in self.report(out)["trials"][0]["repeats"][0]["ops"]]
        for rank in (0, 1):
            mine = {row: events for row, events in rows.items() if row[0] == rank}
            self.assertTrue({"steps", "main", "comm", "prefetch"} <= {names[row] for row in mine})
            for index, op in enumerate(ops):
                self.assertTrue(any(event["name"] == op and event["args"].get("op_index") == index
                                    for events in mine.values() for event in events), f"{op} of rank {rank}")
            buckets = [event for events in mine.values() for event in events if event["name"] == "bucket"]
            self.assertTrue(buckets)
            self.assertTrue(all(event["args"]["bytes"] > 0 for event in buckets))
        self.assertTrue(any(event["ph"] == "C" and event["name"].startswith("queue of ")
                            for event in trace["traceEvents"]))
        self.assertEqual([len(rows["steps"]["train"]) for rows in extract_lanes(out)["lanes"].values()], [3])

    def test_buckets_of_a_modelled_network_are_named_so(self):
        trace, _ = self.traced(ranks=2, engine="emulated:v100", comm=MODELLED)
        names = self.row_names(trace)
        buckets = [event for event in trace["traceEvents"] if event.get("cat") == "communication"]
        self.assertEqual({(event["pid"], names[event["pid"], event["tid"]], event["name"]) for event in buckets},
                         {(rank, "emulated", "modelled bucket") for rank in (0, 1)})
        self.assertTrue(all(event["args"]["bytes"] > 0 for event in buckets))

    def test_spans_nest_within_each_row(self):
        trace, _ = self.traced(ranks=2, engine="emulated:v100", comm=MODELLED,
                               sweep={"pipeline": ["naive", "optimized", "pytorch"]})
        for row, events in self.spans(trace).items():
            events.sort(key=lambda event: (event["ts"], -event["dur"]))
            ends = []
            for event in events:
                begin, end = event["ts"], event["ts"] + event["dur"]
                self.assertGreaterEqual(event["dur"], 0)
                while ends and ends[-1] <= begin + TOLERANCE_US:
                    ends.pop()
                if ends:
                    self.assertLessEqual(end, ends[-1] + TOLERANCE_US, f"{row}: {event}")
                ends.append(end)

    def test_the_steps_are_those_of_the_last_repeat_in_steps_csv(self):
        trace, out = self.traced(ranks=2, engine="emulated:v100", comm=MODELLED)
        steps = [row for row in self.rows(out, "steps.csv") if row["repeat"] == "1"]
        steps_row = {row[0]: row for row, name in self.row_names(trace).items() if name == "steps"}
        for rank in (0, 1):
            wanted = [row for row in steps if int(row["rank"]) == rank]
            found = [event for event in self.spans(trace)[steps_row[rank]] if event["name"].startswith("step ")]
            self.assertEqual(len(found), len(wanted))
            self.assertAlmostEqual(sum(event["dur"] for event in found) / 1e6,
                                   sum(float(row["wall_s"]) for row in wanted), delta=1e-3)
            for event, row in zip(found, wanted):
                self.assertAlmostEqual((event["ts"] + event["dur"]) / 1e6, float(row["end_s"]), delta=1e-5)

    def test_all_trials_stand_one_after_the_other(self):
        trace, _ = self.traced(sweep={"pipeline": ["naive", "optimized"]})
        trials = [event for event in trace["traceEvents"] if event.get("cat") == "trial"]
        self.assertEqual([event["name"] for event in trials], ["naive", "optimized"])
        self.assertEqual({event["args"]["repeat"] for event in trials}, {1})
        first, second = sorted(trials, key=lambda event: event["ts"])
        self.assertLessEqual(first["ts"] + first["dur"], second["ts"])

    def test_a_long_repeat_keeps_its_first_spans_and_says_how_many_are_missing(self):
        images = (
            self.folder / "small"
        )  # 8,000 to decode: of the real ones that takes a minute, and a quarter of an hour under TSan
        self.succeed("data", "synth", images, "--images", 24, "--size", 64)
        trace, _ = self.traced(data__root=str(images), model__image_size=64, measure__steps=4000, measure__repeats=1)
        dropped = trace["otherData"]["dropped_spans"]
        self.assertGreater(dropped, 0)
        spans = [event for event in trace["traceEvents"] if event["ph"] == "X" and event["cat"] in ("op", "wait")]
        self.assertEqual(len(spans), 50_000)

    def test_no_trace_is_written_where_none_is_asked_for(self):
        out = self.measured()
        self.assertFalse((out / "trace.json").exists())

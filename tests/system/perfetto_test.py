"""trace.json in Perfetto: this host serves the viewer of ui.perfetto.dev and queries in SQL what it has read."""

import collections
import functools
import http.server
import json
import os
import threading
import unittest
from pathlib import Path

from browser import CHROMIUM, Tab
from harness import ROOT, SystemTest

UI = ROOT / "build/perfetto/ui"
PICTURE = os.environ.get("CHEXBENCH_PERFETTO_PICTURE")  # where to leave a screenshot for a person to look at
# Whole numbers come as BigInt, which JSON has not.
QUERY = """
(async () => {
  const result = await app.trace.engine.query(%s);
  const columns = result.columns();
  const rows = [];
  for (const row = result.iter(Object.fromEntries(columns.map(c => [c, null]))); row.valid(); row.next())
    rows.push(columns.map(c => typeof row[c] === 'bigint' ? Number(row[c]) : row[c]));
  return rows;
})()
"""
LOADED = """
(async () => {
  while (!window.waitForPerfettoIdle || !app.trace || app.isLoadingTrace) await new Promise(r => setTimeout(r, 50));
  app.commands.runCommand('dev.perfetto.ExpandAllGroups');
  await waitForPerfettoIdle();
})()
"""


class Served(http.server.SimpleHTTPRequestHandler):
    """Perfetto's files, and one trace."""

    def __init__(self, *arguments, trace, **options):
        self.trace = trace
        super().__init__(*arguments, directory=UI, **options)

    def translate_path(self, path):
        return str(self.trace) if path == "/trace.json" else super().translate_path(path)

    def log_message(self, *_):
        pass


class Perfetto:
    """A trace opened in the viewer."""

    def __init__(self, test, trace):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Served, trace=trace))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        test.addCleanup(server.server_close)
        test.addCleanup(thread.join)
        test.addCleanup(server.shutdown)
        self.tab = Tab()
        test.addCleanup(self.tab.close)
        site = f"http://127.0.0.1:{server.server_port}"
        self.tab.call(
            "Network.setBlockedURLs", urls=["*://127.0.0.1:9001/*"]
        )  # it would take another's engine from there
        # testing=1: it looks for no newer files of itself.
        self.tab.call("Page.navigate", url=f"{site}/?testing=1#!/?url={site}/trace.json")
        self.tab.evaluate(LOADED)

    def query(self, sql):
        return [tuple(row) for row in self.tab.evaluate(QUERY % json.dumps(sql))]


def nested(events):
    """For a row's complete events: (name, nesting depth) -> count."""
    depths, ends = collections.Counter(), []
    nanoseconds = lambda us: round(us * 1000)
    for event in sorted(events, key=lambda event: (nanoseconds(event["ts"]), -nanoseconds(event["dur"]))):
        begin = nanoseconds(event["ts"])
        while ends and ends[-1] <= begin:
            ends.pop()
        depths[event["name"], len(ends)] += 1
        ends.append(begin + nanoseconds(event["dur"]))
    return depths


@unittest.skipUnless(CHROMIUM, "needs Chromium: scripts/setup full installs it")
@unittest.skipUnless(UI.exists(), "needs Perfetto's viewer: scripts/setup full brings it")
class TraceInPerfetto(SystemTest):
    def opened(self, ranks=None, **keys):
        """A traced run's trace.json, and Perfetto with it."""
        out = self.folder / "out"
        spec = self.spec(**{"measure__trace": True, **keys})
        self.succeed("--config", spec, "--output", out, ranks=ranks)
        trace = out / "trace.json"
        return json.loads(trace.read_text())["traceEvents"], Perfetto(self, trace)

    def check_read_without_loss(self, perfetto):
        self.assertEqual(
            perfetto.query("select name, value from stats where severity in ('error', 'data_loss') and value > 0"), []
        )
        self.assertEqual(perfetto.tab.evaluate("app.trace.traceInfo.importErrors + app.trace.loadingErrors.length"), 0)
        self.assertEqual(perfetto.query("select name from slice where dur < 0"), [])
        self.assertEqual(perfetto.tab.errors, [])

    def check_rows(self, events, perfetto):
        """A row for each thread of each rank, by its name, with every span at the depth given by its times."""
        rows = collections.defaultdict(list)
        for event in events:
            if event["ph"] == "X":
                rows[event["pid"], event["tid"]].append(event)
        names = {(event["pid"], event.get("tid")): event["args"]["name"] for event in events if event["ph"] == "M" and
                 event["name"] in ("process_name", "thread_name")}
        wanted = {(names[pid, None], names[pid, tid], tid): nested(spans) for (pid, tid), spans in rows.items()}
        found = collections.defaultdict(collections.Counter)
        for process, thread, tid, name, depth, count in perfetto.query(
            "select process.name, thread.name, tid, slice.name, depth, count(*) "
            "from slice join thread_track on track_id = "
            "thread_track.id join thread using (utid) join process using (upid) group by utid, slice.name, depth"
        ):
            found[process, thread, tid][name, depth] += count
        self.assertEqual(found, wanted)
        self.assertEqual(perfetto.query("select name from thread where is_main_thread and name is not null"), [])

    def test_two_ranks_are_read_without_loss_into_a_row_for_each_thread(self):
        events, perfetto = self.opened(ranks=2, engine="emulated:v100", sweep={"pipeline": ["naive", "optimized"]})
        self.check_read_without_loss(perfetto)
        self.check_rows(events, perfetto)
        buckets = perfetto.query("select extract_arg(arg_set_id, 'args.bytes') from slice where name = 'bucket'")
        self.assertTrue(buckets)
        self.assertTrue(all(size > 0 for size, in buckets))

    def test_parts_lie_within_their_steps_and_those_within_their_trial(self):
        _, perfetto = self.opened(ranks=2, engine="emulated:v100")
        found = perfetto.query(
            "select distinct part.name, phase.name, step.category, trial.category from slice part join slice "
            "phase on part.parent_id = phase.id join slice step on phase.parent_id = step.id join slice "
            "trial on step.parent_id = trial.id where part.name in ('forward', 'backward')"
        )
        self.assertEqual(
            sorted(found), [("backward", "compute", "step", "trial"), ("forward", "compute", "step", "trial")]
        )

    def test_queues_are_counters_of_their_rank(self):
        events, perfetto = self.opened(ranks=2)
        wanted = collections.Counter((f"rank {event['pid']}", event["name"] + " elements", event["args"]["elements"])
                                     for event in events if event["ph"] == "C")
        found = collections.Counter(
            perfetto.query("select process.name, track.name, value from counter join "
                           "process_counter_track track on track_id = track.id join process using (upid)")
        )
        self.assertTrue(wanted)
        self.assertEqual(found, wanted)

    def test_the_viewer_draws_it(self):
        _, perfetto = self.opened(ranks=2, engine="emulated:v100")
        text = perfetto.tab.evaluate("document.body.innerText")
        for words in ("rank 0 (emulated accelerator)", "rank 1 (emulated accelerator)", "steps", "prefetch"):
            self.assertIn(words, text)
        if PICTURE:
            Path(PICTURE).write_bytes(perfetto.tab.screenshot())
        self.assertGreater(len(perfetto.tab.colors()), 50)

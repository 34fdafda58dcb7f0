"""An experiment on one rank: its files, and their places."""

import contextlib
import csv
import io
import json
import os
import re
import time
import unittest
from pathlib import Path

from harness import BINARY, HAS_ONEDNN, REAL_IMAGES, SANITIZED, SystemTest, run_program


class Outputs(SystemTest):
    def test_a_tilde_that_the_shell_left_is_the_home_folder(self):
        home = os.environ | {"HOME": str(self.folder)}
        spec = self.spec()
        self.succeed("--config=~/" + spec.name, "--output=~/out", cwd=self.folder, env=home)
        self.assertTrue((self.folder / "out/report.json").is_file())
        self.assertFalse((self.folder / "~").exists())
        self.fail_with(2, "--config", spec, "--set", "data.root=~nobody/x", cwd=self.folder, env=home,
                       says=["data.root", "~nobody/x"])

    def test_a_sweep_writes_one_row_for_each_trial(self):
        root = self.small_images(converted=True)
        out = self.measured(data__root=str(root), data__split="all", sweep={
            "pipeline": ["naive", "optimized", "keras", "pytorch"], "data.format": ["images"]})
        rows = self.rows(out)
        self.assertEqual([row["pipeline"] for row in rows], ["naive", "optimized", "keras", "pytorch"])
        self.assertTrue(all(float(row["images_per_s"]) > 0 for row in rows))

    def test_every_format_feeds_a_trial_and_says_what_of_it_was_in_memory(self):
        root = self.real_images(converted=True)
        for data_format in ("webdataset", "cached"):
            self.succeed("data", "convert", root, "--split", "all", "--to", data_format)
        formats = ["images", "tfrecord", "webdataset", "cached"]
        out = self.measured(data__root=str(root), data__split="all", data__deliver="u8", measure__page_cache="warm",
                            sweep={"data.format": formats})
        rows = self.rows(out)
        self.assertEqual([row["format"] for row in rows], formats)
        self.assertEqual([(row["page_cache"], row["cached_share_before"], row["bad_records"]) for row in rows],
                         [("warm", "1", "0")] * 4)

    def test_a_limit_of_the_whole_run_leaves_each_trial_its_first_repeat_and_says_so(self):
        out = self.folder / "out"
        spec = self.spec(measure__repeats=9, measure__max_total_seconds=0.001,
                         sweep={"pipeline": ["naive", "optimized"]})
        printed = " ".join(self.succeed("--config", spec, "--output", out, "--explain").stdout.split())
        self.assertEqual([len(trial["repeats"]) for trial in self.report(out)["trials"]], [1, 1])
        self.assertIn("1 of 9 repeats on 1 rank because measure.max_total_seconds, 0.001 s, was used up", printed)

    def test_all_files_of_a_run_are_written_and_nothing_temporary_stays(self):
        names = sorted(path.name for path in self.measured().iterdir())
        self.assertEqual(names, ["csv-metadata.json", "journal.jsonl", "ops.csv", "repeats.csv", "report.html",
                                 "report.json", "run.json", "steps.csv", "trials.csv", "waits.csv"])

    def test_waits_booked_to_ops_sum_to_the_waits_of_the_steps(self):
        out = self.measured(sweep={"pipeline": ["naive", "optimized", "keras"]})
        waits = {}
        for name in ("steps.csv", "ops.csv"):
            for row in self.rows(out, name):
                repeat = waits.setdefault((row["trial"], row["repeat"]), {})
                repeat[name] = repeat.get(name, 0) + float(row["wait_s"])
        self.assertEqual(len(waits), 3 * 2)
        for repeat, sums in waits.items():
            self.assertAlmostEqual(sums["ops.csv"], sums["steps.csv"], places=6, msg=repeat)

    def test_mllog_has_the_run_of_each_repeat_now(self):
        out = self.folder / "out"
        before_ms = time.time() * 1000
        self.succeed("--config", self.spec(), "--output", out, "--mllog")
        lines = (out / "mllog.txt").read_text().splitlines()
        self.assertTrue(all(line.startswith(":::MLLOG {") for line in lines))
        events = [json.loads(line.removeprefix(":::MLLOG ")) for line in lines]
        runs = [(event["key"], event["metadata"]["repeat"]) for event in events if event["key"].startswith("run_")]
        self.assertEqual(runs, [("run_start", 0), ("run_stop", 0), ("run_start", 1), ("run_stop", 1)])
        throughputs = [event["value"]["throughput"] for event in events if event["key"] == "tracked_stats"]
        self.assertEqual(throughputs, [repeat["images_per_s"] for repeat in self.report(out)["trials"][0]["repeats"]])
        for event in events:
            self.assertTrue(before_ms - 1 <= event["time_ms"] <= time.time() * 1000 + 1, event)

    def test_the_report_carries_spec_environment_and_steps(self):
        out = self.measured()
        report = self.report(out)
        for key in ("schema_version", "environment", "trials", "findings"):
            self.assertIn(key, report)
        self.assertEqual(len(report["trials"]), 1)
        environment = report["environment"]
        self.assertRegex(environment["compiler"], r"^(GNU|Clang) \d+")
        self.assertRegex(environment["revision"], r"^([0-9a-f]{12}(-dirty)?)?$")
        self.assertRegex(environment["rank_cores"][0], r"^\S+:( \d+)+$")
        self.assertTrue(report["trials"][0]["file_system"])
        host, = environment["hosts"]
        self.assertEqual(host["host"], environment["host"])
        self.assertGreaterEqual(host["load_before"], 0)
        for name in ("MPI", "NCCL", "oneDNN", "cuDNN", "OpenCV"):  # engine none, our decoder, no mpirun
            self.assertIsNone(environment["libraries"][name], name)
        self.assertEqual(len(self.rows(out, "steps.csv")), 2 * 3)  # repeats x steps; warm-up does not count

    def test_stdout_has_the_results_and_stderr_the_log(self):
        done = self.succeed("--config", self.spec(), "--output", self.folder / "out", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual(len(rows), 1)
        self.assertIn("trials.csv", done.stderr)
        self.assertNotIn("trials.csv", done.stdout)
        self.assertNotIn("\r", done.stderr, "a progress line, where there is no terminal")

    def test_json_on_stdout_is_the_report(self):
        done = self.succeed("--config", self.spec(), "--output", self.folder / "out", "--format", "json")
        self.assertEqual(len(json.loads(done.stdout)["trials"]), 1)

    def test_results_go_under_the_experiments_name_by_default(self):
        self.succeed("--config", self.spec(), cwd=self.folder)
        self.assertEqual(len(list(self.folder.glob("results/system/*/trials.csv"))), 1)

    def test_an_op_list_of_ones_own_runs_and_gives_its_name(self):
        ops = [{"op": "list_files"}, {"op": "shard"}, {"op": "shuffle", "buffer": 8}, {"op": "repeat"}, {"op": "read"},
               {"op": "map", "parallel_calls": 2}, {"op": "batch"}, {"op": "prefetch", "buffer": 2}]
        out = self.measured(pipeline={"name": "mine", "ops": ops})
        self.assertEqual(self.rows(out)[0]["pipeline"], "mine")

    def test_set_overrides_a_key_and_ends_its_sweep(self):
        out = self.folder / "out"
        spec = self.spec(sweep={"pipeline": ["naive", "optimized"]})
        self.succeed("--config", spec, "--set", "pipeline=keras", "--set", "measure.steps=2", "--output", out)
        self.assertEqual([row["pipeline"] for row in self.rows(out)], ["keras"])


class Engines(SystemTest):
    @unittest.skipUnless(HAS_ONEDNN, "built without oneDNN")
    def test_onednn_trains_on_real_images(self):
        out = self.measured(data__root=str(REAL_IMAGES), engine="onednn", model__image_size=64, measure__steps=2,
                            measure__repeats=1)
        row = self.rows(out)[0]
        self.assertEqual((row["engine"], row["emulated"]), ("onednn", "false"))
        self.assertGreater(float(row["busy_share"]), 0.5)

    def test_synthetic_input_needs_no_data(self):
        self.measured(data={"format": "ready"}, engine="emulated:v100", measure__steps=2)

    def test_a_trial_that_no_profile_can_emulate_is_left_out_with_a_line(self):
        out = self.folder / "out"
        spec = self.spec(data={"format": "ready"}, measure__steps=2, measure__repeats=1,
                         sweep={"engine": ["emulated:v100", "emulated:k80"], "training.precision": ["f32", "fp16"]})
        done = self.succeed("--config", spec, "--output", out, "--explain", "--findings", "all")
        self.assertEqual([row["trial"] for row in self.rows(out)],
                         ["emulated:v100 f32", "emulated:v100 fp16", "emulated:k80 f32"])
        self.assertIn("emulated:k80 fp16 (emulated) is left out", done.stdout)
        printed = " ".join(done.stdout.split())
        self.assertIn("the accelerator profile 'k80' has no time for resnet50 224x224 fp16", printed)
        self.assertIn("left_out", [finding["kind"] for finding in self.report(out)["findings"]])
        self.fail_with(2, "--config", spec, "--set", "engine=emulated:k80", "--set", "training.precision=fp16",
                       says=["has no time for resnet50 224x224 fp16", "choose a precision with --set "
                             "training.precision=f32, or predict's --precision f32"])


@contextlib.contextmanager
def memory_limit(mib):
    """The list of processes of a cgroup with this memory limit. @raises OSError if none can be made"""
    version_1 = Path("/sys/fs/cgroup/memory")
    group = (version_1 if version_1.is_dir() else version_1.parent) / f"chexbench-run-{os.getpid()}"
    group.mkdir()
    try:
        limit = group / ("memory.limit_in_bytes" if version_1.is_dir() else "memory.max")
        limit.write_text(str(mib << 20))
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


class DryRun(SystemTest):
    def test_it_forecasts_memory_and_writes_nothing(self):
        out = self.folder / "out"
        done = self.succeed("--config", self.spec(sweep={"pipeline": ["naive", "optimized"]}), "--dry-run",
                            "--output", out)
        self.assertFalse(out.exists())
        time, *_, memory, trials, details = done.stdout.splitlines()
        self.assertRegex(time, r"^time: about \d+ s for 4 repeats of 2 trials$")
        self.assertRegex(memory, r"^memory: at most \d+ MB per rank, of [\d.]+ [MG]B allowed on this host$")
        self.assertEqual(trials, "trials: 2 (naive, optimized)")
        self.assertIn("--explain", details)
        self.assertLessEqual(len(done.stdout.splitlines()), 12)

    def test_ready_made_batches_beside_swept_pipelines_are_one_trial(self):
        spec = self.spec(sweep={"pipeline": ["naive", "optimized"], "data.format": ["images", "ready"]})
        plan = self.succeed("--config", spec, "--dry-run", "--explain").stdout
        names = re.findall(r"^trial \d of 3: (.*)$", plan, re.M)
        self.assertEqual(names, ["naive images", "ready", "optimized images"])
        self.assertEqual(plan.count("batches are ready-made, and no pipeline runs"), 1)

    def test_it_plans_for_ranks_that_are_not_there_over_data_that_are_not_there(self):
        spec = self.spec(ranks=[1, 16], data={"root": "nowhere"})
        done = self.succeed("--config", spec, "--dry-run", "--ranks", "16")
        self.assertIn("trials: 2 (ranks=1, ranks=16)", done.stdout)
        self.assertIn("no forecast of memory, which depends on the data set: no data set at 'nowhere'", done.stdout)
        self.fail_with(2, "--config", spec, "--dry-run", says=["trial 'ranks=16'", "mpirun -np 16", "--ranks 16"])
        self.fail_with(2, "--config", spec, "--dry-run", "--ranks", "8", says="--ranks is 8: plan for --ranks 16")
        self.fail_with(2, "--config", spec, "--dry-run", "--ranks", "1,16", says=["not the list 1,16", "--set ranks="])
        done = self.succeed("--config", spec, "--dry-run", "--ranks", "64", "--set", "ranks=2,64,4")
        self.assertIn("trials: 3 (ranks=2, ranks=64, ranks=4)", done.stdout)
        self.fail_with(2, "--config", spec, "--dry-run", "--set", "ranks=2,64,4", says="--ranks 64")
        self.fail_with(2, "--config", spec, "--ranks", "16", says="--dry-run")

    @unittest.skipUnless(HAS_ONEDNN, "needs oneDNN")
    def test_under_a_limit_of_memory_the_forecast_names_it_before_any_step(self):
        spec = self.spec(engine="onednn", model={"name": "resnet50", "image_size": 224}, training__batch_size=64)
        try:
            with memory_limit(300) as processes:
                told = run_program("sh", "-c", f'echo $$ > {processes} && exec "$@"', "sh", BINARY, "--config", spec,
                                   "--dry-run")
        except OSError as error:
            self.skipTest(f"no cgroup with a limit of memory can be made here: {error}")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertRegex(told.stdout, r"too much: 1 rank on a host would take \d{4,} MB, and 315 MB is allowed")
        self.assertLess(told.stdout.index("too much: "), told.stdout.index("\ntime: "))

    @unittest.skipIf(SANITIZED, "shadow memory counts as memory of the process")
    def test_its_forecast_is_near_what_a_run_then_takes(self):
        spec = self.spec(data__root=str(REAL_IMAGES), training__batch_size=64, data__split="all", measure__steps=20,
                         measure__repeats=1)
        plan = self.succeed("--config", spec, "--dry-run", "--explain").stdout
        forecast_mb = float(re.search(r"([\d.]+) MB  in all", plan)[1])
        out = self.folder / "out"
        self.succeed("--config", spec, "--output", out)
        measured_mb = float(self.rows(out)[0]["anonymous_rss_bytes"]) * 1e-6
        self.assertLess(abs(forecast_mb / measured_mb - 1), 0.2, f"{forecast_mb} MB for {measured_mb} MB\n{plan}")


class Resume(SystemTest):
    def test_a_finished_run_is_never_written_over(self):
        out = self.folder / "out"
        spec = self.spec()
        self.succeed("--config", spec, "--output", out)
        self.fail_with(6, "--config", spec, "--output", out, says=["already holds", "--resume"])

    def test_a_run_that_measured_nothing_is_not_in_the_way_of_the_next(self):
        out = self.folder / "out"
        self.fail_with(3, "--config", self.spec(), "--set", f"data.root={self.folder}/nowhere", "--output", out)
        self.assertFalse(out.exists())
        self.succeed("--config", self.spec(), "--output", out)

    def test_a_resume_that_fails_leaves_a_finished_report_as_it_was(self):
        root = self.small_images()
        out = self.folder / "out"
        spec = self.spec(data__root=str(root))
        self.succeed("--config", spec, "--output", out)
        before = {path.name: path.read_bytes() for path in out.iterdir()}
        (root / "train_val_list.txt").unlink()
        self.fail_with(3, "--config", spec, "--resume", out)
        self.assertEqual({path.name: path.read_bytes() for path in out.iterdir()}, before)

    def test_resume_by_another_experiment_is_refused(self):
        out = self.measured()
        before = (out / "report.json").read_bytes()
        self.fail_with(2, "--config", self.spec(), "--set", "training.batch_size=3", "--resume", out,
                       says=[str(out), "--output"])
        self.fail_with(2, "--config", self.spec(experiment="other"), "--resume", out,
                       says=[str(out), "'system'", "'other'", "--output"])
        self.assertEqual((out / "report.json").read_bytes(), before)

    def test_resume_from_values_nobody_measured_says_how_to_mend_them(self):
        out = self.folder / "out"
        spec = self.spec()
        self.succeed("--config", spec, "--output", out)
        journal = out / "journal.jsonl"
        first, second = map(json.loads, journal.read_text().splitlines())
        second["repeat"]["images_per_s"] = -5
        journal.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
        self.fail_with(6, "--config", spec, "--resume", out, says=["journal.jsonl, line 2", "delete that line"])
        journal.write_text(f"{json.dumps(first)}\n")
        self.succeed("--config", spec, "--resume", out)

    def test_resume_of_a_folder_without_a_run_is_an_error(self):
        self.fail_with(6, "--config", self.spec(), "--resume", self.folder, says="journal.jsonl")


class Help(SystemTest):
    def test_help_lists_what_a_user_wants_and_the_exit_codes(self):
        done = self.succeed("--help")
        for word in ("--config", "130"):
            self.assertIn(word, done.stdout)
        verbs = re.findall(r"^  ([a-z]+) {5}", done.stdout.split("Subcommands:")[1], re.MULTILINE)
        self.assertEqual(" ".join(verbs), "probe advise report compare predict diagnose evaluate data import comm "
                                          "doctor model list dev completion")

    def test_no_line_has_more_than_a_hundred_columns_and_no_description_more_than_eighty(self):
        def check(*verbs):
            text = self.succeed(*verbs, "--help").stdout
            self.assertLessEqual(max(map(len, text.splitlines())), 100, verbs)
            options = re.findall(r"^  (-\S+)", text, re.MULTILINE)
            self.assertEqual(len(options), len(set(options)), f"{verbs}: a description goes on where options begin")
            if verbs:
                self.assertLessEqual(len(text.splitlines()[0]), 80, verbs)
                self.assertTrue(text.splitlines()[0].endswith("."), verbs)
            for verb in re.findall(r"^  ([a-z-]+) {2,}", text.partition("Subcommands:")[2], re.MULTILINE):
                check(*verbs, verb)
        check()

    def test_developers_commands_work_with_and_without_dev(self):
        for verb in ("selftest", "calibrate", "kernel-sweep", "plan-sweep"):
            self.assertEqual(self.succeed("help", verb).stdout, self.succeed("dev", verb, "--help").stdout)
            self.assertIn(f"chexbench dev {verb}", self.succeed(verb, "--help").stdout)
        self.fail_with(2, "dev", "kernel-swep", says="kernel-sweep")

    def test_help_needs_neither_ranks_nor_opencv(self):
        # Each costs a tenth of a second at start; neither may be loaded before it is needed.
        self.assertNotIn("opencv", run_program("ldd", BINARY).stdout)

    def test_hints_name_the_whole_verb_and_the_nearest(self):
        self.fail_with(2, "data", "synth", says="`chexbench data synth --help`")
        self.fail_with(2, "data", "indx", "x", says="did you mean 'index'?")

    def test_version(self):
        self.assertRegex(self.succeed("--version").stdout, r"^\d+\.\d+\.\d+\n$")

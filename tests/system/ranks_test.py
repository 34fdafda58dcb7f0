"""Several ranks under mpirun."""

import json
import os
import re
import shutil
import signal
import time
import unittest
from pathlib import Path

from harness import (BINARY, HAS_ONEDNN, TIMEOUT_S, TRAIN_IMAGES, SystemTest, rank_number, ranks_of,
                     run, run_program, small_images)


def kill(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Ranks(SystemTest):
    def test_one_two_and_four_ranks_measure_and_write_once(self):
        for ranks in (1, 2, 4):
            with self.subTest(ranks=ranks):
                out = self.folder / f"out{ranks}"
                done = self.succeed("--config", self.spec(), "--output", out, "--format", "csv", ranks=ranks)
                self.assertEqual([row["ranks"] for row in self.rows(out)], [str(ranks)])
                self.assertEqual(done.stdout.count("experiment,trial"), 1)

    def test_one_job_of_four_gives_the_whole_scaling_curve(self):
        out = self.folder / "out"
        self.succeed("--config", self.spec(ranks=[1, 2, 4], cores_per_rank=1), "--output", out, ranks=4)
        self.assertEqual([row["ranks"] for row in self.rows(out)], ["1", "2", "4"])

    def test_naive_decodes_everything_on_every_rank_and_optimized_does_not(self):
        out = self.folder / "out"
        spec = self.spec(data__split="all", sweep={"pipeline": ["naive", "optimized"]}, measure__steps=40,
                         measure__repeats=1)
        self.succeed("--config", spec, "--output", out, ranks=2)
        naive, optimized = (float(row["decoded_per_trained"]) for row in self.rows(out))
        self.assertAlmostEqual(naive, 2.0, delta=0.35)
        self.assertAlmostEqual(optimized, 1.0, delta=0.35)

    @unittest.skipUnless(HAS_ONEDNN, "built without oneDNN")
    def test_two_ranks_train_together(self):
        out = self.folder / "out"
        spec = self.spec(engine="onednn", model={"name": "mobilenet_v2", "image_size": 32}, measure__steps=2,
                         measure__repeats=1)
        self.succeed("--config", spec, "--output", out, ranks=2)
        self.assertEqual(self.rows(out)[0]["engine"], "onednn")
        environment = self.report(out)["environment"]
        self.assertRegex(environment["libraries"]["oneDNN"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(environment["libraries"]["MPI"], environment["mpi"])
        self.assertEqual([host["host"] for host in environment["hosts"]], [environment["host"]])
        self.assertEqual(len(environment["rank_cores"]), 2)

    # Its gradients of 14 MB are sent in many buckets.
    NETWORK = {"model": {"name": "mobilenet_v2", "image_size": 32, "batch_norm": "frozen", "dropout": False},
               "comm": {"first_bucket_bytes": 4096, "bucket_bytes": 1000000}}

    def losses(self, sweep, **keys):
        """Of each trial: three steps on both of 2 ranks."""
        out = self.folder / "out"
        spec = self.spec(engine="onednn", data={"format": "ready"}, training__optimizer="sgd", **self.NETWORK,
                         measure={"warmup_steps": 0, "steps": 3, "repeats": 1}, sweep=sweep, **keys)
        self.succeed("--config", spec, "--output", out, ranks=2)
        losses = {}
        for row in self.rows(out, "steps.csv"):
            losses.setdefault(row["trial"], []).append(float(row["loss"]))
        for trial, values in losses.items():
            self.assertEqual(len(values), 6, trial)
            self.assertNotEqual(values[0], values[-1])
        return losses

    SCHEMES = ["all_reduce", "ring", "tree", "hierarchical", "parameter_server"]

    @unittest.skipUnless(HAS_ONEDNN, "built without oneDNN")
    def test_every_update_scheme_trains_to_the_same_losses(self):
        losses = self.losses({"comm.update": self.SCHEMES})
        self.assertEqual(len(losses), 5)
        for trial, values in losses.items():
            self.assertEqual(values, losses["all_reduce"], trial)  # a + b is b + a

    @unittest.skipUnless(HAS_ONEDNN, "built without oneDNN")
    def test_gradients_of_16_bits_train_to_nearly_the_same_losses(self):
        # Batch norms over two values have gradients beyond the range of a half, and amplify rounding.
        losses = self.losses({"comm.gradient_dtype": ["f32", "fp16", "bf16"],
                              "comm.update": ["all_reduce", "ring", "parameter_server"]},
                             training__learning_rate=1e-4)
        self.assertEqual(len(losses), 9)
        exact = losses["f32 all_reduce"]
        for trial, values in losses.items():
            tolerance = {"f32": 0, "fp16": 1e-4, "bf16": 1e-3}[trial.split()[0]]
            for loss, expected in zip(values, exact):
                self.assertLessEqual(abs(loss / expected - 1), tolerance, trial)
            if tolerance:
                self.assertNotEqual(values, exact, trial)  # it did round

    @unittest.skipUnless(HAS_ONEDNN, "built without oneDNN")
    def test_two_ranks_clip_as_one_rank_does_over_the_joined_batch(self):
        # Without a shuffle, the images of a step are the same on any number of ranks.
        ops = [{"op": "list_files"}, {"op": "shard"}, {"op": "repeat"}, {"op": "read"}, {"op": "map"}, {"op": "batch"}]

        def losses(ranks, sweep, **training):
            out = self.folder / f"out{ranks}-{len(training)}"
            spec = self.spec(engine="onednn", data__split="all", pipeline={"name": "in order", "ops": ops},
                             training={"optimizer": "sgd", "learning_rate": 10, "momentum": 0,
                                       "batch_size": 8 // ranks, **training},
                             **self.NETWORK, sweep=sweep, measure={"warmup_steps": 0, "steps": 3, "repeats": 1})
            self.succeed("--config", spec, "--output", out, ranks=ranks)
            of_trials = {}
            for row in self.rows(out, "steps.csv"):
                steps = of_trials.setdefault(row["trial"], {})
                steps[row["step"]] = steps.get(row["step"], 0) + float(row["loss"]) / ranks
            return {trial: list(steps.values()) for trial, steps in of_trials.items()}
        clip = {"clip_gradient_norm": 0.01}
        whole = losses(1, {"comm.update": ["all_reduce"]}, **clip)["all_reduce"]
        self.assertLess(whole[2], whole[0])
        for trial, of_two in losses(2, {"comm.update": self.SCHEMES}, **clip).items():
            for loss, expected in zip(of_two, whole, strict=True):
                self.assertAlmostEqual(loss, expected, delta=1e-6 * expected, msg=trial)
        unclipped = losses(2, {"comm.update": ["all_reduce"]})["all_reduce"]
        self.assertGreater(abs(unclipped[2] - whole[2]), 1e-3)

    def test_more_ranks_than_files_is_an_error_of_the_data(self):
        root = self.small_images()
        names = (root / "test_list.txt").read_text().split()
        (root / "test_list.txt").write_text(f"{names[0]}\n")
        self.fail_with(3, "--config", self.spec(data__root=str(root), data__split="test", training__batch_size=1),
                       "--output", self.folder / "out", ranks=2, says="rank")

    def test_more_ranks_asked_for_than_started_is_an_error_of_the_spec(self):
        self.fail_with(2, "--config", self.spec(ranks=4), "--output", self.folder / "out", ranks=2, says="ranks")

    def test_a_wrong_spec_ends_all_ranks(self):
        self.fail_with(2, "--config", self.spec(measure__steps=0), "--output", self.folder / "out", ranks=2,
                       says="measure.steps")
        self.assertFalse((self.folder / "out").exists())

    def test_doctor_tells_once_where_each_rank_is_bound(self):
        done = run("doctor", "--format", "json", ranks=2)
        told = json.loads(done.stdout)
        self.assertEqual(len(told["ranks"]), 2)
        for rank in told["ranks"]:
            self.assertLessEqual(rank["cores_per_rank"], len(rank["cores"]))
        self.assertNotEqual(told["mpi"], "none")

    def test_doctor_warns_of_two_ranks_on_one_core(self):
        core = str(min(os.sched_getaffinity(0)))
        done = run_program("mpirun", "-np", 2, "taskset", "-c", core, BINARY, "doctor", "--format", "json")
        warnings = json.loads(done.stdout)["warnings"]
        self.assertTrue([text for text in warnings if "2 ranks share 1 core" in text], warnings)

    @unittest.skipUnless(HAS_ONEDNN, "built without oneDNN")
    def test_ranks_are_calibrated_together_and_one_writes(self):
        path = self.folder / "mine.json"
        self.succeed("dev", "calibrate", "--engine", "onednn", "--model", "mobilenet_v2", "--image-size", "32",
                     "--batch-sizes", "2", "--steps", "2", "--repeats", "1", "--output", path, ranks=2)
        entries = json.loads(path.read_text())["entries"]
        self.assertEqual(len(entries), 1)
        self.assertIn("2 ranks", entries[0]["source"])


class UnlikeRanks(SystemTest):
    """Each of two ranks runs in a separate folder, so that relative paths in a spec differ between them."""

    def setUp(self):
        super().setUp()
        for rank in (0, 1):
            shutil.copytree(small_images(), self.folder / f"rank{rank}/data")
        self.names = sorted((small_images() / "train_val_list.txt").read_text().split())

    def change_table(self, was, becomes):
        table = self.folder / "rank1/data/Data_Entry_2017.csv"
        text = table.read_text()
        self.assertIn(was, text)
        table.write_text(text.replace(was, becomes))

    def fail_soon(self, code, *words, config=None, **keys):
        wrapper = self.folder / "in_own_folder"
        wrapper.write_text(f'cd "{self.folder}/rank${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}" && exec "$@"\n')
        spec = self.spec(data__root="data", data__split="train", **keys)
        started = time.monotonic()
        done = self.ends_with(code, "mpirun", "-np", 2, "sh", wrapper, BINARY, "--config", config or spec, "--output",
                              self.folder / "out")
        self.assertLess(time.monotonic() - started, 30)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        for word in ("rank 1 (", *words):
            self.assertIn(word, done.stderr)
        self.assertFalse((self.folder / "out/journal.jsonl").exists())

    def test_one_image_less_is_an_error_of_the_data(self):
        victim = self.names[3]
        next((self.folder / "rank1/data").rglob(victim)).unlink()
        less = TRAIN_IMAGES - 1
        self.fail_soon(3, "in 'data' (split train, format images)", f"'{less} images in {less} files",
                       f"instead of '{TRAIN_IMAGES} images", f"'{self.names[4]} of", f"instead of '{victim} of")

    def test_another_label_is_an_error_of_the_data(self):
        table = (small_images() / "Data_Entry_2017.csv").read_text().splitlines()
        row = next(line for line in table if line.startswith(self.names[0]))
        name, findings, rest = row.split(",", 2)
        self.change_table(row, ",".join((name, "Hernia" if findings != "Hernia" else "Mass", rest)))
        self.fail_soon(3, f"'{name} of patient", f"instead of '{name} of patient", "labels")

    def test_another_spec_is_an_error_of_the_spec(self):
        for rank in (0, 1):
            spec = self.spec(data__root="data", measure__steps=3 + rank, sweep={"pipeline": ["naive", "optimized"]})
            spec.rename(self.folder / f"rank{rank}/own.json")
        self.fail_soon(2, '\'"steps": 4\' instead of \'"steps": 3\'', config="own.json")

    def test_fewer_trials_are_an_error_of_the_spec(self):
        for rank in (0, 1):
            spec = self.spec(data__root="data", sweep={"pipeline": ["naive", "optimized"][rank:]})
            spec.rename(self.folder / f"rank{rank}/own.json")
        self.fail_soon(2, "'1 trials' instead of '2 trials'", config="own.json")


class LostRanks(SystemTest):
    def test_a_rank_that_fails_ends_the_job_with_its_own_error(self):
        root = self.small_images()
        names = sorted((root / "train_val_list.txt").read_text().split())
        victim = names[1]  # with files sharded by index, the second goes to rank 1
        (root / "images" / victim).write_bytes(b"")
        spec = self.spec(data__root=str(root), measure__warmup_steps=0, measure__steps=9)
        started = time.monotonic()
        self.fail_with(3, "--config", spec, "--output", self.folder / "out", ranks=2, says=victim)
        self.assertLess(time.monotonic() - started, 10)

    def start_long_job(self, **keys):
        return self.start_run(self.spec(measure__repeats=5000, **keys), ranks=2)

    def check_that_it_ends_soon(self, launcher, ranks):
        started = time.monotonic()
        launcher.communicate(timeout=30)
        self.assertLess(time.monotonic() - started, 10)
        while any(Path(f"/proc/{rank}").exists() for rank in ranks):
            self.assertLess(time.monotonic() - started, 10, "a rank lives on")
            time.sleep(0.02)
        self.assertGreaterEqual((self.folder / "out/journal.jsonl").read_text().count("\n"), 2)

    def test_a_rank_that_is_killed_ends_the_job_and_the_journal_stays(self):
        launcher = self.start_long_job()
        ranks = ranks_of(launcher.pid)
        self.assertEqual(len(ranks), 2)
        os.kill(max(ranks), signal.SIGKILL)
        self.check_that_it_ends_soon(launcher, ranks)
        self.assertFalse((self.folder / "out/report.json").exists())
        about = run_program("mpirun", "--version").stdout
        if not re.search(r"HYDRA(.|\n)*Version: +4\.2", about):  # it sometimes returns 0: pmodels/mpich#7057
            self.assertNotEqual(launcher.returncode, 0)

    def stop_a_rank(self, which):
        """The job's output until it ends, with exit code 4."""
        launcher = self.start_long_job(comm={"timeout_s": 2})
        ranks = ranks_of(launcher.pid)
        victim = next(rank for rank in ranks if rank_number(rank) == which)
        os.kill(victim, signal.SIGSTOP)
        self.addCleanup(kill, victim)
        started = time.monotonic()
        _, said = launcher.communicate(timeout=TIMEOUT_S)
        self.assertLess(time.monotonic() - started, 10)
        self.assertEqual(launcher.returncode, 4, said)
        self.assertRegex(said, f"warning: rank {1 - which}: waiting for rank {which} .* for [12] s: .*does not answer")
        self.assertIn("error: rank", said)
        self.assertIn("comm.timeout_s: gave up after 2 s", said)
        self.assertGreaterEqual((self.folder / "out/journal.jsonl").read_text().count("\n"), 2)

    def test_a_rank_that_is_stopped_is_named_and_the_report_of_what_is_finished_is_written(self):
        self.stop_a_rank(1)
        self.assertTrue(self.report(self.folder / "out")["interrupted"])

    def test_so_is_rank_0_and_the_journal_stays(self):
        self.stop_a_rank(0)

    def test_control_c_of_a_job_keeps_what_was_measured(self):
        launcher = self.start_long_job()
        ranks = ranks_of(launcher.pid)
        for process in (launcher.pid, *ranks):  # as a terminal does: every process of the foreground group
            os.kill(process, signal.SIGINT)
        self.check_that_it_ends_soon(launcher, ranks)
        self.assertNotEqual(launcher.returncode, 0)

"""The batch scripts of scripts/slurm as shipped, on the cluster that tests/slurm/cluster makes: run this file under it.

Only sizes are given to sbatch: two ranks a node with one core each, and two GPUs.
"""

import collections
import json
import os
import re
import unittest

from harness import BINARY, HAS_ONEDNN, ROOT, SystemTest, write_program

SCRIPTS = ROOT / "scripts/slurm"
SIZES = ["--ntasks-per-node=2", "--cpus-per-task=1", "--gres=gpu:2"]
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL"}
# One image after another, each late until the job is queued again: a repeat of 4 steps takes a second, regardless of
# this machine's other work.
IN_TURN = {"name": "in turn", "ops": [{"op": "list_files"}, {"op": "shard"}, {"op": "repeat"}, {"op": "read"},
                                      {"op": "map"}, {"op": "batch"}]}
SLOW_AT_FIRST = f"""#!/usr/bin/env bash
if [[ -z ${{SLURM_RESTART_COUNT:-}} ]]; then
  export SLOW_STORE_MS=120 LD_PRELOAD={os.environ["CHEXBENCH_SLOW_STORE"]}
fi
exec {BINARY} "$@"
"""
# Replaces chexbench and prints what a rank gets from Slurm.
FACTS = """#!/usr/bin/env bash
cores=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
echo "node=$SLURMD_NODENAME gpus=$CUDA_VISIBLE_DEVICES cores=$cores omp=$OMP_WAIT_POLICY"
"""


class Slurm(SystemTest):
    def submit(self, script, *arguments, sizes=(), program=BINARY):
        """Submits a batch script from the test's folder; the job's number."""
        return self.ends_with(0, "sbatch", "--parsable", *SIZES, *sizes, SCRIPTS / script, *arguments, cwd=self.folder,
                              env={**os.environ, "CHEXBENCH": str(program)}).stdout.strip()

    def program(self, text):
        return write_program(self.folder / "program", text)

    def state(self, job):
        """Slurm's data on a job, or on each task of an array, as dictionaries."""
        told = self.ends_with(0, "scontrol", "--oneliner", "show", "job", job).stdout
        return [dict(re.findall(r"(\w+)=(\S*)", line)) for line in told.splitlines() if line]

    def await_end(self, job):
        """Waits until a job, or each task of an array, has ended for good."""
        self.await_true(lambda: all(part["JobState"] in ENDED for part in self.state(job)), log=lambda: self.log(job))
        return sorted(self.state(job), key=lambda part: int(part.get("ArrayTaskId", 0)))

    def log(self, job):
        return "".join(path.read_text() for path in sorted(self.folder.glob(f"*-{job}*.log")))

    def succeeds(self, job):
        for part in self.await_end(job):
            self.assertEqual(part["JobState"], "COMPLETED", self.log(job))

    def results(self, job):
        return self.folder / "results/slurm" / job

    def await_running(self, job, condition):
        """Waits for a condition, which must come true before the job ends."""
        def is_met():
            state = self.state(job)[0]["JobState"]  # before the condition, which its last second may fulfil
            return condition() or self.assertNotIn(state, ENDED, self.log(job))
        self.await_true(is_met)

    def await_repeats(self, job, count):
        journal = self.results(job) / "journal.jsonl"
        self.await_running(job, lambda: journal.exists() and journal.read_text().count("\n") >= count)

    def check_each_repeat_is_measured_once(self, job, arms, repeats):
        lines = (self.results(job) / "journal.jsonl").read_text().splitlines()
        measured = collections.Counter((entry["key"], entry["repeat"]["repeat"]) for entry in map(json.loads, lines))
        self.assertEqual(set(measured.values()), {1})
        self.assertEqual(sorted(repeat for _, repeat in measured), sorted(list(range(repeats)) * arms))
        report = self.report(self.results(job))
        self.assertFalse(report["interrupted"])
        self.assertEqual([len(trial["repeats"]) for trial in report["trials"]], [repeats] * arms)
        return lines


class Measuring(Slurm):
    def test_a_single_node_measures_with_all_its_ranks(self):
        job = self.submit("single-node.sbatch", self.spec())
        self.succeeds(job)
        self.assertEqual([row["ranks"] for row in self.rows(self.results(job))], ["2"])

    def test_several_nodes_are_one_world(self):
        job = self.submit("four-nodes.sbatch", self.spec(cores_per_rank=1), sizes=["--nodes=2"])
        self.succeeds(job)
        self.assertEqual([row["ranks"] for row in self.rows(self.results(job))], ["4"])

    def test_options_behind_the_spec_reach_chexbench(self):
        job = self.submit("single-node.sbatch", self.spec(), "--set", "measure.steps=0")
        self.assertEqual(self.await_end(job)[0]["JobState"], "FAILED")
        self.assertIn("measure.steps", self.log(job))

    def test_each_task_of_an_array_measures_its_part(self):
        root = self.small_images(converted=True)
        spec = self.spec(data__root=str(root), data__split="all", sweep={"pipeline": ["naive", "optimized"],
                                                      "data.format": ["images", "tfrecord"]})
        job = self.submit("sweep-array.sbatch", spec, SCRIPTS / "naive-vs-optimized.parts", sizes=["--array=1-5%1"])
        states = [part["JobState"] for part in self.await_end(job)]
        self.assertEqual(states, ["COMPLETED"] * 4 + ["FAILED"], self.log(job))
        self.assertIn("has no line 5: give --array=1-4", self.log(job))
        rows = [self.rows(self.results(job) / f"part-{part}") for part in (1, 2, 3, 4)]
        self.assertEqual([[(row["pipeline"], row["format"]) for row in part] for part in rows],
                         [[("naive", "images")], [("naive", "tfrecord")], [("optimized", "images")],
                          [("optimized", "tfrecord")]])


class Starts(Slurm):
    def starts(self, *launcher):
        """Exit code and output of a batch script's `launcher chexbench doctor --explain`."""
        script = self.folder / "start.sbatch"
        script.write_text(f"#!/bin/bash\n{' '.join(launcher)} '{BINARY}' doctor --explain; echo code=$?\n")
        job = self.submit(script, sizes=["--output=start-%j.log"])
        self.succeeds(job)
        return self.log(job)

    def test_a_batch_script_itself_is_one_rank(self):
        self.assertRegex(self.starts(), "(?s)one rank: .*code=0")

    def test_tasks_that_cannot_find_each_other_are_an_error(self):
        self.assertRegex(self.starts("srun", "--mpi=none"), "(?s)error: comm: srun started 2 tasks .*code=4")
        self.assertRegex(self.starts("srun", "--mpi=pmix"), "(?s)error: comm: srun started 2 ranks .*code=4")

    def test_tasks_with_pmi_are_ranks(self):
        self.assertRegex(self.starts("srun", "--mpi=pmi2"), "(?s)2 ranks, MPI .*code=0")


class WhatRanksGet(Slurm):
    def facts(self, script, *arguments, sizes=()):
        job = self.submit(script, *arguments, sizes=sizes, program=self.program(FACTS))
        self.succeeds(job)
        return sorted((dict(re.findall(r"(\w+)=(\S*)", line)) for line in self.log(job).splitlines()
                       if line.startswith("node=")), key=lambda rank: (rank["node"], rank["cores"]))

    def test_ranks_under_srun_see_the_gpus_of_their_node_and_have_cores_of_their_own(self):
        ranks = self.facts("four-nodes.sbatch", "spec", sizes=["--nodes=2"])
        self.assertEqual([rank["node"] for rank in ranks], ["n0", "n0", "n1", "n1"])
        self.assertEqual([rank["gpus"] for rank in ranks], ["0,1"] * 4)
        self.assertEqual([rank["omp"] for rank in ranks], ["passive"] * 4)
        self.assertNotEqual(ranks[0]["cores"], ranks[1]["cores"])

    def test_a_rank_under_srun_has_as_many_cores_as_the_job_asks_for(self):
        ranks = self.facts("four-nodes.sbatch", "spec",
                           sizes=["--nodes=2", "--ntasks-per-node=1", "--cpus-per-task=2"])
        for rank in ranks:
            self.assertRegex(rank["cores"], r"^\d+[-,]\d+$")

    def test_ranks_under_mpirun_see_the_gpus_and_are_not_tied_to_one_core(self):
        ranks = self.facts("single-node.sbatch", "spec")
        # All four of the node: the job has it exclusively, and the process that mpirun starts there requests no number.
        self.assertEqual([(rank["node"], rank["gpus"], rank["omp"]) for rank in ranks],
                         [("n0", "0,1,2,3", "passive")] * 2)
        for rank in ranks:
            self.assertRegex(rank["cores"], "[-,]")


class Requeue(Slurm):
    def submit_slow(self, script, *arguments, sizes=(), **keys):
        return self.submit(script, self.spec(pipeline=IN_TURN, **keys), *arguments, sizes=sizes,
                           program=self.program(SLOW_AT_FIRST))

    def test_a_job_out_of_time_is_queued_again_and_goes_on_to_the_same_trials(self):
        # Slurm looks at time limits every 30 s: this signal comes 10 to 40 s after the start, and all would take 50 s.
        job = self.submit_slow("requeue.sbatch", sizes=["--time=1", "--signal=B:USR1@20"], measure__repeats=25,
                               sweep={"data.split": ["train", "all"]})
        self.await_repeats(job, 1)
        self.await_running(job, (self.results(job) / "report.json").exists)
        saved = self.report(self.results(job))
        self.assertTrue(saved["interrupted"], self.log(job))
        kept = (self.results(job) / "journal.jsonl").read_text().splitlines()
        self.assertEqual(sum(len(trial["repeats"]) for trial in saved["trials"]), len(kept))
        self.succeeds(job)
        self.assertGreaterEqual(int(self.state(job)[0]["Restarts"]), 1)
        lines = self.check_each_repeat_is_measured_once(job, arms=2, repeats=25)
        self.assertEqual(lines[:len(kept)], kept)

    def cancel(self, job, *options):
        self.ends_with(0, "scancel", *options, job)

    def test_a_job_that_is_cancelled_keeps_what_it_measured_and_is_not_queued_again(self):
        for script in ("requeue.sbatch", "single-node.sbatch"):  # srun and mpirun; at a time limit, Slurm does the same
            with self.subTest(script=script):
                job = self.submit_slow(script, measure__repeats=500)
                self.await_repeats(job, 2)
                self.cancel(job)
                self.assertEqual(self.await_end(job)[0]["JobState"], "CANCELLED", self.log(job))
                self.assertTrue(self.report(self.results(job))["interrupted"], self.log(job))

    def test_a_job_that_an_administrator_queues_again_goes_on_as_well(self):
        job = self.submit_slow("requeue.sbatch", measure__repeats=8)
        self.await_repeats(job, 2)
        kept = (self.results(job) / "journal.jsonl").read_text().splitlines()
        self.ends_with(0, "scontrol", "requeue", job)
        self.succeeds(job)
        lines = self.check_each_repeat_is_measured_once(job, arms=1, repeats=8)
        self.assertEqual(lines[:len(kept)], kept)

    def test_a_job_that_got_no_further_is_not_queued_again(self):
        job = self.submit_slow("requeue.sbatch", measure__steps=5000)
        self.await_running(job, (self.results(job) / "journal.jsonl").exists)
        self.cancel(job, "--batch", "--signal=USR1")
        self.assertEqual(self.await_end(job)[0]["JobState"], "FAILED", self.log(job))
        self.assertIn("no repeat and no epoch fits into this time limit", self.log(job))

    @unittest.skipUnless(HAS_ONEDNN, "trains on the CPU")
    def test_a_training_out_of_time_goes_on_from_its_last_epoch(self):
        spec = self.spec(engine="onednn", model={"name": "mobilenet_v2", "image_size": 32}, measure={"repeats": 1},
                         data__split="all", training={"batch_size": 2, "epochs": 12})
        job = self.submit("requeue.sbatch", spec)
        self.await_running(job, lambda: list(self.results(job).glob("checkpoints/*/last.safetensors")))
        self.cancel(job, "--batch", "--signal=USR1")
        self.succeeds(job)
        self.assertEqual(self.state(job)[0]["Restarts"], "1", self.log(job))
        self.assertIn("of 12 epochs are done", self.log(job))
        self.assertEqual(len(self.report(self.results(job))["trials"][0]["repeats"][0]["epochs"]), 12)

    def test_an_error_is_not_queued_again(self):
        job = self.submit_slow("requeue.sbatch", measure__steps=0)
        self.assertEqual(self.await_end(job)[0]["JobState"], "FAILED", self.log(job))
        self.assertEqual(self.state(job)[0]["Restarts"], "0")

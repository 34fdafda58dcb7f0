"""Ranks that train on GPUs, run on a host twin of one: NCCL is not available there, so gradients go by MPI."""

import json

from harness import SystemTest


class GpuRanks(SystemTest):
    def gpu_spec(self, **keys):
        return self.spec(engine="cuda", data__format="ready", model__image_size=32, measure__steps=2,
                         measure__repeats=1, **keys)

    def test_two_ranks_on_one_gpu_are_refused_by_name(self):
        self.fail_with(4, "--config", self.gpu_spec(), "--output", self.folder / "out", ranks=2,
                       says=["ranks 0 and 1", "GPU-host-twin", "--allow-shared-gpu"])

    def test_two_ranks_that_may_share_a_gpu_train_together_and_every_report_says_so(self):
        out = self.folder / "out"
        self.succeed("--config", self.gpu_spec(), "--output", out, "--allow-shared-gpu", ranks=2)
        self.assertEqual(self.rows(out)[0]["ranks"], "2")
        notes = " ".join(self.report(out)["trials"][0]["notes"])
        self.assertIn("share a GPU", notes)
        self.assertIn("over MPI", notes)

    def test_one_job_measures_smaller_worlds_too(self):
        out = self.folder / "out"
        self.succeed("--config", self.gpu_spec(ranks=[1, 2]), "--output", out, "--allow-shared-gpu", ranks=2)
        self.assertEqual([row["ranks"] for row in self.rows(out)], ["1", "2"])

    def test_nccl_that_is_asked_for_and_missing_is_an_error_that_names_the_way_out(self):
        self.fail_with(4, "--config", self.gpu_spec(comm__backend="nccl"), "--output", self.folder / "out",
                       "--allow-shared-gpu", ranks=2, says=["comm.backend 'nccl'", "comm.backend=mpi"])


class CommOfGpus(SystemTest):
    def measured(self, *options):
        done = self.succeed("comm", "--allow-shared-gpu", "--max-bytes", "4K", "--repeats", "1", "--format", "json",
                            *options, ranks=3)
        return json.loads(done.stdout)

    def test_device_memory_is_taken_where_every_rank_has_a_gpu(self):
        told = self.measured("--ranks", "2,3")
        self.assertEqual((told["memory"], told["dtype"]), ("GPU", "f32"))
        self.assertIn("copied to the host", told["library"])
        self.assertEqual({row["ranks"] for row in told["rows"]}, {2, 3})

    def test_f16_is_averaged_there(self):
        self.assertEqual(self.measured("--dtype", "fp16")["dtype"], "fp16")

    def test_host_memory_can_be_asked_for(self):
        self.assertEqual(self.measured("--memory", "host")["memory"], "host")

    def test_ranks_that_share_a_gpu_are_refused_by_name(self):
        self.fail_with(4, "comm", ranks=2, says=["ranks 0 and 1", "--allow-shared-gpu"])

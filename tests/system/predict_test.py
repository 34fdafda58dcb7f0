"""chexbench predict: against emulated ranks measured here, from a run's measurements, and wrong requests."""

import csv
import json
import re
import unittest

from harness import BINARY, HAS_ONEDNN, SystemTest, measured

NETWORK = {"model": "alpha_beta", "alpha_s": 1e-3, "beta_bytes_per_s": 4e8}
# 83 ms of compute a step, so that late wake-ups of busy cores do not matter; 94 MB of gradients, so that the network
# does.
EMULATED = {"data": {"format": "ready", "deliver": "u8"}, "engine": "emulated:v100", "training": {"batch_size": 32},
            "comm": NETWORK}


class PredictTest(SystemTest):
    def predicted(self, *arguments):
        return self.told("predict", *arguments)["arms"]

    def rates(self, *arguments):
        return {row["ranks"]: row["images_per_s"] for row in self.predicted(*arguments)[0]["rows"]}


class Measured(PredictTest):
    @measured
    def test_one_two_and_four_emulated_ranks_are_met_within_ten_percent(self):
        out = self.folder / "out"
        spec = self.spec(ranks=[1, 2, 4], measure={"warmup_steps": 1, "steps": 4, "repeats": 2}, **EMULATED)
        self.succeed("--config", spec, "--output", out, ranks=4, timeout=240)
        measured = {int(row["ranks"]): float(row["images_per_s"]) for row in self.rows(out)}
        predicted = self.rates("--config", spec, "--ranks", "1,2,4")
        self.assertEqual(self.rates("--config", spec, "--ranks", "1", "2", "4"), predicted)
        self.assertEqual(set(measured), {1, 2, 4})
        for ranks, images_per_s in measured.items():
            self.assertAlmostEqual(predicted[ranks] / images_per_s, 1, delta=0.1, msg=f"{ranks} ranks")
        self.assertLess(predicted[4] / predicted[1], 3)  # the network was there to be felt

    @measured
    def test_emulated_ranks_under_each_communication_profile_are_met_within_five_percent(self):
        out = self.folder / "out"
        profiles = ["ideal", "horovod-nccl", "horovod-mpi-host", "nccl-tcp", "grpc-ps"]
        comm = {"model": "alpha_beta", "link": "10gbe", "host_link": "pcie3", "ranks_per_host": 2}
        spec = self.spec(ranks=[2, 4], measure={"warmup_steps": 1, "steps": 4, "repeats": 1, "extra_repeats": 0},
                         sweep={"comm.profile": profiles}, **{**EMULATED, "comm": comm})
        self.succeed("--config", spec, "--output", out, ranks=4, timeout=240)
        predicted = {profile: self.rates("--config", spec, "--set", "sweep=null", "--comm", profile, "--ranks", "2,4")
                     for profile in profiles}
        trials = self.report(out)["trials"]
        self.assertEqual(len(trials), 2 * len(profiles))
        for trial in trials:
            profile, ranks = trial["spec"]["comm"]["profile"], trial["ranks"]
            self.assertAlmostEqual(predicted[profile][ranks] / trial["figures"]["images_per_s"], 1, delta=0.05,
                                   msg=f"{profile} on {ranks} ranks")
        self.assertEqual(max(profiles, key=lambda profile: predicted[profile][4]), "ideal")
        self.assertLess(predicted["horovod-mpi-host"][4], 0.9 * predicted["ideal"][4])  # it was there to be felt

    @measured
    def test_the_network_that_comm_measured_is_taken_over(self):
        told = self.succeed("comm", "--min-bytes", "64K", "--max-bytes", "16M", "--format", "json", ranks=2).stdout
        self.assertIsNotNone(json.loads(told)["fit"], "times of a busy machine do not grow with bytes")
        (self.folder / "comm.json").write_text(told)
        arm, = self.predicted("--config", self.spec(**EMULATED), "--comm", self.folder / "comm.json", "--ranks", "2,4")
        self.assertEqual(arm["beta_bytes_per_s"], json.loads(told)["fit"]["beta_bytes_per_s"])
        self.assertTrue(any("beyond the 2 to 2 ranks that the network's" in note for note in arm["notes"]))


class Predict(PredictTest):
    def input_run(self, **keys):
        """A run of engine none on one rank."""
        out = self.folder / "input"
        self.succeed("--config", self.spec(cores_per_rank=1, **keys), "--output", out)
        return out

    def test_links_and_software_by_name_are_in_the_result_and_unknown_ones_name_the_nearest(self):
        spec = self.spec(**EMULATED)
        asked = ("predict", "--config", spec, "--ranks", "8")
        arm, = self.predicted(*asked[1:], "--link", "edr", "--host-link", "pcie3", "--ranks-per-host", "4", "--comm",
                              "horovod-nccl")
        self.assertEqual((arm["comm_profile"], arm["link"], arm["host_link"], arm["ranks_per_host"],
                          arm["beta_bytes_per_s"]), ("horovod-nccl", "edr", "pcie3", 4, 1.25e10))
        for options, says in ((("--link", "10bge"), "'10gbe'"), (("--comm", "horovod-ncll"), "'horovod-nccl'"),
                              (("--comm", "grpc-ps"), "--ranks-per-host"), (("--host-link", "edr"), "--ranks-per-host"),
                              (("--link", "edr", "--alpha", "1e-6"), "leave all but one out")):
            self.fail_with(2, *asked, *options, says=[says])

    def test_a_link_by_name_is_the_same_as_its_figures(self):
        spec = self.spec(**{**EMULATED, "comm": {"model": "alpha_beta", "link": "10gbe"}})
        asked = ("--config", spec, "--for-ranks", "64")
        by_figures = ("--alpha", "2e-5", "--beta", "1.25e9")
        named, given = (self.predicted(*asked, *options)[0] for options in ((), by_figures))
        self.assertEqual(named["requirement"], given["requirement"])
        self.assertEqual(named["rows"], given["rows"])
        slower, = self.predicted(*asked, "--alpha", "1e-3")
        self.assertEqual((slower["alpha_s"], slower["beta_bytes_per_s"]), (1e-3, 1.25e9))
        fitted = [self.predicted(*asked, "--fit", "2:500,4:800", *options)[0]["beta_bytes_per_s"]
                  for options in ((), ("--set", "comm.link=null"))]
        self.assertEqual(fitted[0], fitted[1])
        one_host, = self.predicted("--config", spec, "--for-ranks", "4", "--host-link", "nvlink2", "--ranks-per-host",
                                   "4")
        self.assertIsNone(one_host["requirement"]["link_bytes_per_s"])

    def test_a_profile_may_be_a_file_and_its_run_is_read_without_it(self):
        profile = self.folder / "own.json"
        profile.write_text('{"description": "ours", "tensor_s": {"value": 1e-3, "source": "measured"}}')
        spec = self.spec(**EMULATED)
        arm, = self.predicted("--config", spec, "--ranks", "2", "--comm", profile)
        self.assertEqual(arm["comm_profile"], str(profile))
        self.succeed("--config", spec, "--set", f"comm.profile={profile}", "--output", self.folder / "out")
        profile.unlink()
        self.succeed("report", self.folder / "out")
        self.fail_with(2, "predict", "--config", spec, "--comm", profile, says=["own.json"])
        self.fail_with(2, "predict", "--config", spec, "--comm", 300 * "x", says=["xxx"])

    def test_a_measured_input_limits_what_it_cannot_feed(self):
        out = self.input_run()
        arm, = self.predicted("--report", out, "--accelerator", "v100", "--ranks", "1,8")
        measured = float(self.rows(out)[0]["images_per_s"])
        row = arm["rows"][1]
        self.assertAlmostEqual(row["decode_images_per_s"] / (8 * measured), 1, places=6)
        self.assertTrue(row["extrapolated"])
        self.assertFalse(arm["rows"][0]["limit"] == "decode" and measured > 384)
        self.assertTrue(any("beyond the 1 to 1 ranks" in note for note in arm["notes"]))

    def test_each_arm_of_a_report_is_predicted_with_its_own_amplification(self):
        out = self.input_run(data__split="all", sweep={"pipeline": ["naive", "optimized"]})
        naive, optimized = self.predicted("--report", out, "--accelerator", "v100", "--ranks", "1,64",
                                          "--beta", "1e13", "--alpha", "0")
        self.assertAlmostEqual(naive["rows"][1]["decode_images_per_s"], naive["rows"][0]["decode_images_per_s"])
        self.assertAlmostEqual(optimized["rows"][1]["decode_images_per_s"],
                               64 * optimized["rows"][0]["decode_images_per_s"])
        self.assertEqual(naive["rows"][1]["limit"], "decode")

    def test_cores_and_storage_answer_the_inverse_question(self):
        out = self.input_run()
        arm, = self.predicted("--report", out, "--accelerator", "v100", "--for-ranks", "16", "--efficiency", "0.95")
        needed = arm["requirement"]
        self.assertAlmostEqual(needed["images_per_s"], 0.95 * 16 * 384, places=6)
        enough = self.predicted("--report", out, "--accelerator", "v100", "--ranks", "16",
                                "--cores-per-rank", str(needed["cores_per_rank"]),
                                "--storage-bytes-s", str(1.0001 * needed["storage_bytes_per_s"]),
                                "--beta", str(1.0001 * needed["link_bytes_per_s"]))[0]["rows"][0]
        self.assertGreaterEqual(enough["images_per_s"], 0.9999 * needed["images_per_s"])

    def test_trainings_that_are_known_fit_the_network(self):
        spec = self.spec(**EMULATED)
        truth = self.rates("--config", spec, "--ranks", "2,4,16")
        points = ",".join(f"{ranks}:{truth[ranks]}" for ranks in (2, 4))
        arm, = self.predicted("--config", spec, "--fit", points, "--check", f"16:{truth[16]}", "--ranks", "1")
        self.assertAlmostEqual(arm["alpha_s"] / NETWORK["alpha_s"], 1, delta=0.02)
        self.assertAlmostEqual(arm["beta_bytes_per_s"] / NETWORK["beta_bytes_per_s"], 1, delta=0.02)
        last = arm["rows"][-1]
        self.assertEqual((last["ranks"], last["fitted"], last["extrapolated"]), (16, False, True))
        self.assertAlmostEqual(last["images_per_s"] / last["known_images_per_s"], 1, delta=0.02)

    def test_csv_has_a_row_for_each_number_of_ranks(self):
        options = ("predict", "--config", self.spec(**EMULATED), "--format", "csv")
        rows = list(csv.DictReader(self.succeed(*options, "--ranks", "1,64").stdout.splitlines()))
        self.assertEqual([row["ranks"] for row in rows], ["1", "64"])
        self.fail_with(2, *options, "--for-ranks", "8", says=["--for-ranks", "table or json"])

    def test_the_table_calls_linear_what_is(self):
        spec = self.spec(**EMULATED)
        fast = self.succeed("predict", "--config", spec, "--beta", "1e13", "--alpha", "0", "--ranks", "2").stdout
        slow = self.succeed("predict", "--config", spec, "--ranks", "2").stdout
        self.assertIn("linear", fast.splitlines()[4])
        self.assertNotIn("linear", slow.splitlines()[4])
        explained = self.succeed("predict", "--config", spec, "--ranks", "2", "--explain").stdout
        self.assertIn("weak scaling", explained)
        self.assertEqual(explained.splitlines()[0], slow.splitlines()[0])

    def test_the_answer_is_short(self):
        options = ("--report", self.input_run(), "--accelerator", "v100", "--for-ranks", "64")
        told = self.succeed("predict", *options).stdout
        self.assertLessEqual(len(told.splitlines()), 12, told)
        short = self.succeed("predict", "--config", self.spec(**EMULATED)).stdout.splitlines()
        self.assertLessEqual(len(short), 12, short)
        lines = self.succeed("predict", "--config", self.spec(**EMULATED), "--for-ranks", "64").stdout.splitlines()
        self.assertRegex(lines[0], r"^[\d.,]+ images/s predicted on 64 ranks, \d+ % of full speed; limited")
        self.assertRegex(lines[2], r"^  for 95 % of full speed on 64 ranks: [\d,]+ images/s")
        self.assertEqual([int(line.split()[0].replace(",", "")) for line in lines[1:] if line.strip()[:1].isdigit()],
                         [1, 4, 16, 64])

    def test_the_table_keeps_the_rows_that_were_asked_for(self):
        spec = self.spec(**EMULATED)
        ranks = [row["ranks"] for row in self.predicted("--config", spec, "--for-ranks", "48")[0]["rows"]]
        self.assertIn(48, ranks)
        told = self.succeed("predict", "--config", spec, "--for-ranks", "32", "--check", "2:100,8:300").stdout
        rows = [int(line.split()[0]) for line in told.splitlines()[4:] if line.strip()[:1].isdigit()]
        self.assertEqual(rows, [1, 2, 4, 8, 16, 32])

    def test_strong_scaling_ends_at_one_image_a_rank(self):
        arm, = self.predicted("--config", self.spec(**EMULATED), "--scaling", "strong")
        self.assertEqual([row["ranks"] for row in arm["rows"]], [1, 2, 4, 8, 16, 32])
        self.assertEqual(arm["scaling"], "strong")
        self.fail_with(2, "predict", "--config", self.spec(**EMULATED), "--scaling", "strong", "--ranks", "64",
                       says="cannot share a batch of 32")

    @unittest.skipUnless(HAS_ONEDNN, "needs oneDNN")
    def test_what_the_answer_of_a_run_proposes_leads_to_a_prediction(self):
        for size in (224, 32):
            with self.subTest(size=size):
                out = self.folder / f"input{size}"
                done = self.succeed("--config", self.spec(cores_per_rank=1, model={"name": "mobilenet_v2",
                                                                                  "image_size": size}), "--output", out)
                told = done.stdout.replace(" \\\n     ", " ")
                command, = re.findall(r"^next +(chexbench .*predict --report .*)$", told, re.M)
                self.assertEqual("calibrate" in command, size == 32)
                if size == 32:
                    self.assertRegex(command, r"dev calibrate --model")  # shortened below, to be quick
                command = command.replace("calibrate ", "calibrate --batch-sizes 2,4 --steps 1 --repeats 1 ")
                taken = self.ends_with(0, "bash", "-c", f'chexbench() {{ "{BINARY}" "$@"; }}\n{command}',
                                       cwd=self.folder)
                self.assertIn(f"mobilenet_v2 {size}x{size} f32", taken.stdout)

    def test_a_profile_that_lacks_the_network_says_how_one_is_made(self):
        self.fail_with(2, "predict", "--config", self.spec(model={"name": "mobilenet_v2", "image_size": 96}),
                       "--accelerator", "v100",
                       says=["mobilenet_v2 96x96 f32",
                             "chexbench dev calibrate --model mobilenet_v2 --image-size 96 --precision f32"])

    def test_wrong_requests_are_usage_errors(self):
        spec = self.spec(**EMULATED)
        plain = ("--config", spec)
        not_emulated = (*plain, "--set", "engine=none", *(f"--set=comm.{key}=null" for key in NETWORK))
        for arguments, says in (
                ((), "nothing to start from"),
                ((*plain, "--accelerator", "a100x"), "contradicts the spec's engine"),
                (not_emulated, "--accelerator PROFILE"),
                ((*not_emulated, "--accelerator", "v10"), "did you mean 'v100'"),
                ((*plain, "--set", "training.precision=bf16"), "no time for resnet50 224x224 bf16"),
                ((*plain, "--ranks", "0"), "--ranks"),
                ((*plain, "--ranks", "2000"), "--ranks"),
                ((*plain, "--for-ranks", "16,64"), "--for-ranks: it is one number, not the list 16,64"),
                ((*plain, "--input-rate", "fast"), "--input-rate"),
                ((*plain, "--input-rate", "measured"), "needs --report"),
                ((*plain, "--cores-per-rank", "4"), "--report"),
                ((*plain, "--storage-bytes-s", "1e9"), "--report"),
                ((*plain, "--fit", "2:300"), "fewer than two points"),
                ((*plain, "--fit", "2:300,4:x"), "4:x"),
                ((*plain, "--fit", "2:300,4:500", "--beta", "1e9"), "leave all but one out"),
                ((*plain, "--efficiency", "0.9"), "--for-ranks"),
                (("--set", "ranks=1"), "--set")):
            with self.subTest(arguments=arguments):
                self.fail_with(2, "predict", *arguments, says=says)

    def test_reports_that_do_not_tell_of_the_input_are_errors_of_the_data(self):
        out = self.measured(measure={"warmup_steps": 0, "steps": 1, "repeats": 1}, **EMULATED)
        self.fail_with(3, "predict", "--report", out, "--accelerator", "v100", says="--set engine=none")
        self.fail_with(2, "predict", "--report", self.folder / "nowhere", "--accelerator", "v100", says="report.json")
        (out / "report.json").write_text("{}")
        self.fail_with(3, "predict", "--report", out, "--accelerator", "v100", says="report.json")

    def test_a_report_of_another_input_is_an_error_of_the_data(self):
        out = self.input_run()
        self.fail_with(3, "predict", "--config", self.spec(pipeline="naive", engine="emulated:v100"), "--report", out,
                       says="they have: optimized images 224x224")
        self.fail_with(2, "predict", "--report", out, "--accelerator", "v100", "--input-rate", "100",
                       says="contradicts --report")

    def test_a_comm_file_without_a_fit_is_an_error_of_the_data(self):
        for text in ('{"fit": null}', "{}", "no JSON", '{"fit": {"alpha_s": -1}}'):
            (self.folder / "comm.json").write_text(text)
            self.fail_with(3, "predict", "--config", self.spec(**EMULATED), "--comm", self.folder / "comm.json",
                           says="comm.json")

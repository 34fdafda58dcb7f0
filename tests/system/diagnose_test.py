"""chexbench diagnose, on logs of trainings that chexbench did not run."""

import gzip

from harness import ROOT, SystemTest

FOREIGN = ROOT / "tests/data/foreign"
HEADER = "rank,epoch,wait_s,step_s,images\n"


class Diagnose(SystemTest):
    def log(self, text, name="steps.csv"):
        path = self.folder / name
        path.write_text(text)
        return path

    def rank(self, rank, wait_s):
        return HEADER + f"{rank},0,{wait_s},0.1,16\n" * 20

    def test_a_starved_training(self):
        log = self.log(self.rank(0, 0.06))
        self.assertIn("waits for batches 60 % of the time", self.succeed("diagnose", log).stdout)
        found = self.told("diagnose", log)
        self.assertEqual(found["verdict"], "starved")
        self.assertAlmostEqual(found["images_per_s_without_wait"], 400)

    def test_a_log_of_each_rank(self):
        logs = [self.log(self.rank(rank, 0.05 if rank == 2 else 0), f"{rank}.csv") for rank in range(4)]
        self.assertIn("Rank 2 waits for its input", self.succeed("diagnose", *logs).stdout)
        self.assertNotIn("Rank 2 waits", self.succeed("diagnose", *logs, "--ranks", "0,1").stdout)
        self.fail_with(2, "diagnose", *logs, "--ranks", 4, says=["no rank 4", "0, 1, 2, 3"])

    def test_two_logs_of_one_rank(self):
        one, two = self.log(self.rank(0, 0), "one.csv"), self.log(self.rank(0, 0), "two.csv")
        self.fail_with(3, "diagnose", one, two, says=["rank 0 is in", "one.csv", "two.csv"])

    def test_the_steps_of_chexbench_itself_are_no_such_log(self):
        self.measured()
        self.fail_with(3, "diagnose", self.folder / "out/steps.csv", says=["no column 'step_s'", "line 1"])

    def test_logs_of_other_programs(self):
        for name, verdict in (
            ("kineto-steps", "starved"),
            ("kineto-no-steps", "starved"),
            ("traceml-final-summary", "starved"),
            ("dlio-output", "starved"),
            ("dlio-summary", "starved"),
            ("horovod-timeline", "starved"),
        ):
            with self.subTest(name=name):
                log = self.folder / "a name that says nothing"
                log.write_bytes((FOREIGN / f"{name}.json").read_bytes())
                found = self.told("diagnose", log)
                self.assertEqual(found["verdict"], verdict)
                self.assertEqual(found["findings"][-1]["kind"], "how_read")
                self.assertEqual(found["unit"], "images" if name == "dlio-summary" else "steps")

    def test_a_compressed_log(self):
        trace = (FOREIGN / "kineto-steps.json").read_bytes()
        log = self.folder / "trace.json.gz"
        log.write_bytes(gzip.compress(trace))
        plain = self.told("diagnose", FOREIGN / "kineto-steps.json")
        packed = self.told("diagnose", log)
        self.assertEqual({**packed, "source": 0}, {**plain, "source": 0})
        log.write_bytes(gzip.compress(trace)[:5000])
        self.fail_with(3, "diagnose", log, says=["trace.json.gz: byte 5000", "truncated"])

    def test_images_of_a_log_that_does_not_count_them(self):
        trace = FOREIGN / "kineto-steps.json"
        self.assertIn("Add --batch N", self.succeed("diagnose", trace).stdout)
        steps = self.told("diagnose", trace)
        images = self.told("diagnose", trace, "--batch", 8)
        self.assertEqual(images["unit"], "images")
        self.assertAlmostEqual(images["images_per_s"], 8 * steps["images_per_s"])
        mixed = self.log(self.rank(1, 0))
        self.fail_with(2, "diagnose", trace, mixed, says=["steps.csv", "--batch N"])
        self.succeed("diagnose", trace, mixed, "--batch", 8)
        self.fail_with(2, "diagnose", trace, "--batch", 0)

    def test_logs_that_do_not_name_their_rank_are_numbered(self):
        logs = [FOREIGN / "kineto-steps.json", self.folder / "another.json"]  # at the same time
        logs[1].write_bytes(logs[0].read_bytes())
        found = self.told("diagnose", *logs)
        self.assertEqual([rank["rank"] for rank in found["ranks"]], [0, 1])

    def test_recordings_of_a_process_one_after_the_other_are_one_rank(self):
        logs = [FOREIGN / "kineto-no-steps.json", FOREIGN / "kineto-steps.json"]
        alone = [self.told("diagnose", log) for log in logs]
        both = self.told("diagnose", *logs)
        self.assertEqual(len(both["ranks"]), 1)
        self.assertEqual(both["steps"], sum(one["steps"] for one in alone))
        self.assertLess(both["images_per_s"], max(one["images_per_s"] for one in alone))

    def test_logs_that_cannot_be_read(self):
        self.fail_with(3, "diagnose", self.folder / "nowhere.csv", says=["nowhere.csv", "No such file"])
        self.fail_with(3, "diagnose", self.folder, says="Is a directory")

    def test_wrong_usage(self):
        self.fail_with(2, "diagnose")
        self.fail_with(2, "diagnose", self.log(self.rank(0, 0)), "--ranks", "first")

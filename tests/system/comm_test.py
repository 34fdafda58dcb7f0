"""chexbench comm, under mpirun."""

import csv
import io
import json

from harness import SystemTest


class Comm(SystemTest):
    def measured(self, *options, ranks=2, repeats=5):
        done = self.succeed("comm", "--repeats", repeats, "--format", "json", *options, ranks=ranks)
        return json.loads(done.stdout)

    def test_sizes_double_and_bandwidths_follow_from_times(self):
        rows = self.measured("--min-bytes", "64K", "--max-bytes", "1M", "--ranks", "2,3", ranks=3)["rows"]
        self.assertEqual([(row["ranks"], row["bytes"]) for row in rows],
                         [(ranks, 65536 << i) for ranks in (2, 3) for i in range(5)])
        for row in rows:
            self.assertAlmostEqual(row["algbw_bytes_per_s"] * row["time_s"], row["bytes"], places=3)
            self.assertAlmostEqual(row["busbw_bytes_per_s"] / row["algbw_bytes_per_s"],
                                   2 * (row["ranks"] - 1) / row["ranks"], places=9)
            self.assertLessEqual(row["time_s_ci95_low"], row["time_s"])
            self.assertLessEqual(row["time_s"], row["time_s_ci95_high"])

    def test_schemes_of_our_own_average_too_and_what_is_no_ring_is_not_fitted(self):
        for update in ("ring", "tree", "hierarchical", "parameter_server"):
            told = self.measured("--update", update, "--min-bytes", "1M", "--max-bytes", "8M", ranks=3,
                                 repeats=1)
            self.assertEqual((told["update"], len(told["rows"])), (update, 8))
            if update != "ring":
                self.assertIsNone(told["fit"], update)
        self.fail_with(2, "comm", "--update", "parameter_server", "--servers", "3", ranks=2, says="comm.servers is 3")

    def test_every_format_is_printed_once(self):
        options = ("comm", "--min-bytes", "1K", "--max-bytes", "2K", "--repeats", "1")
        table = self.succeed(*options, ranks=2).stdout
        self.assertEqual(table.count("busbw GB/s"), 1)
        rows = list(csv.DictReader(io.StringIO(self.succeed(*options, "--format", "csv", ranks=2).stdout)))
        self.assertEqual([row["bytes"] for row in rows], ["1024", "2048"])
        self.assertEqual(rows[0]["time_s_ci95_low"], "")  # one repeat has no interval

    def test_a_world_of_one_is_told_how_to_start_several(self):
        self.fail_with(2, "comm", says="mpirun -np 2 chexbench comm")

    def test_wrong_options_are_usage_errors(self):
        for options, says in ((("--ranks", "3"), "--ranks 3"), (("--ranks", "1"), "must be 2 to 2"),
                              (("--min-bytes", "6"), "multiples of 4"), (("--min-bytes", "0"), "--min-bytes"),
                              (("--min-bytes", "2M", "--max-bytes", "1M"), "above --max-bytes"),
                              (("--servers", "2"), "--servers requires --update parameter_server"),
                              (("--update", "ring", "--ranks-per-group", "2"), "requires --update hierarchical"),
                              (("--dtype", "f61"), "--dtype")):
            with self.subTest(options=options):
                self.fail_with(2, "comm", *options, ranks=2, says=says)

    def test_f16_in_host_memory_is_an_error_of_the_device(self):
        self.fail_with(4, "comm", "--memory", "host", "--dtype", "fp16", ranks=2, says="always f32")

"""parallel_calls and cycle_length "auto": every report gives the choice and the reason."""

import json

from harness import SystemTest


# A store that gives no more to more calls: few values are tried, in windows that mostly wait.
SHAPED = {"shape": {"iops": 300}}


class Auto(SystemTest):
    def chosen(self, out):
        """For each trial: the values that its repeats ran with, by the parameter's name."""
        report = self.report(out)
        found = []
        for trial in report["trials"]:
            each = [{f"{one['op']}.{one['parameter']}": one for one in repeat["tunings"]}
                    for repeat in trial["repeats"]]
            self.assertEqual(each[1:], each[:1] * (len(each) - 1), "all repeats run with the same values")
            found.append(each[0])
        return found

    def test_tells_what_it_chose_and_why(self):
        self.small_images(converted=True)
        spec = self.spec(data={"root": str(self.folder / "nih"), "split": "all", "format": "tfrecord"},
                         pipeline="tf-official", store=SHAPED)
        out = self.folder / "out"
        done = self.succeed("--config", spec, "--set", "pipeline.map.parallel_calls=auto",
                            "--set", "pipeline.interleave.cycle_length=auto", "--output", out, "--explain")
        chosen, = self.chosen(out)
        self.assertEqual(set(chosen), {"interleave.cycle_length", "map.parallel_calls"})
        page = (out / "report.html").read_text()
        for name, one in chosen.items():
            points = [row[one["points"]["columns"].index("value")] for row in one["points"]["rows"]]
            self.assertIn(one["value"], points)
            self.assertEqual(points, sorted(points))
            line = f'{name} "auto" is {one["value"]}: {one["reason"]}'
            self.assertIn(line, " ".join(done.stdout.split()))
            self.assertIn(json.dumps(line)[1:-1], page)

    def test_ranks_choose_the_same_together(self):
        out = self.folder / "out"
        self.succeed("--config", self.spec(pipeline="naive", store=SHAPED), "--set", "pipeline.map.parallel_calls=auto",
                     "--output", out, ranks=2)
        report = self.report(out)
        repeat = report["trials"][0]["repeats"][0]
        value = repeat["tunings"][0]["value"]
        # The capacity of its queue is summed over ranks; a single call has no queue.
        self.assertEqual(repeat["ops"][2]["queue_capacity"], 2 * value if value > 1 else 0)

    def test_png_of_a_folder_leaves_nothing_to_choose_for_interleave(self):
        out = self.folder / "out"
        self.succeed("--config", self.spec(), "--set", "pipeline.interleave.cycle_length=auto", "--output", out)
        chosen, = self.chosen(out)
        self.assertEqual(chosen["interleave.cycle_length"]["value"], 10)
        self.assertIn("nothing to overlap", chosen["interleave.cycle_length"]["reason"])

    def test_other_words_and_numbers_are_refused(self):
        for value, told in (("Auto", "did you mean 'auto'?"), ("0", "at least 1"), ("-3", "at least 1")):
            self.fail_with(2, "--config", self.spec(pipeline="naive"), "--set", f"pipeline.map.parallel_calls={value}",
                           says=[told])

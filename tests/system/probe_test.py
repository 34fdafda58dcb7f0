"""chexbench DIR: an answer about a folder in a minute."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time

from harness import IMAGES, REAL_IMAGES, TIMEOUT_S, SystemTest, command_line, png, run, small_images

# An answer takes all of its time if repeats differ, as on a busy machine. The images of the tests are so small that
# even a very slow one has measured a first repeat by then.
QUICK = ("--time", "1")


def small_image():
    return sorted((small_images() / "images").iterdir())[0]


class Answers(SystemTest):
    def lines(self, done):
        """The lines by their subjects; the first one as "rate"."""
        rate, *others = re.sub(r"\n {11}", " ", done.stdout).splitlines()
        self.assertLessEqual(len(others), 11, done.stdout)
        return {"rate": rate, **{line[2:10].strip(): line[11:] for line in others}}

    def test_a_folder_is_answered_in_the_first_line_with_a_spec_that_runs(self):
        done = self.succeed(small_images(), *QUICK, cwd=self.folder)
        lines = self.lines(done)
        self.assertRegex(lines["rate"], r"^[\d.,]+ images/s from \d+ cores?; limited by \w+")
        # Which of the two it is depends on the speed of the machine.
        self.assertRegex(lines["range"], r"^([\d.,]+ to [\d.,]+ \(95 % interval, \d+ repeats|unknown \(\d repeats?)\)")
        self.assertRegex(lines["data"], rf"^{IMAGES} PNGs of \d+ kB")
        self.assertIn("ResNet50", lines.get("keeps", "") + lines.get("feeds", ""))
        self.assertRegex(lines["work"], r"^decoding \d+ %, resizing \d+ %, reading \d+ %; cores \d+ % busy")
        self.assertRegex(lines["next"], "^(chexbench |nothing: )")
        out, = self.folder.glob("results/nih/*")
        self.assertNotIn(":", out.name)
        self.assertIn(f"chexbench --config results/nih/{out.name}/spec.json", lines["details"])
        for name in ("spec.json", "probe.json", "report.json", "report.html", "trials.csv"):
            self.assertTrue((out / name).exists(), name)
        report = self.report(out)
        self.assertEqual(report["trials"][0]["spec"]["engine"], "none")
        self.assertEqual(report["environment"]["spec_file"], f"results/nih/{out.name}/spec.json")
        again = self.folder / "again"
        self.succeed("--config", out / "spec.json", "--set", "measure.repeats=5", "--set", "measure.steps=2",
                     "--output", again, cwd=self.folder / "results")
        self.assertEqual(self.report(again)["trials"][0]["images"], IMAGES)
        self.assertNotIn("\r", done.stderr)

    def test_a_terminal_shows_the_rate_and_the_time_left(self):
        told = self.on_a_terminal(small_images(), "--time", "3", "--output", self.folder / "out")
        self.assertRegex(told, rf"\r\x1b\[Kmeasuring {small_images()}: [\d.,]+ images/s, at most [0-3] s left")
        self.assertTrue(told.endswith("\r\x1b[K"), told[-200:])

    def test_json_has_the_same_for_programs(self):
        out = self.folder / "out"
        told = self.told(small_images(), *QUICK, "--output", out)
        self.assertEqual((told["layout"], told["images"], told["png_files"]), ("nih", IMAGES, IMAGES))
        self.assertGreater(told["ways"][0]["images_per_s"], 0)
        self.assertEqual(told["spec"], str(out / "spec.json"))
        self.assertEqual(json.loads((out / "probe.json").read_text()), told)
        shares = [told["limit"][name + "_share"] for name in ("read", "decode", "resize", "other")]
        self.assertAlmostEqual(sum(shares), 1)
        for accelerator in told["accelerators"]:
            self.assertAlmostEqual(accelerator["share"], told["ways"][0]["images_per_s"] / accelerator["images_per_s"])
            self.assertEqual(accelerator["count"], int(accelerator["share"]))
        self.assertIn(("v100", "f32", 384), [(a["name"], a["precision"], a["images_per_s"])
                                             for a in told["accelerators"]])

    def test_shards_beside_the_images_are_measured_in_turn(self):
        root = self.small_images()
        self.succeed("data", "convert", root, "--split", "all")
        told = self.told(root, *QUICK, "--output", self.folder / "out")
        self.assertEqual([way["way"] for way in told["ways"]], ["png", "tfrecord"])
        self.assertIsNotNone(told["ways"][1]["ratio"])
        shutil.rmtree(root / "images")
        told = self.told(root, *QUICK, "--output", self.folder / "alone")
        self.assertEqual([way["way"] for way in told["ways"]], ["tfrecord"])

    def test_folders_of_classes_and_a_table_that_says_nothing_are_measured(self):
        root = self.folder / "my set"
        (root / "a").mkdir(parents=True)
        shutil.copy(small_image(), root / "a" / "one.png")
        done = self.succeed("my set", *QUICK, cwd=self.folder)
        self.assertRegex(self.lines(done)["data"], r"^1 PNG of \d+ kB")
        self.assertEqual(len(list(self.folder.glob("results/my-set/*/report.html"))), 1)
        (root / "notes.csv").write_text("name,remark\nx,good\n")
        done = self.succeed(root, *QUICK, "--output", self.folder / "out")
        self.assertIn("without the labels of their table", done.stderr)
        self.lines(done)

    def test_few_images_of_other_depths_and_sizes_behind_links_are_measured(self):
        root = self.folder / "kept elsewhere"
        root.mkdir()
        for name, (width, height, bits) in {"deep.png": (60, 40, 16), "wide image.png": (90, 20, 8),
                                            "one pixel.png": (1, 1, 8)}.items():
            rows = b"".join(b"\0" + os.urandom(width * bits // 8) for _ in range(height))
            (root / name).write_bytes(png(width, height, bits, rows=rows))
        (self.folder / "link").symlink_to(root)
        told = self.told("link", *QUICK, cwd=self.folder)
        self.assertEqual((told["images"], told["bad_records"]), (3, 0))

    def test_an_image_that_cannot_be_read_is_counted_and_costs_no_answer(self):
        root = self.small_images()
        image = sorted((root / "images").iterdir())[0]
        image.write_bytes(image.read_bytes()[:image.stat().st_size // 2])
        done = self.succeed(root, "--time", "6", cwd=self.folder)  # few reads would change the share
        self.assertRegex(self.lines(done)["failed"],
                         rf"^about [345] % of the reads, skipped; `chexbench data check {root}`")

    def test_a_folder_that_may_not_be_written_to_gets_its_answer_all_the_same(self):
        if os.geteuid() == 0:
            os.symlink("/proc/1", self.folder / "results")  # in which not even root can make a folder
        else:
            self.folder.chmod(0o500)
            self.addCleanup(self.folder.chmod, 0o700)
        done = self.succeed(small_images(), *QUICK, cwd=self.folder)
        self.assertIn("--output DIR", self.lines(done)["details"])
        self.assertIn("nothing is written", done.stderr)

    def test_what_is_asked_for_and_cannot_be_written_is_an_error_beside_the_answer(self):
        done = self.fail_with(6, small_images(), *QUICK, "--output", "/proc/1/out", says="/proc/1/out")
        self.assertIn("images/s", done.stdout)

    def test_a_folder_with_results_is_never_written_over(self):
        out = self.folder / "out"
        out.mkdir()
        (out / "report.json").write_text("{}")
        done = self.fail_with(6, REAL_IMAGES, "--output", out, says=["already holds a run", "--output"])
        self.assertEqual(done.stdout, "")

    def test_a_slow_store_ends_in_time_and_says_that_nothing_is_known(self):
        done = self.succeed(REAL_IMAGES, "--time", "1", "--set", "store.shape.latency_ms=300", cwd=self.folder)
        self.assertRegex(done.stdout, r"rate unknown: 1 s were over after \d+ images?")
        self.assertIn("sample too small", done.stdout)
        self.assertIn("--time", done.stdout)
        self.assertFalse((self.folder / "results").exists())


class Interrupted(SystemTest):
    def stop_after(self, wait_s, out):
        """The exit code and both streams of an answer that Ctrl-C ends."""
        process = subprocess.Popen(command_line([small_images(), "--time", "3000", "--output", out]),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        time.sleep(wait_s)
        process.send_signal(signal.SIGINT)
        printed, told = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, printed, told

    def test_control_c_gives_the_answer_so_far_and_says_that_it_is_partial(self):
        for wait_s in (1, 2, 4, 8, 16, 32):  # until a first repeat is done, however slow the machine is
            out = self.folder / str(wait_s)
            code, printed, told = self.stop_after(wait_s, out)
            self.assertEqual(code, 130, told)
            self.assertIn("stopped by a signal", told)
            if printed:
                break
            self.assertFalse(out.exists(), "nothing was measured, so nothing is written")
        self.assertRegex(printed.splitlines()[0], r"images/s .* \[partial: \d+ s of 50 min\]")
        self.assertTrue(self.report(out)["interrupted"])
        self.assertTrue(json.loads((out / "probe.json").read_text())["partial"])
        self.assertTrue((out / "spec.json").exists())


class Misled(SystemTest):
    def test_a_misspelt_path_suggests_the_nearest(self):
        (self.folder / "x-rays").mkdir()
        self.fail_with(3, self.folder / "x-ray", says=["no such folder", f"did you mean '{self.folder}/x-rays'?"])
        self.fail_with(3, "./x-ray/", says="did you mean './x-rays'?", cwd=self.folder)
        self.fail_with(2, "x-rais", says=["no folder of that name", "did you mean 'x-rays'?"], cwd=self.folder)
        self.fail_with(2, "advize", says="did you mean 'advise'?", cwd=self.folder)

    def test_what_is_no_data_set_says_what_is_known_and_what_to_do(self):
        empty = self.folder / "empty"
        empty.mkdir()
        self.fail_with(3, empty, says=["empty' is empty: expected images (PNG, JPEG, DICOM)", "ChestX-ray14",
                                       "a CSV with your labels", "a folder of images for each class"])
        loose = self.folder / "loose"
        loose.mkdir()
        shutil.copy(small_image(), loose / "one.png")
        self.fail_with(3, loose / "one.png", says=["it is a file", f"the folder that holds the data set, as '{loose}'"])
        (empty / "notes.txt").write_text("to be filled")
        self.fail_with(3, empty, says="no images and no label table in")

    def test_a_folder_that_may_not_be_read_is_told(self):
        closed = self.folder / "closed"
        closed.mkdir()
        nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        try:
            run("--version", **nobody).check_returncode()
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("others may not run the binary")
        self.folder.chmod(0o755)
        closed.chmod(0 if not nobody else 0o700)
        self.addCleanup(closed.chmod, 0o700)
        self.fail_with(3, closed, says=f"cannot read folder {closed}: Permission denied", **nobody)

    def test_a_name_with_blanks_that_a_shell_took_apart_is_told(self):
        (self.folder / "my x rays").mkdir()
        done = self.fail_with(2, "my", "x", "rays", cwd=self.folder, says="did you mean 'my x rays'?")
        self.assertNotIn("known:", done.stderr)
        done = self.fail_with(2, "elsewhere", cwd=self.folder, says="known: probe")
        self.assertNotIn("second-job", done.stderr, "which is no command for people")

    def test_plain_images_need_no_labels(self):
        loose = self.folder / "loose"
        loose.mkdir()
        for name in ("one.png", "two.png"):
            shutil.copy(small_image(), loose / name)
        self.assertIn("images/s", self.succeed(loose, *QUICK, cwd=self.folder).stdout)
        (loose / "befunde.csv").write_text("Nr;Aufnahme;Befund\n1;one.png;Cardiomegaly\n2;two.png;\n")
        done = self.succeed(loose, *QUICK, cwd=self.folder)
        self.assertIn("images/s", done.stdout)
        self.assertIn("measured without the labels of their table", done.stderr)
        self.assertIn("data.labels.image_column may be 'Aufnahme'", done.stderr)

    def test_a_column_of_names_is_told_with_the_options_that_read_it(self):
        root = self.folder / "set"
        root.mkdir()
        for name in ("one.png", "two.png"):
            shutil.copy(small_image(), root / name)
        (root / "labels.csv").write_text("id,finding\none,Mass|Edema\ntwo,Edema\n")
        options = "--set data.labels.columns=finding --set 'data.labels.separator=|'"
        self.fail_with(3, "data", "index", root, says=["column 'finding' is 'Mass|Edema', expected 0 or 1", options])
        keys = ("--set", "data.layout=csv", *shlex.split(options))
        told = self.succeed("data", "index", "--explain", root, *keys).stdout
        self.assertIn("label.Edema: 2", told)
        self.fail_with(2, "data", "index", root, *shlex.split(options), says="set that, too, or leave it out")

    def test_a_folder_with_a_commands_name_is_told(self):
        (self.folder / "data").mkdir()
        done = self.fail_with(2, "data", cwd=self.folder, says="chexbench ./data")
        self.assertIn("'data' is a command", done.stderr)

    def test_a_spec_without_config_says_how_it_runs(self):
        spec = self.spec()
        self.fail_with(2, spec, says=f"chexbench --config {spec}")

    def test_bad_options_are_told(self):
        self.fail_with(2, REAL_IMAGES, "--time", "0", says="--time")
        self.fail_with(2, REAL_IMAGES, "--tyme", "9", says="did you mean '--time'?")
        self.fail_with(2, REAL_IMAGES, "--format", "csv", says="--format")
        self.fail_with(2, REAL_IMAGES, "--gpu", "h20", says="did you mean 'h200'?")
        self.fail_with(2, REAL_IMAGES, "--set", "data.split=all", says="only data.layout")
        self.fail_with(2, "--format", "json", REAL_IMAGES, says=f"come after it: chexbench {REAL_IMAGES}")
        self.fail_with(2, REAL_IMAGES, "--config", "formats", says="unknown option '--config'")


class OnRanks(SystemTest):
    def test_ranks_share_the_work(self):
        for ranks in (1, 2):
            out = self.folder / f"out{ranks}"
            done = self.succeed(small_images(), *QUICK, "--format", "json", "--output", out, ranks=ranks)
            told = json.loads(done.stdout)
            self.assertEqual(told["ranks"], ranks)
            self.assertEqual(self.report(out)["trials"][0]["ranks"], ranks)

    def test_what_rank_0_finds_ends_all(self):
        self.fail_with(3, self.folder / "nowhere", says="no such folder", ranks=2)

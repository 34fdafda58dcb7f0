"""Data sets on a real NFS server (nfs-ganesha), read by a client within the process; and its failures."""

import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time

from harness import SystemTest, chunk, command_line, png, small_images
from nfs_server import NfsServer, Relay
from servers import free_port


def once(event, act):
    """Calls `act` the first time that `event` is true; never cuts."""
    lock = threading.Lock()
    left = [act]

    def watch(relay):
        with lock:
            if left and event(relay):
                left.pop()()
        return False
    return watch


def after(count):
    return lambda relay: relay.sent_bytes > count


class NfsTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.root = self.real_images()
        self.server = NfsServer(self.root)
        self.addCleanup(self.server.close)

    def url(self, port=None, export="export"):
        return f"nfs://127.0.0.1:{port or self.server.port}/{export}"

    def spec_of(self, url, data_format="images", **keys):
        return self.spec(data__root=url, data__format=data_format, measure__repeats=1, measure__warmup_steps=0,
                         measure__steps=9, **keys)

    def convert(self):
        self.succeed("data", "convert", self.root, "--split", "train")

    def measure(self, url, *arguments, **keys):
        out = self.folder / "out"
        self.succeed("--config", self.spec_of(url, *arguments, **keys), "--output", out)
        return self.report(out)["trials"][0]

    def refuse(self, url, says, *arguments, **keys):
        return self.fail_with(3, "--config", self.spec_of(url, *arguments, **keys), "--output", self.folder / "out",
                              says=says)


class GoodServer(NfsTest):
    def test_trains_on_images(self):
        trial = self.measure(self.url())
        self.assertEqual(trial["images"], 18)
        self.assertGreater(trial["file_bytes"], 1e6)

    def test_trains_on_shards_over_several_connections(self):
        self.convert()
        with Relay(self.server.port) as relay:
            trial = self.measure(self.url(relay.port), "tfrecord")
        self.assertEqual(trial["files"], 16)
        self.assertGreater(relay.connections, 2)

    def test_naive_trains_on_shards(self):
        self.convert()
        self.measure(self.url(), "tfrecord", pipeline="naive")

    def test_checks_and_counts_like_a_folder(self):
        self.convert()
        for verb in "index", "check":
            local, distant = (re.sub(r"in [0-9.]+ s\b", "in a while", " ".join(told.split())) for told in (
                self.succeed("data", verb, root).stdout.replace(str(root), "ROOT")
                for root in (self.root, self.url())))
            self.assertEqual(local, distant)

    def test_a_root_may_lie_below_the_export(self):
        below = self.root / "some" / "where"
        below.mkdir(parents=True)
        for entry in "images", "Data_Entry_2017.csv", "train_val_list.txt", "test_list.txt":
            (self.root / entry).rename(below / entry)
        self.assertEqual(self.measure(self.url(export="export/some/where"))["images"], 18)

    def test_doctor_tells_how_fast_it_is(self):
        self.convert()
        told = " ".join(self.succeed("doctor", "--data", self.url()).stdout.split())
        self.assertRegex(told, r"a server \(nfs\), first request .* MB of tfrecord/train-00000-of-00016 at \d")
        self.fail_with(3, "doctor", "--data", self.url(export="exprot"), says="no such export")

    def test_a_large_file_comes_whole(self):
        large = shutil.copytree(small_images(), self.root / "large")
        more = chunk(b"raNd", os.urandom(5 * 2**20))  # more than a stream asks for at once
        next((large / "images").iterdir()).write_bytes(png(64, 64, rows=bytes(64 * 65), extra=more))
        self.succeed("data", "convert", large, "--split", "all")
        largest = max(shard.stat().st_size for shard in (large / "tfrecord").glob("*-of-*"))
        self.assertGreater(largest, 5 * 2**20)
        self.succeed("data", "check", self.url(export="export/large"))

    def test_a_large_folder_is_listed_whole(self):
        many = self.root / "many"
        many.mkdir()
        for number in range(8000):  # whose listing takes several MB
            (many / f"{number:0220d}.png").touch()
        told = self.succeed("data", "index", "--explain", self.url(export="export/many"), "--format", "json").stdout
        self.assertEqual(json.loads(told)["files"], 8000)


class FailingServer(NfsTest):
    def test_a_connection_that_breaks_in_mid_object_is_replaced(self):
        cuts = []

        def cut_twice(relay):
            if relay.sent_bytes < 10**6 * (len(cuts) + 1) or len(cuts) == 2:
                return False
            cuts.append(relay.sent_bytes)
            return True
        self.convert()
        with Relay(self.server.port, cut_twice) as relay:
            self.measure(self.url(relay.port), "tfrecord")
        self.assertEqual(len(cuts), 2)

    def test_a_server_that_is_killed_in_mid_object_is_named_after_all_tries(self):
        self.convert()
        with Relay(self.server.port, once(after(10**6), self.server.stop)) as relay:
            self.refuse(self.url(relay.port), ["cannot read nfs://", "tfrecord/train-", "5 tries"], "tfrecord")

    def test_a_server_that_comes_back_is_asked_again(self):
        def restart():
            self.server.stop()
            self.server.start()
        with Relay(self.server.port, once(after(10**6), restart)) as relay:
            self.assertEqual(self.measure(self.url(relay.port), store__tries=8)["images"], 18)

    def test_a_server_that_says_nothing_ends_by_time_out(self):
        def stall(relay):
            if relay.sent_bytes > 10**6:
                time.sleep(8)
            return False
        with Relay(self.server.port, stall) as relay:
            self.refuse(self.url(relay.port), ["no answer for 1 s", "2 tries"], store__timeout_s=1, store__tries=2)

    def test_ctrl_c_ends_a_wait_at_once(self):
        stalled = threading.Event()

        def stall(relay):
            if relay.sent_bytes > 10**6:
                stalled.set()
                time.sleep(20)
            return False
        with Relay(self.server.port, stall) as relay:
            spec = self.spec_of(self.url(relay.port))
            run = subprocess.Popen(command_line(["--config", spec, "--output", self.folder / "out"]),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(run.kill)
            self.assertTrue(stalled.wait(30))
            run.send_signal(signal.SIGINT)
            self.assertEqual(run.wait(10), 130)

    def test_nobody_there(self):
        self.fail_with(3, "data", "index", self.url(free_port()), says=["no connection to 127.0.0.1:", "5 tries"])


class BadAccess(NfsTest):
    def test_an_export_that_is_not_there(self):
        self.refuse(self.url(export="exprot"), ["/exprot", "no such export or folder"])

    def test_an_empty_export(self):
        (self.root / "empty").mkdir()
        self.refuse(self.url(export="export/empty"), "no data set at")

    def test_a_link_is_named(self):
        outside = self.root.parent / "outside"
        (self.root / "images").rename(outside)
        (self.root / "images").symlink_to(outside)
        self.refuse(self.url(), "/export/images is left out")

    def test_images_beside_a_link_to_them_are_found(self):
        (self.root / "images").rename(self.root / "elsewhere")
        (self.root / "images").symlink_to("elsewhere")
        self.measure(self.url())

    def test_a_root_behind_a_link(self):
        (self.root / "link").symlink_to(".")
        self.refuse(self.url(export="export/link/images"), "/export/link/images")

    def test_a_root_without_an_export(self):
        self.refuse("nfs://127.0.0.1", "names no export")

    def test_a_file_that_may_not_be_read(self):
        for image in (self.root / "images").iterdir():
            image.chmod(0o600)
        self.refuse(self.url(export="nobody"), [".png", "ACCES"])

    def test_skipping_counts_what_may_not_be_read(self):
        next((self.root / "images").glob("00000001_000.png")).chmod(0o600)
        trial = self.measure(self.url(export="nobody"), data__on_bad_record="skip")
        self.assertGreater(trial["repeats"][0]["bad_records"], 0)


class ChangingFiles(NfsTest):
    def refuse_when(self, act, says):
        with Relay(self.server.port, once(after(3 * 10**5), act)) as relay:
            self.refuse(self.url(relay.port), ["changed under the run", *says])

    def test_a_file_that_grows(self):
        def grow():
            for image in (self.root / "images").iterdir():
                with open(image, "ab") as file:
                    file.write(b"x")
        self.refuse_when(grow, ["bytes and has"])

    def test_a_file_that_is_written_anew_with_its_size(self):
        def touch():
            for image in (self.root / "images").iterdir():
                os.utime(image, (10**9, 10**9))
        self.refuse_when(touch, ["and is 2001-09-09T01:46:40"])

"""Data sets over plain HTTP: the same batches as from a folder, and servers' errors."""

import email.utils
import os
import re
import time

from harness import SystemTest
from web_server import Server, Times, die_in_the_middle, hang_up, say


def is_shard(path, _):
    return "/tfrecord/train-" in path


def is_image(path, _):
    return path.endswith(".png")


class WebTest(SystemTest):
    def setUp(self):
        super().setUp()
        self.root = self.small_images()

    def convert(self):
        self.succeed("data", "convert", self.root, "--split", "train")

    def spec_of(self, server, **keys):
        return self.spec(data__root=server.url, measure__repeats=1, measure__warmup_steps=0, measure__steps=9, **keys)

    def measure(self, server, data_format, **keys):
        out = self.folder / f"out-{server.http.server_address[1]}"
        self.succeed("--config", self.spec_of(server, data__format=data_format, **keys), "--output", out)
        return self.rows(out)[0], self.report(out)


class GoodServer(WebTest):
    def test_trains_on_shards(self):
        self.convert()
        with Server(self.root) as server:
            row, _ = self.measure(server, "tfrecord")
        self.assertGreater(float(row["images_per_s"]), 0)
        self.assertTrue(any(is_shard(path, span) and span for path, span in server.requests))

    def test_trains_on_tar_files(self):
        self.succeed("data", "convert", self.root, "--split", "train", "--to", "webdataset")
        with Server(self.root) as server:
            row, _ = self.measure(server, "webdataset")
            self.succeed("data", "check", server.url)
        self.assertGreater(float(row["images_per_s"]), 0)
        self.assertTrue(any("/webdataset/train-0" in path and span for path, span in server.requests))

    def test_trains_on_images(self):
        with Server(self.root) as server:
            self.measure(server, "images")
        self.assertTrue(any(is_image(path, span) for path, span in server.requests))

    def test_naive_trains_on_both(self):
        self.convert()
        with Server(self.root) as server:
            self.measure(server, "images", pipeline="naive")
        with Server(self.root) as server:
            self.measure(server, "tfrecord", pipeline="naive")

    def test_checks_and_counts_like_a_folder(self):
        self.convert()
        self.succeed("data", "convert", self.root, "--split", "all", "--to", "cached", "--image-size", "32")
        local = self.succeed("data", "index", "--explain", self.root).stdout.replace(str(self.root), "ROOT")
        with Server(self.root) as server:
            distant = self.succeed("data", "index", "--explain", server.url).stdout.replace(server.url, "ROOT")
            self.succeed("data", "check", server.url)

        def counts(text):  # a web server's pages report no sizes
            return [line for line in text.splitlines() if not line.startswith(("file_bytes", "mean_file_bytes"))]
        self.assertEqual(counts(local), counts(distant))


class BadServer(WebTest):
    def refuse(self, misbehave, says, data_format="tfrecord", **keys):
        if data_format == "tfrecord":
            self.convert()
        with Server(self.root, misbehave) as server:
            spec = self.spec_of(server, data__format=data_format, **keys)
            return self.fail_with(3, "--config", spec, "--output", self.folder / "out", says=says)

    def test_failures_that_pass_are_tried_again(self):
        self.convert()
        for act in say(503), say(500), say(429, headers=[("Retry-After", "0")]), hang_up, die_in_the_middle:
            with self.subTest(act=act), Server(self.root, Times(2, is_shard, act)) as server:
                self.succeed("--config", self.spec_of(server, data__format="tfrecord"), "--output",
                             self.folder / f"out-{server.http.server_address[1]}")

    def test_a_server_that_throttles_is_asked_again_when_it_says(self):
        asked = []

        def throttle(handler):
            asked.append(time.monotonic())
            date = email.utils.formatdate(time.time() + 3, usegmt=True)
            say(429, headers=[("Retry-After", date if len(asked) == 1 else "1")])(handler)

        with Server(self.root, Times(2, lambda path, _: path.endswith("/00000001_000.png"), throttle)) as server:
            self.succeed("--config", self.spec_of(server), "--output", self.folder / "out")
        self.assertGreater(asked[1] - asked[0], 1.5)  # a date has whole seconds

    def test_a_file_that_is_not_there(self):
        self.refuse(Times(10**6, is_image, say(404)), ["404", ".png"], data_format="images")

    def test_skipping_counts_what_cannot_be_read(self):
        with Server(self.root, Times(1, is_image, say(404))) as server:
            spec = self.spec_of(server, data__on_bad_record="skip")
            self.succeed("--config", spec, "--output", self.folder / "out")
        repeat = self.report(self.folder / "out")["trials"][0]["repeats"][0]
        self.assertEqual(repeat["bad_records"], 1)

    def test_a_server_without_ranges(self):
        def whole(handler):
            del handler.headers["Range"]
            handler.serve()
        self.refuse(Times(10**6, is_shard, whole), "a server that knows ranges")

    def flip(self, name, data_format):
        """Answers for `name` with one byte changed in the middle, every time."""
        files = [path for path in self.root.rglob(name)]
        body = bytearray(files[0].read_bytes())
        body[len(body) // 2] ^= 1

        def act(handler):
            span = [int(number) for number in re.findall(r"\d+", handler.headers.get("Range", ""))]
            if span:
                handler.send_part(bytes(body[span[0]:span[1] + 1]), span[0], len(body))
            else:
                say(200, bytes(body))(handler)
        self.refuse(
            Times(10**6, lambda path, _: path.endswith(files[0].name), act), ["CRC", files[0].name], data_format
        )

    def test_an_image_with_a_wrong_checksum(self):
        self.flip("00000001_000.png", "images")

    def test_a_shard_with_a_wrong_checksum(self):
        self.convert()
        self.flip("train-00003-of-*", "tfrecord")

    def test_a_folder_that_may_not_be_listed(self):
        self.refuse(Times(10**6, lambda path, _: path == "/", say(403)), ["403", "index pages"], data_format="images")

    def test_an_empty_server(self):
        (self.folder / "empty").mkdir()
        with Server(self.folder / "empty") as server:
            self.fail_with(3, "data", "index", server.url, says="no data set at")

    def test_nobody_there(self):
        with Server(self.root) as server:
            pass
        self.fail_with(3, "data", "index", server.url, says=["cannot read " + server.url, "5 tries"])

    def test_a_proxy_that_cannot_be_used_does_not_tell_its_password(self):
        for proxy in ("http://me:pa#hunter2@proxy:3128", "http://me:hunter2@proxy:99999", "odd://me:hunter2@proxy:1"):
            done = self.fail_with(3, "data", "index", "http://127.0.0.1:1/x", "--set", "store.tries=1",
                                  says="cannot", env={**os.environ, "http_proxy": proxy, "no_proxy": ""})
            self.assertNotIn("hunter2", done.stdout + done.stderr)

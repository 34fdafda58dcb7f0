"""Servers that lie, drip, never end and lead elsewhere: each run ends soon, small, with its code and a clear message,
asks no other host and shows no secret. All cases run side by side, because most of them wait."""

import concurrent.futures
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
import unittest
from dataclasses import dataclass, field
from pathlib import Path

from harness import REAL_IMAGES, SANITIZED, command_line, run
from hostile_answers import (
    changing, cut, deep, drip, drip_headers, endless, endless_1xx, endless_error, endless_headers, error,
    failing_at_first, fast_enough_to_go_on, four_enormous_images, in_cycles, name_too_long, odd_names, outage,
    ranges, raw, redirect, SHARD, TABLE,
)
from hostile_server import FullListener, HostileServer, at, honest_s3, honest_web, make_certificate, send_part

SECRETS = "hunter2"  # part of every secret of these tests
MOST_S = 120 if SANITIZED else 20
MOST_RSS_MB = 4096 if SANITIZED else 400
AT_ONCE = 8


@dataclass
class Case:
    """`act(case)` gives the server's answers, `says` must be in stderr; `act` may set more of the case."""
    act: object
    says: object = ()
    code: int = 3
    store: str = "http"        # or https, s3
    verb: str = "index"        # or run, which reads ranges of shards; or stage
    most_warnings: int = 99    # lines of them
    set: dict = field(default_factory=dict)
    trusted: bool = True       # the certificate
    certificate: str = "good"
    requests: object = None    # how many the server must see
    elsewhere_sees: bool = False


def web(matches, act, says, **more):
    return Case(lambda hostile: at(matches, act, honest_web(hostile.root)), says, **more)


def s3(matches, act, says, **more):
    return Case(lambda hostile: at(matches, act, honest_s3(hostile.root)), says, store="s3", **more)


SLOW = {"store.timeout_s": "1", "store.tries": "1"}
SHORT = {"store.timeout_s": "0.1", "store.tries": "1"}
FOLLOW = {"store.redirects": "any"}
CASES = {
    "endless_index_page": web("/", endless(), "more than 67108864 bytes"),
    "endless_table": web(TABLE, endless(), ["more than 67108864 bytes", "Data_Entry_2017.csv"]),
    "endless_table_announced": web(TABLE, endless(f"Content-Length: {10**13}"), "more than 536870912 bytes"),
    "endless_chunks": web(TABLE, endless("Transfer-Encoding: chunked", piece=b"10000\r\n" + b"x" * 65536 + b"\r\n"),
                          "more than 67108864 bytes"),
    "endless_error": web(TABLE, endless_error, "404"),
    "entities": web("/", lambda exchange: exchange.answer(b'<a href="' + b"&amp;" * 2_000_000 + b'">'), "no data set"),
    "dripping_index_page": web("/", drip(), "too slow", set=SLOW),
    "dripping_table": web(TABLE, drip("Content-Length: 1000"), ["too slow", "Data_Entry_2017.csv"], set=SLOW),
    "dripping_error": web(TABLE, drip("Content-Length: 1000", status=404), "404", set=SLOW),
    "dripping_headers": web("/", drip_headers, "too slow", set=SLOW),
    "silence": web("/", lambda exchange: exchange.wait(), "too slow", set=SLOW),
    "whole_request": web(TABLE, fast_enough_to_go_on, "timed out after 15", set=SHORT),
    "redirect_to_a_file": Case(redirect(lambda _: "file:///etc/passwd"), "redirects to a file:// URL", requests=1),
    "redirect_to_another_port": Case(redirect(lambda hostile: hostile.elsewhere.url),
                                     ["redirects from http://127.0.0.1:", "store.redirects"], requests=1),
    "redirect_to_another_host": Case(redirect(lambda hostile: f"//localhost:{hostile.elsewhere.port}/", 301),
                                     ["http://localhost:", "store.redirects"], requests=1),
    "redirect_with_a_user": Case(
        redirect(lambda hostile: hostile.elsewhere.url.replace("//", "//me:hunter2-user@"), 307), "with a user",
        set=FOLLOW, requests=1),
    "redirect_in_a_loop": Case(redirect(lambda _: "/"), "redirects more than 5 times", requests=6),
    "redirect_of_a_table": Case(
        lambda hostile: at(TABLE, redirect(lambda one: one.elsewhere.url + "/x")(hostile), honest_web(hostile.root)),
        ["Data_Entry_2017.csv", "store.redirects"]),
    "redirect_that_is_allowed": Case(
        redirect(lambda hostile: f"http://localhost:{hostile.elsewhere.port}/"), "no data set", set=FOLLOW,
        elsewhere_sees=True),
    "redirect_from_https_to_http": Case(redirect(lambda hostile: hostile.elsewhere.url), "from https to http",
                                        store="https", set=FOLLOW, requests=1),
    "gzip": web(TABLE, lambda exchange: exchange.answer(b"\x1f\x8b", 200, "Content-Encoding: gzip"),
                "compressed (gzip)"),
    "reset_in_the_middle": web(TABLE, cut, ["2 tries", "Data_Entry_2017.csv"], set={"store.tries": "2"}),
    "less_than_nothing": web(TABLE, raw(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"), "Content-Length", set=SLOW),
    "no_http": web("/", raw(b"SSH-2.0-OpenSSH_9.6\r\n"), "cannot read"),
    "endless_headers": web("/", endless_headers, "bytes of headers"),
    "one_long_header": web("/", raw(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 2_000_000), "cannot read"),
    "endless_1xx": web("/", endless_1xx, "bytes of headers"),
    "control_characters_in_a_status": web("/", raw(b"HTTP/1.1 500 \x1b[2J\r\nContent-Length: 0\r\n\r\n"), "says 500",
                                          set=SLOW),
    "names": web("/images/", odd_names, ["3 of its names left out", "\\x1B[2Jx.png"], code=0),
    "certificate_of_another_host": Case(lambda hostile: honest_web(hostile.root), "certificate", store="https",
                                        certificate="other", requests=0),
    "certificate_that_expired": Case(lambda hostile: honest_web(hostile.root), "certificate", store="https",
                                     certificate="expired", requests=0),
    "certificate_of_nobody": Case(lambda hostile: honest_web(hostile.root), "certificate", store="https",
                                  trusted=False, requests=0),
    "retries": Case(failing_at_first, ["warning: ", "the server says 503; try 2 of 5", "2 more retries"], code=0),
    "outage": Case(outage, ["the server says 503; try 2 of 5", "more retries"], code=0, verb="stage", most_warnings=4),
    "stage_of_more_than_the_disk": Case(four_enormous_images, "not enough room", code=6, verb="stage"),
    "stage_of_a_name_too_long": Case(lambda _: name_too_long, "File name too long", code=6, verb="stage"),
    "range_of_other_bytes": web(SHARD, ranges(lambda n: n, lambda first, last:
                                              f"bytes {first + 1}-{last + 1}/99999999"), "asked for bytes", verb="run"),
    "range_of_escapes": web(SHARD, ranges(lambda n: n, lambda *_: "bytes \x1b[2J" + "x" * 10_000), "\\x1B[2J",
                            verb="run"),
    "range_that_is_longer": web(SHARD, ranges(lambda n: n + 10**6, lambda first, last:
                                              f"bytes {first}-{last}/{last + 1}"), "more bytes", verb="run"),
    "range_that_is_shorter": web(SHARD, ranges(lambda n: n // 2, lambda first, last:
                                               f"bytes {first}-{last}/{last + 1}"), "sends", verb="run"),
    "range_that_drips": web(SHARD, lambda exchange: drip(f"Content-Range: bytes 0-{exchange.range[1]}/99999999",
                                                         status=206)(exchange) if exchange.range else
                            exchange.answer(b"x" * 10**6), "too slow", verb="run", set=SLOW),
    "version_that_changes": Case(changing, ["changed under the run", "\\x1B[2J"], verb="run"),
    "s3_listing_in_a_cycle": s3("?", in_cycles, "repeats what it has already sent"),
    "s3_endless_listing_page": s3("?", endless(), "more than 16777216 bytes"),
    "s3_deep_listing": s3("?", deep, "cut or damaged"),
    "s3_dripping_listing": s3("?", drip(), "too slow", set=SLOW),
    "s3_redirect": Case(redirect(lambda hostile: hostile.elsewhere.url, 307), "the server says 307", store="s3"),
    "s3_error_with_escapes": s3("?", error("No\x1b[2J"), "the server says 403"),
    "s3_error_with_a_key": s3("?", error("hunter2token"), "the server says 403"),
    "s3_longer_object": s3(TABLE, endless('ETag: "1"'), "and the server sends more now"),
    "s3_shorter_object": s3(TABLE, lambda exchange: exchange.answer(b"x", 200, 'ETag: "1"'), "has 1 now"),
    "s3_other_version": s3(TABLE, lambda exchange: send_part(exchange, (REAL_IMAGES / TABLE[1:]).read_bytes(),
                                                             'ETag: "2"'), "its version was"),
}


class Hostile:
    """The setup of one case: its server, a second one that must not be asked, and a folder with secrets that stay
    there."""

    def __init__(self, name, case, shared):
        self.name, self.case = name, case
        self.root = shared / "nih"
        self.shared, self.folder = shared, shared / "cases" / name
        self.folder.mkdir(parents=True)
        self.elsewhere = HostileServer(lambda exchange: exchange.answer(b"nothing here"))

    def environment(self, server):
        trusted = self.shared / self.case.certificate / "made"
        proxy = "http://me:hunter2-proxy@127.0.0.1:9"
        return {**os.environ, "HOME": str(self.shared / "home"), "AWS_ENDPOINT_URL": server.url,
                "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "hunter2-secret",
                "AWS_SESSION_TOKEN": "hunter2token", "http_proxy": proxy, "https_proxy": proxy, "no_proxy": "*",
                "CURL_CA_BUNDLE": "", "AWS_CA_BUNDLE": "",
                "SSL_CERT_FILE": str(trusted if self.case.trusted else self.shared / "third" / "made")}

    def arguments(self, server):
        root = "s3://bucket/set" if self.case.store == "s3" else server.url
        keys = [argument for key, value in self.case.set.items() for argument in ("--set", f"{key}={value}")]
        if self.case.verb == "index":
            return ["data", "index", root, *keys]
        if self.case.verb == "stage":
            return ["data", "stage", root, self.folder / "staged", "--split", "all", *keys]
        spec = {"experiment": "hostile", "data": {"root": root, "format": "tfrecord"}, "engine": "none",
                "measure": {"warmup_steps": 0, "steps": 3, "repeats": 1, "extra_repeats": 0}}
        (self.folder / "spec.json").write_text(json.dumps(spec))
        return ["--config", self.folder / "spec.json", "--output", self.folder / "out", *keys]

    def run(self):
        """Complaints: none if all is as it should be."""
        tls = self.shared / self.case.certificate / "both.pem" if self.case.store == "https" else None
        with self.elsewhere, HostileServer(self.case.act(self), tls) as server:
            begin = time.monotonic()
            status, rss_mb = self.run_child(self.arguments(server), self.environment(server))
            wall_s = time.monotonic() - begin
        return list(self.complaints(server, status, rss_mb, wall_s))

    def run_child(self, arguments, environment):
        with open(self.folder / "stdout", "w") as out, open(self.folder / "stderr", "w") as err:
            child = subprocess.Popen(command_line(arguments), stdout=out, stderr=err, env=environment)
        timer = threading.Timer(MOST_S, child.kill)
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        return child.returncode, usage.ru_maxrss / 1024

    def complaints(self, server, code, rss_mb, wall_s):
        case, told = self.case, (self.folder / "stderr").read_text(errors="replace")
        if code != case.code:
            yield f"code {code} after {wall_s:.1f} s: {told[-1000:]}"
        for text in [case.says] if isinstance(case.says, str) else case.says:
            if text not in told:
                yield f"{text!r} is not in {told[-1000:]}"
        if told.count("warning: ") > case.most_warnings:
            yield f"more than {case.most_warnings} warnings: {told}"
        if rss_mb > MOST_RSS_MB:
            yield f"{rss_mb:.0f} MB"
        if case.requests is not None and len(server.heads) != case.requests:
            yield f"{len(server.heads)} requests: {server.heads[:9]}"
        if bool(self.elsewhere.connections) != case.elsewhere_sees:
            yield f"another host saw {self.elsewhere.heads}"
        for head in self.elsewhere.heads:
            if "authorization" in head.lower():
                yield f"a password went elsewhere: {head}"
        for file in filter(Path.is_file, self.folder.rglob("*")):
            text = file.read_bytes()
            if SECRETS.encode() in text or b"\x1b" in text and file.suffix != ".png":
                yield f"a secret or an escape sequence in {file.name}: {text[-1000:]}"


class HostileNetwork(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shared = Path(tempfile.mkdtemp(prefix="chexbench-hostile-"))
        cls.addClassCleanup(shutil.rmtree, shared, ignore_errors=True)
        shutil.copytree(REAL_IMAGES, shared / "nih")
        run("data", "convert", shared / "nih", "--split", "train", check=True)
        make_certificate(shared / "good")
        make_certificate(shared / "third")
        make_certificate(shared / "other", "DNS:else.where")
        make_certificate(shared / "expired", days=("20200101000000Z", "20200201000000Z"))
        (shared / "home").mkdir()
        (shared / "home/.netrc").write_text("".join(
            f"machine {host} login me password hunter2-{host}\n" for host in ("127.0.0.1", "localhost")))
        (shared / "home/.netrc").chmod(0o600)
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            cls.complaints = {name: pool.submit(Hostile(name, case, shared).run) for name, case in CASES.items()}


def add_case(name):
    def test(self):
        self.assertEqual(self.complaints[name].result(), [])
    setattr(HostileNetwork, f"test_{name}", test)


for case_name in CASES:
    add_case(case_name)


class Limits(unittest.TestCase):
    def refuse(self, code, says, url="http://127.0.0.1:1/x", environment=(), **keys):
        options = [argument for key, value in keys.items() for argument in ("--set", f"store.{key}={value}")]
        done = run("data", "index", url, *options, env={**os.environ, **dict(environment)})
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(says, done.stderr)
        self.assertNotIn(SECRETS, done.stdout + done.stderr)

    def test_a_port_that_never_accepts(self):
        full = FullListener()
        self.addCleanup(full.close)
        begin = time.monotonic()
        self.refuse(3, "cannot read", f"http://127.0.0.1:{full.port}/", timeout_s=1, tries=1)
        self.assertLess(time.monotonic() - begin, MOST_S)

    def test_times_that_no_clock_can_wait_for_are_refused(self):
        self.refuse(2, "store.timeout_s", timeout_s="1e300")
        for key in ("latency_ms", "jitter_ms"):
            self.refuse(2, f"store.shape.{key}", **{f"shape.{key}": "1e300"})
        for key in ("iops", "bandwidth_mb_per_s"):
            self.refuse(2, f"store.shape.{key}", **{f"shape.{key}": "1e-300"})

    def test_a_proxy_that_is_no_url_does_not_tell_its_password(self):
        for proxy in ("http://me:hunter2", "me:hunter2", "http://hunter2", "http://:hunter2@", "hunter2://x",
                      "http://me:hunter2/", "socks5://hunter2:x", "http://me%40hunter2:80"):
            self.refuse(3, "http_proxy sets a proxy", tries=1, environment={"http_proxy": proxy, "no_proxy": ""})

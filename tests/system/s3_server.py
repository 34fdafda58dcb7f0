"""SeaweedFS's S3 gateway for tests, and the little of S3's protocol that filling it needs."""

import datetime
import functools
import hashlib
import hmac
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import quote

from harness import ROOT

WEED = Path(os.environ.get("CHEXBENCH_BUILD", ROOT / "build/release")).parent / "servers/seaweedfs/bin/weed"
KEY, SECRET = "tester", "hunter2-is-the-secret"
READER, READER_SECRET = "reader", "hunter2-of-another-bucket"
# Its gRPC ports are these plus 10000.
PORTS_FROM = 19300


# Of the program in the wheel that scripts/requirements/setup.txt pins.
WEED_SHA256 = "8dc07b173ff9ad6068a601213174f6009cf7e66684e88d87f0fa20da3dbff876"


def check_weed(path, expected=WEED_SHA256):
    """A downloaded server is run only if it is the one that was pinned."""
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256") if hasattr(hashlib, "file_digest") else hashlib.sha256(file.read())
    if found.hexdigest() != expected:
        raise RuntimeError(f"{path} is not the server that is pinned: its SHA-256 is {found.hexdigest()}, not "
                           f"{expected}. Remove its folder and run scripts/setup servers")


@functools.cache
def find_weed():
    """The server of scripts/setup, or one that this machine's owner installed."""
    if WEED.exists():
        check_weed(WEED)
        return str(WEED)
    found = shutil.which("weed")
    if not found:
        raise unittest.SkipTest("no SeaweedFS here: scripts/setup servers brings it")
    return found


def free_ports(count):
    ports = []
    for port in range(PORTS_FROM, PORTS_FROM + 2000):
        with socket.socket() as one, socket.socket() as grpc:
            try:
                one.bind(("127.0.0.1", port))
                grpc.bind(("127.0.0.1", port + 10000))
                ports.append(port)
            except OSError:
                continue
        if len(ports) == count:
            return ports
    raise RuntimeError("no free ports")


class S3Server:
    """Starts the server; url, put(), environment of its user. stop() ends it at once."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="chexbench-s3-"))
        master, volume, filer, s3 = free_ports(4)
        self.url = f"http://127.0.0.1:{s3}"
        identities = [{"name": KEY, "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
                       "actions": ["Admin", "Read", "Write", "List"]},
                      {"name": READER, "credentials": [{"accessKey": READER, "secretKey": READER_SECRET}],
                       "actions": ["Read:elsewhere", "List:elsewhere"]}]
        config = self.folder / "s3.json"
        config.write_text(json.dumps({"identities": identities}))
        (self.folder / "data").mkdir()
        self.process = subprocess.Popen(
            [find_weed(), "server", f"-dir={self.folder / 'data'}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
             f"-master.port={master}", f"-volume.port={volume}", f"-filer.port={filer}",
             "-master.volumeSizeLimitMB=256", "-volume.max=20", "-s3",
             "-s3.domainName=localhost", "-s3.port.iceberg=0", "-s3.port.lance=0", f"-s3.port={s3}",
             f"-s3.config={config}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
        self.wait()

    def wait(self):
        """Until a bucket can be made and written to."""
        deadline = time.monotonic() + 60
        while True:
            try:
                self.put("nih", None)
                self.put("nih/ready", b"ready")
                self.ask("DELETE", "nih/ready")
                return
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    self.stop()
                    raise
                time.sleep(0.2)

    def stop(self):
        self.process.kill()  # it takes 27 s to end by itself
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def environment(self):
        return environment_of(KEY, SECRET)

    def put(self, path, body):
        self.ask("PUT", path, body or b"")

    def put_folder(self, folder, prefix):
        for file in sorted(Path(folder).rglob("*")):
            if file.is_file():
                self.put(f"{prefix}/{file.relative_to(folder)}", file.read_bytes())

    def ask(self, method, path, body=b""):
        """A signed request (AWS Signature Version 4)."""
        now = datetime.datetime.now(datetime.timezone.utc)
        day, stamp = now.strftime("%Y%m%d"), now.strftime("%Y%m%dT%H%M%SZ")
        host, digest = self.url.removeprefix("http://"), hashlib.sha256(body).hexdigest()
        names, scope = "host;x-amz-content-sha256;x-amz-date", f"{day}/us-east-1/s3/aws4_request"
        signed = f"host:{host}\nx-amz-content-sha256:{digest}\nx-amz-date:{stamp}\n"
        request = f"{method}\n/{quote(path)}\n\n{signed}\n{names}\n{digest}"
        text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
        key = f"AWS4{SECRET}".encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        headers = {
            "x-amz-content-sha256": digest,
            "x-amz-date": stamp,
            "Authorization": f"AWS4-HMAC-SHA256 Credential={KEY}/{scope},SignedHeaders={names},Signature={signature}",
        }
        asked = urllib.request.Request(f"{self.url}/{quote(path)}", data=body if method == "PUT" else None,
                                       headers=headers, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(asked, timeout=30) as answer:
            return answer.read()


def environment_of(key, secret, **more):
    """The variables that a user of the store exports, without any other AWS variables set here."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {**plain, "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "HOME": "/nowhere", **more}

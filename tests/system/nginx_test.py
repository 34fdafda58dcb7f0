"""Data sets behind a real web server: nginx with autoindex, ranges and kept connections."""

import os
import shutil
import subprocess
import unittest

from harness import SystemTest
from servers import await_server, free_port

CONFIGURATION = """
daemon off;
master_process off;
pid {place}/pid;
error_log {place}/error.log;
events {{ worker_connections 256; }}
http {{
  client_body_temp_path {place}/body; proxy_temp_path {place}/proxy; fastcgi_temp_path {place}/fastcgi;
  uwsgi_temp_path {place}/uwsgi; scgi_temp_path {place}/scgi;
  log_format connections '$connection $status $request_method $uri';
  access_log {place}/access.log connections;
  default_type application/octet-stream;
  server {{
    listen 127.0.0.1:{port} {listen};
    root {root};
    location / {{ autoindex on; {extra} }}
    location /hidden/ {{ autoindex off; }}
    location /busy/ {{ return 503; }}
  }}
}}
"""


class Nginx:
    def __init__(self, place, root, extra="", listen=""):
        program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
        if not program:
            raise unittest.SkipTest("no nginx here: scripts/setup servers brings it")
        place.mkdir()
        self.place, self.port = place, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        (place / "conf").write_text(
            CONFIGURATION.format(place=place, port=self.port, root=root, extra=extra, listen=listen)
        )
        self.process = subprocess.Popen([program, "-c", place / "conf", "-p", place, "-e", place / "error.log"])
        await_server(self.process, self.port, place / "error.log")

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def requests(self):
        """(number of the connection, status, method, path) of all that were answered."""
        return [line.split(" ", 3) for line in (self.place / "access.log").read_text().splitlines()]


class NginxTest(SystemTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        self.root = self.small_images()

    def serve(self, extra="", listen=""):
        server = Nginx(self.folder / "nginx", self.root, extra, listen)
        self.addCleanup(server.stop)
        return server

    def measure(self, root, data_format="images", **keys):
        spec = self.spec(data__root=root, data__format=data_format, measure__repeats=1, measure__warmup_steps=0,
                         measure__steps=9, **keys)
        out = self.folder / "out"
        self.succeed("--config", spec, "--output", out)
        return self.report(out)["trials"][0]

    def refuse(self, root, says, **keys):
        self.fail_with(3, "--config", self.spec(data__root=root, **keys), "--output", self.folder / "out", says=says)

    def test_trains_on_images_over_connections_that_are_kept(self):
        server = self.serve()
        self.assertEqual(self.measure(server.url)["images"], 18)
        answered = [line for line in server.requests() if line[3].endswith(".png")]
        self.assertGreaterEqual(len(answered), 18)
        self.assertLess(len({line[0] for line in answered}), len(answered) / 1.5)

    def test_trains_on_ranges_of_shards(self):
        self.succeed("data", "convert", self.root, "--split", "train")
        server = self.serve()
        self.measure(server.url, "tfrecord")
        shards = [line for line in server.requests() if "-of-" in line[3] and line[2] == "GET"]
        self.assertEqual({line[1] for line in shards}, {"206"})
        self.succeed("data", "check", server.url)

    def test_a_root_may_be_a_folder_of_the_server_with_odd_names(self):
        odd = self.root / "a folder & more"
        odd.mkdir()
        for entry in "images", "Data_Entry_2017.csv", "train_val_list.txt", "test_list.txt":
            (self.root / entry).rename(odd / entry)
        self.assertEqual(self.measure(f"{self.serve().url}/a%20folder%20&%20more")["images"], 18)

    def test_doctor_tells_how_fast_it_is(self):
        told = " ".join(self.succeed("doctor", "--data", self.serve().url).stdout.split())
        self.assertRegex(told, r"a server \(http\), first request .* MB of images/00000001_000.png at \d")

    def test_counts_like_a_folder(self):
        server = self.serve()
        local, distant = (
            self.succeed("data", "index", "--explain", root).stdout.replace(str(root), "ROOT").splitlines()
            for root in (self.root, server.url))
        def counts(lines):  # its pages round sizes
            return [line for line in lines if not line.startswith(("file_bytes", "mean_file_bytes"))]
        self.assertEqual(counts(local), counts(distant))

    def test_a_server_that_keeps_no_connection_serves_as_well(self):
        server = self.serve("keepalive_timeout 0;")
        self.measure(server.url)
        answered = [line for line in server.requests() if line[3].endswith(".png")]
        self.assertEqual(len({line[0] for line in answered}), len(answered))

    def test_https_is_read_where_its_certificate_is_trusted(self):
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        self.ends_with(0, "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out",
                       certificate, "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
        server = self.serve(
            f"}} ssl_certificate {certificate}; ssl_certificate_key {key}; location /x/ {{", listen="ssl"
        )
        url = server.url.replace("http:", "https:")
        others = {name: value for name, value in os.environ.items() if name not in ("AWS_CA_BUNDLE", "CURL_CA_BUNDLE")}
        trusting = {**others, "SSL_CERT_FILE": str(certificate)}
        self.assertIn("images: 24", self.succeed("data", "index", "--explain", url, env=trusting).stdout)
        done = self.fail_with(3, "data", "index", url, says=["cannot read https://", "certificate"])
        self.assertNotIn("tries", done.stderr)

    def test_a_server_that_may_not_send_ranges_is_named(self):
        self.succeed("data", "convert", self.root, "--split", "train")
        self.refuse(self.serve("max_ranges 0;").url, "a server that knows ranges", data__format="tfrecord")

    def test_a_folder_without_an_index_page(self):
        (self.root / "hidden").mkdir()
        self.refuse(f"{self.serve().url}/hidden", ["403", "autoindex on"])

    def test_a_folder_that_is_not_there(self):
        self.refuse(f"{self.serve().url}/nothing", "no data set at")

    def test_a_server_that_is_busy_for_good(self):
        self.refuse(f"{self.serve().url}/busy", ["503", "2 tries"], store__tries=2)

"""A server over raw sockets that misbehaves like no honest one, and records everything sent to it."""

import re
import socket
import ssl
import subprocess
import threading
import time
from html import escape
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit


class Exchange:
    """One request and the connection that it came over, which closes after the answer."""

    def __init__(self, connection, head, stopping):
        self.connection, self.head, self.stopping = connection, head, stopping
        self.method, target = (head.split(" ", 2) + ["", ""])[:2]
        self.path, self.query = unquote(urlsplit(target).path), parse_qs(urlsplit(target).query)
        span = re.search(r"(?i)^range: bytes=(\d+)-(\d+)", head, re.MULTILINE)
        self.range = tuple(map(int, span.groups())) if span else None

    def send(self, data):
        self.connection.sendall(data)

    def begin(self, status=200, *headers):
        lines = (f"HTTP/1.1 {status} -", "Connection: close", *headers, "")
        self.send("".join(f"{line}\r\n" for line in lines).encode())

    def answer(self, body, status=200, *headers):
        self.begin(status, f"Content-Length: {len(body)}", *headers)
        if self.method != "HEAD":
            self.send(body)

    def repeat(self, piece, pause_s=0.0):
        """Sends the piece until the client has had enough."""
        while not self.stopping.wait(pause_s) if pause_s else not self.stopping.is_set():
            self.send(piece)

    def wait(self):
        """Until the client hangs up."""
        self.connection.settimeout(0.05)
        while not self.stopping.is_set():
            try:
                if not self.connection.recv(1):
                    return
            except socket.timeout:
                continue


class HostileServer:
    """with HostileServer(act) as server: `act(exchange)` answers each request. server.heads are those of all requests,
    server.connections counts those that were opened. `tls` is the path of a key and certificate."""

    def __init__(self, act, tls=None):
        self.act, self.heads, self.connections = act, [], 0
        self.stopping = threading.Event()
        self.tls = None
        if tls:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(tls)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.listener.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            connection.settimeout(30)
            if self.tls:
                connection = self.tls.wrap_socket(connection, server_side=True)
            head = b""
            while b"\r\n\r\n" not in head:
                piece = connection.recv(65536)
                if not piece:
                    return
                head += piece
            self.heads.append(head.decode("latin1"))
            self.act(Exchange(connection, self.heads[-1], self.stopping))
        except OSError:  # the client has had enough, or does not trust the certificate
            pass
        finally:
            connection.close()


class FullListener:
    """A port whose connections are never accepted, so that the kernel answers no further one."""

    def __init__(self):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(0)
        self.port = self.listener.getsockname()[1]
        self.waiting = []
        for _ in range(4):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", self.port))
            self.waiting.append(one)
        time.sleep(0.05)

    def close(self):
        for one in [*self.waiting, self.listener]:
            one.close()


def links(names):
    return "".join(f'<a href="{escape(quote(name))}">x</a>\n' for name in names).encode()


def honest_web(root):
    """The files of a folder, with index pages and ranges."""
    def act(exchange):
        path = Path(str(root) + exchange.path)
        if path.is_dir():
            exchange.answer(links(entry.name + "/" * entry.is_dir() for entry in sorted(path.iterdir())))
        elif not path.is_file():
            exchange.answer(b"", 404)
        else:
            send_part(exchange, path.read_bytes())
    return act


def send_part(exchange, body, *headers):
    if not exchange.range:
        exchange.answer(body, 200, *headers)
        return
    first, last = exchange.range[0], min(exchange.range[1], len(body) - 1)
    exchange.answer(body[first:last + 1], 206, f"Content-Range: bytes {first}-{last}/{len(body)}", *headers)


def listing_of(root, prefix, etag='"1"'):
    """An answer to ListObjectsV2 for /bucket/set/, which is the folder `root`."""
    inner = Path(root) / prefix.removeprefix("set").strip("/")
    entries = ""
    for entry in sorted(inner.iterdir()) if inner.is_dir() else []:
        if entry.is_dir():
            entries += f"<CommonPrefixes><Prefix>{prefix}{entry.name}/</Prefix></CommonPrefixes>"
        else:
            entries += (f"<Contents><Key>{prefix}{entry.name}</Key><Size>{entry.stat().st_size}</Size>"
                        f"<ETag>{escape(etag)}</ETag></Contents>")
    return f"<ListBucketResult><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>".encode()


def honest_s3(root):
    """The folder as s3://bucket/set."""
    def act(exchange):
        if "list-type" in exchange.query:
            exchange.answer(listing_of(root, exchange.query["prefix"][0]))
        else:
            path = Path(root) / exchange.path.removeprefix("/bucket/set/")
            send_part(exchange, path.read_bytes(), 'ETag: "1"')
    return act


def at(matches, act, otherwise):
    """Answers requests whose path ends with `matches` (a listing: "?") by `act`, and the others by `otherwise`."""
    def either(exchange):
        is_meant = "list-type" in exchange.query if matches == "?" else exchange.path.endswith(matches)
        (act if is_meant else otherwise)(exchange)
    return either


CA_CONFIGURATION = """
[ca]
default_ca = one
[one]
new_certs_dir = {folder}
database = {folder}/index
serial = {folder}/serial
default_md = sha256
policy = any
x509_extensions = names
[any]
commonName = supplied
[names]
subjectAltName = {names}
"""


def make_certificate(folder, names="IP:127.0.0.1", days=("20200101000000Z", "20991231000000Z")):
    """The path of a key and its certificate, signed by itself, in one file."""
    folder.mkdir()
    key, request, made = folder / "key", folder / "request", folder / "made"
    (folder / "index").touch()
    (folder / "serial").write_text("01")
    (folder / "configuration").write_text(CA_CONFIGURATION.format(folder=folder, names=names))

    def openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
            "-out", request, "-subj", "/CN=test")
    openssl("ca", "-batch", "-selfsign", "-config", folder / "configuration", "-keyfile", key, "-in", request,
            "-out", made, "-startdate", days[0], "-enddate", days[1], "-notext")
    both = folder / "both.pem"
    both.write_text(key.read_text() + made.read_text())
    return both

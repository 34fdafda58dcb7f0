"""Servers of the storage tests: a folder over HTTP with ranges, and servers that misbehave on purpose."""

import re
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class FolderHandler(SimpleHTTPRequestHandler):
    """Python's own file server (index pages, Last-Modified), and ranges, which it lacks."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.requests.append((self.path, self.headers.get("Range")))
        self.server.authorizations.append(self.headers.get("Authorization"))
        if not self.server.misbehave(self):
            self.serve()

    def serve(self):
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not wanted:
            super().do_GET()
            return
        with open(self.translate_path(self.path), "rb") as file:
            first, last = map(int, wanted.groups())
            size = file.seek(0, 2)
            file.seek(first)
            part = file.read(min(last, size - 1) - first + 1)
        self.send_part(part, first, size)

    def send_part(self, part, first, size, headers=()):
        self.send_response(206)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Content-Range", f"bytes {first}-{first + len(part) - 1}/{size}")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(part)


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        """Clients hang up when they have seen enough."""


class Server:
    """with Server(folder) as server: server.url. `misbehave(handler)` may answer a GET itself and return True."""

    def __init__(self, folder, misbehave=lambda _: False, handler=FolderHandler):
        self.http = QuietServer(("127.0.0.1", 0), lambda *a: handler(*a, directory=str(folder)))
        self.http.misbehave = misbehave
        self.http.requests = []
        self.http.authorizations = []
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    @property
    def requests(self):
        return self.http.requests

    def __enter__(self):
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()


class Times:
    """Misbehaves the first `count` times that `matches(path, range)` is true, by calling `act(handler)`."""

    def __init__(self, count, matches, act):
        self.left, self.matches, self.act = count, matches, act
        self.lock = threading.Lock()

    def __call__(self, handler):
        with self.lock:
            if self.left <= 0 or not self.matches(handler.path, handler.headers.get("Range")):
                return False
            self.left -= 1
        self.act(handler)
        return True


def say(status, body=b"", headers=()):
    def act(handler):
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)
    return act


def hang_up(handler):
    """A reset in the place of an answer."""
    handler.close_connection = True


def die_in_the_middle(handler):
    """Half of the requested and announced bytes, then the end."""
    path = Path(handler.translate_path(handler.path))
    first, last = map(int, re.findall(r"\d+", handler.headers.get("Range", f"0-{path.stat().st_size - 1}")))
    part = path.read_bytes()[first:last + 1]
    handler.send_response(206 if "Range" in handler.headers else 200)
    handler.send_header("Content-Length", str(len(part)))
    handler.send_header("Content-Range", f"bytes {first}-{last}/{path.stat().st_size}")
    handler.end_headers()
    handler.wfile.write(part[:len(part) // 2])
    handler.close_connection = True

"""nfs-ganesha for tests, and a relay in front of it that can fail."""

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

from servers import await_server, free_port

RUN_FOLDER = Path("/var/run/ganesha")  # the server needs it, regardless of its configuration

CONFIGURATION = """
NFS_CORE_PARAM {{ Protocols = 4; NFS_Port = {port}; Bind_addr = 127.0.0.1; Enable_NLM = false; Enable_RQUOTA = false; }}
NFSv4 {{ Graceless = true; }}
NFS_KRB5 {{ Active_krb5 = false; }}
EXPORT {{ Export_Id = 1; Path = {folder}; Pseudo = /export; Protocols = 4; Transports = TCP; SecType = sys;
         Access_Type = RO; Attr_Expiration_Time = 0; Squash = None; FSAL {{ Name = VFS; }} }}
EXPORT {{ Export_Id = 2; Path = {folder}; Pseudo = /nobody; Protocols = 4; Transports = TCP; SecType = sys;
         Access_Type = RO; Squash = All; Anonymous_uid = 65534; Anonymous_gid = 65534; FSAL {{ Name = VFS; }} }}
"""


class NfsServer:
    """Exports a folder as /export, and as /nobody to users without rights. start() after stop() has the same port."""

    def __init__(self, folder):
        if not shutil.which("ganesha.nfsd"):
            raise unittest.SkipTest("no nfs-ganesha here: scripts/setup servers brings it")
        if os.geteuid() != 0:
            raise unittest.SkipTest("nfs-ganesha exports folders for root alone")
        RUN_FOLDER.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.place = Path(tempfile.mkdtemp(prefix="chexbench-nfs-"))
        (self.place / "conf").write_text(CONFIGURATION.format(port=self.port, folder=folder))
        self.process = None
        self.start()

    def start(self):
        """Until it answers."""
        self.process = subprocess.Popen(
            ["ganesha.nfsd", "-F", "-f", self.place / "conf", "-L", self.place / "log", "-p", self.place / "pid"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        await_server(self.process, self.port, self.place / "log")

    def stop(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.stop()
        shutil.rmtree(self.place, ignore_errors=True)


class Relay:
    """with Relay(port) as relay: relay.port. `watch(relay)` is called at each piece that the server sends; where it
    returns True, both connections are cut instead of handing the piece on."""

    def __init__(self, port, watch=lambda _: False):
        self.target, self.watch = port, watch
        self.sent_bytes = 0
        self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:  # no server is there
                client.close()
                continue
            self.connections += 1
            for source, sink, watch in (client, server, lambda _: False), (server, client, self.watch):
                threading.Thread(target=self.pump, args=(source, sink, watch), daemon=True).start()

    def pump(self, source, sink, watch):
        try:
            while piece := source.recv(1 << 18):
                if watch is self.watch:
                    self.sent_bytes += len(piece)
                if watch(self):
                    break
                sink.sendall(piece)
        except OSError:
            pass
        for one in source, sink:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()

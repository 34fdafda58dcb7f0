"""Two hosts on one: network namespaces with a wire of a given speed between them. Needs root; see two_hosts()."""

import contextlib
import os
import shutil
import subprocess
import time
import unittest
from pathlib import Path

from harness import BINARY, run_program, write_program

INTERFACE = "eth0"
ADDRESSES = ("10.77.0.1", "10.77.0.2")

# mpirun calls it as it would ssh: options, the host, the command.
LAUNCHER = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
case "$1" in
  10.77.0.1) host=%s ;;
  *) host=%s ;;
esac
shift
exec ip netns exec "$host" sh -c "$*"
"""


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


class TwoHosts:
    def __init__(self, folder, megabits_per_s):
        self.names = tuple(f"chexbench-{os.getpid()}-{i}" for i in range(2))
        self.launcher = write_program(folder / "launcher", LAUNCHER % self.names)
        self.megabits_per_s = megabits_per_s

    def build(self):
        for name in self.names:
            ip("netns", "add", name)
        first, second = self.names
        ip("-n", first, "link", "add", INTERFACE, "type", "veth", "peer", "name", INTERFACE, "netns", second)
        for name, address in zip(self.names, ADDRESSES):
            ip("-n", name, "address", "add", f"{address}/24", "dev", INTERFACE)
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", INTERFACE, "up")
            subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", INTERFACE, "root", "tbf", "rate",
                            f"{self.megabits_per_s}mbit", "burst", "256kb", "latency", "50ms"],
                           check=True, capture_output=True, text=True)

        give_up = time.monotonic() + 10
        while any(self.look(name, "operstate") != "up" for name in self.names):  # a second later, at times
            if time.monotonic() > give_up:
                raise RuntimeError("the wire between the two hosts does not come up")
            time.sleep(0.02)

    @staticmethod
    def look(name, file):
        return subprocess.run(["ip", "netns", "exec", name, "cat", f"/sys/class/net/{INTERFACE}/{file}"], check=True,
                              capture_output=True, text=True).stdout.strip()

    def remove(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def sent_bytes(self):
        """The bytes that each host has put on the wire, headers included."""
        return [int(self.look(name, "statistics/tx_bytes")) for name in self.names]

    def run(self, *arguments, result, timeout=60):
        """Runs the binary with a rank on each host, over the wire and not through shared memory (UCX_TLS).

        It must end, though UCX over TCP often hangs in MPI_Finalize.
        """
        environment = {**os.environ, "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": INTERFACE}
        launcher = ["ip", "netns", "exec", self.names[0], "mpirun", "-launcher", "ssh", "-launcher-exec",
                    str(self.launcher), "-iface", INTERFACE, "-hosts", ",".join(ADDRESSES), "-ppn", "1", "-n", "2"]
        done = run_program(*launcher, BINARY, *arguments, env=environment, timeout=timeout)
        if done.returncode != 0 or not result.exists():
            raise AssertionError(f"exit code {done.returncode}:\n{done.stderr}")


@contextlib.contextmanager
def two_hosts(folder, megabits_per_s):
    """Skips the test where this machine does not allow it."""
    if not shutil.which("ip") or not shutil.which("tc"):
        raise unittest.SkipTest("no ip and tc here (Debian package iproute2): two hosts need them")
    hosts = TwoHosts(Path(folder), megabits_per_s)
    try:
        hosts.build()
    except subprocess.CalledProcessError as error:
        hosts.remove()
        raise unittest.SkipTest(
            f"no network namespaces here: `{' '.join(error.cmd)}` says {error.stderr.strip()}"
        ) from error
    try:
        yield hosts
    finally:
        hosts.remove()

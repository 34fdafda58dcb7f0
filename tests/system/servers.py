"""Shared by the tests' servers."""

import socket
import time


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def await_server(process, port, log, limit_s=30):
    """Waits until a connection to `port` opens; RuntimeError with the end of `log` if `process` ends or none does."""
    deadline = time.monotonic() + limit_s
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            if time.monotonic() > deadline or process.poll() is not None:
                said = log.read_text() if log.exists() else "nothing"
                raise RuntimeError(f"{process.args[0]} does not start; it says: {said[-2000:]}") from None
            time.sleep(0.05)

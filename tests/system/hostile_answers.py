"""A hostile server's answers: functions that take an exchange, or that make such a function. Those that take a Hostile
(hostile_network_test.py) answer by its data set."""

from pathlib import Path

from hostile_server import at, honest_web, links, send_part

TABLE = "/Data_Entry_2017.csv"
SHARD = "-of-00016"


def endless(*headers, piece=b" " * 65536):
    def act(exchange):
        exchange.begin(200, *headers)
        exchange.repeat(piece)
    return act


def drip(*headers, status=200):
    """A hundred bytes at two a tenth of a second: more than nothing, and far too slow."""
    def act(exchange):
        exchange.begin(status, *headers)
        exchange.repeat(b"xx", 0.1)
    return act


def drip_headers(exchange):
    exchange.send(b"HTTP/1.1 200 OK\r\nX: ")
    exchange.repeat(b"xx", 0.1)


def fast_enough_to_go_on(exchange):
    exchange.begin()
    exchange.repeat(b"x" * 2000, 0.05)


def redirect(where, status=302):
    """`where(hostile)` is the new URL."""
    def make(hostile):
        def act(exchange):
            exchange.answer(b"", status, f"Location: {where(hostile)}")
        return act
    return make


def cut(exchange):
    exchange.begin(200, "Content-Length: 1000")
    exchange.send(b"x" * 500)


def raw(text):
    return lambda exchange: exchange.send(text)


def endless_headers(exchange):
    exchange.send(b"HTTP/1.1 200 OK\r\n")
    exchange.repeat(b"X-More: " + b"x" * 8000 + b"\r\n")


def endless_1xx(exchange):
    exchange.repeat(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")


def endless_error(exchange):
    exchange.begin(404)
    exchange.repeat(b"x" * 65536)


def changing(hostile):
    """Another ETag with each answer to a range."""
    count = iter(range(10**9))

    def act(exchange):
        path = Path(str(hostile.root) + exchange.path)
        send_part(exchange, path.read_bytes(), f'ETag: "{next(count)}\x1b[2J"')
    return at(SHARD, act, honest_web(hostile.root))


def failing_at_first(hostile):
    left = [3]

    def act(exchange):
        left[0] -= 1
        exchange.answer(b"", 503) if left[0] >= 0 else honest_web(hostile.root)(exchange)
    return at(TABLE, act, honest_web(hostile.root))


def odd_names(exchange):
    exchange.answer(links(["00000001_000.png", "\x1b[2Jx.png", "a\0.png", "Icon\r"]))


def ranges(part, span):
    """A range whose bytes and Content-Range are these functions of the request."""
    def act(exchange):
        first, last = exchange.range or (0, 9)
        exchange.answer(b"x" * part(last - first + 1), 206, f"Content-Range: {span(first, last)}")
    return act


def in_cycles(exchange):
    token = {"": "a", "a": "b", "b": "c"}.get(exchange.query.get("continuation-token", [""])[0], "a")
    exchange.answer(f"<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>{token}"
                    "</NextContinuationToken></ListBucketResult>".encode())


def deep(exchange):
    exchange.answer(b"<ListBucketResult>" + b"<a>" * 3_000_000)


def error(code, status=403):
    return lambda exchange: exchange.answer(
        f"<Error><Code>{code}</Code><Message>{code} hunter2</Message></Error>".encode(), status)


def enormous(exchange):
    exchange.begin(200, f"Content-Length: {2**62}")


def four_enormous_images(hostile):
    """They announce 2^62 bytes each, which are 0 in a sum of 64 bits."""
    names = sorted(path.name for path in (hostile.root / "images").iterdir())[:4]

    def act(exchange):
        is_one = exchange.method == "HEAD" and exchange.path.rpartition("/")[2] in names
        (enormous if is_one else honest_web(hostile.root))(exchange)
    return act


def name_too_long(exchange):
    """A class whose folder cannot exist on this machine: Linux allows 255 bytes."""
    if exchange.path.endswith(".png"):
        exchange.answer(b"0123456789")
    elif exchange.path == "/":
        exchange.answer(links(["x" * 300 + "/"]))
    else:
        exchange.answer(links(["1.png"]) if exchange.path.endswith("x/") else b"", 200)


def outage(hostile):
    """Every image fails once, on all connections at about the same time."""
    seen = set()

    def act(exchange):
        is_first = exchange.path.endswith(".png") and exchange.path not in seen
        seen.add(exchange.path)
        exchange.answer(b"", 503) if is_first else honest_web(hostile.root)(exchange)
    return act

"""Seeds of the formats of shards: TFRecord with tf.Example, tar files with samples, cached pixels."""

import gzip
import json
import struct
import zlib
from pathlib import Path

GOLDEN = Path(__file__).resolve().parents[2] / "golden"


def crc32c_table():
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        yield byte


TABLE = list(crc32c_table())


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def frame(data):
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def feature(key, kind, data):
    return field(1, field(1, key.encode()) + field(2, field(kind, data)))


def example(labels=3, image=b"image", packed=True):
    bits = [i % 2 for i in range(labels)]
    label = field(1, bytes(bits)) if packed else b"".join(b"\x08" + varint(bit) for bit in bits)
    return field(1, feature("image/encoded", 1, field(1, image)) + feature("image/filename", 1, field(1, b"a.png")) +
                 feature("image/format", 1, field(1, b"png")) + feature("image/label", 3, label) +
                 feature("image/height", 3, field(1, varint(6))) + feature("image/width", 3, b"\x08\x07") +
                 feature("image/channels", 3, field(1, b"\1")) + feature("patient_id", 3, field(1, varint(31))) +
                 feature("weight", 2, field(1, struct.pack("<f", 1.5))))


def golden_records():
    """The records of tests/golden/sample.tfrecord."""
    data = (GOLDEN / "sample.tfrecord").read_bytes()
    while data:
        length = struct.unpack("<Q", data[:8])[0]
        yield data[12:12 + length]
        data = data[16 + length:]


def tfrecord_seeds():
    three = frame(b"") + frame(b"one") + frame(example())
    yield "three", three
    yield "gzip", gzip.compress(three, mtime=0)
    yield "members", gzip.compress(frame(b"one"), mtime=0) + gzip.compress(frame(b"two"), mtime=0)
    yield "zlib", zlib.compress(three)
    yield "bad-data", three[:-1] + b"x" + frame(b"after")
    yield "truncated", three[:-5]
    yield "huge", struct.pack("<Q", 1 << 40) + masked(struct.pack("<Q", 1 << 40))


def tf_example_seeds():
    yield "packed", b"\3" + example()
    yield "unpacked", b"\3" + example(packed=False)
    yield "none", b"\0" + example(0)
    yield "many", bytes([70]) + example(70)
    yield "twice", b"\3" + example() + example(3, b"other")
    yield "group", b"\3" + example() + b"\x0b\x08\1\x0c"
    yield "fixed", b"\3" + example() + b"\x11" + bytes(8) + b"\x15" + bytes(4)
    for i, record in enumerate(golden_records()):
        if len(record) < 4096:
            yield f"golden-{i}", bytes([14]) + record


def tf_example_protobuf_seeds():
    yield from tf_example_seeds()


def tar_member(name, data=b"", kind=b"0", pax=None):
    """A ustar header and the contents of one member, after a pax header if there is one."""
    head = bytearray(512)
    head[0:100] = name.encode()[:100].ljust(100, b"\0")
    head[100:148] = b"0000644\0" + b"0000000\0" * 2 + b"%011o\0" % len(data) + b"00000000000\0"
    head[148:156] = b" " * 8
    head[156:157] = kind
    head[257:265] = b"ustar\00000"
    head[148:156] = b"%06o\0 " % sum(head)
    before = tar_member("PaxHeader", pax, b"x") if pax else b""
    return before + bytes(head) + data + bytes(-len(data) % 512)


def tar_seeds():
    end = bytes(1024)
    yield "two", tar_member("a.png", b"image") + tar_member("b/c.png", bytes(600)) + end
    yield "pax", tar_member("short", b"x", pax=b"16 path=a/b.png\n11 size=1\n") + end
    yield "gnu", tar_member("././@LongLink", b"n" * 120 + b".png\0", b"L") + tar_member("short", b"x") + end
    yield "folder", tar_member("folder/", b"", b"5") + tar_member("link", b"", b"2") + end
    yield "after-end", tar_member("a.png", b"x") + end + tar_member("b.png", b"x")
    yield "truncated", tar_member("a.png", bytes(600))[:700]


def webdataset_seeds():
    end = bytes(1024)
    flags = json.dumps({"label": [0, 1, 0], "filename": "a.png", "patient": 7}).encode()
    names = json.dumps({"label": ["Mass", "Nodule"]}).encode()
    yield "json", tar_member("a.png", b"image") + tar_member("a.json", flags) + end
    yield "names", tar_member("d/a.JPG", b"image") + tar_member("d/a.json", names) + tar_member("b.png", b"i") + end
    yield "classes", tar_member("a.png", b"i") + tar_member("a.cls", b" 2\n") + tar_member("b.cls", b"9") + end
    yield "twice", tar_member("a.png", b"i") + tar_member("a.jpg", b"i") + tar_member("a.cls", b"1") + end
    yield "ignored", tar_member("__meta__/a.png", b"i") + tar_member(".hidden", b"i") + tar_member("a.png", b"i") + end
    for form in ("gnu", "pax", "ustar"):
        yield form, (GOLDEN / f"samples-{form}.tar").read_bytes()


def cached(side=4, names=(b"a.png", b"b.png"), states=(1, 1), resize=0, version=1):
    pixels = [bytes((i * 7 + n) % 256 for i in range(side * side)) for n in range(len(names))]
    entries = b"".join(struct.pack("<QIB3x", 99, crc32c(p), state) for p, state in zip(pixels, states))
    text = b"".join(name + b"\n" for name in names)
    table_crc = crc32c(entries + text)
    head = b"CHEXGRAY" + struct.pack("<IIQQIII", version, side, len(names), len(text), resize, table_crc, 0)
    table = head + struct.pack("<I", crc32c(head)) + entries + text
    return table + bytes(-len(table) % 4096) + b"".join(pixels)


def cached_seeds():
    yield "two", cached()
    yield "damaged", cached(states=(2, 0), resize=1)
    yield "none", cached(names=(), states=())
    yield "version", cached(version=2)
    yield "bad-pixels", cached()[:-1] + b"x"
    yield "truncated", cached()[:-1]

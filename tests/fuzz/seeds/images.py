"""Seeds of the decoders: small PNGs, JPEGs and zlib streams of every kind."""

import struct
import zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(color, channels, depth=8, interlace=0, width=7, height=6, extra=b"", pieces=1):
    """A small PNG whose rows use every filter."""
    row_bytes = (width * channels * depth + 7) // 8
    rows = b"".join(bytes([y % 5]) + bytes((x * 37 + y * 11) % 251 for x in range(row_bytes)) for y in range(height))
    if interlace:  # the seven passes of a small image, each row unfiltered
        rows = b""
        for x0, y0, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
                               (0, 1, 1, 2)):
            columns, lines = len(range(x0, width, dx)), len(range(y0, height, dy))
            if columns:
                rows += (b"\0" + bytes((columns * channels * depth + 7) // 8)) * lines
    data = zlib.compress(rows)
    cut = -(-len(data) // pieces)
    idat = b"".join(chunk(b"IDAT", data[i:i + cut]) for i in range(0, len(data), cut))
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + idat + chunk(b"IEND", b"")


def png_seeds():
    palette = chunk(b"PLTE", bytes(range(48)))
    yield "gray", png(0, 1)
    yield "gray-wide", png(0, 1, width=70, height=20)
    yield "gray-pieces", png(0, 1, width=40, height=9, pieces=3)
    yield "rgb", png(2, 3)
    yield "gray-alpha", png(4, 2)
    yield "rgba", png(6, 4)
    yield "palette", png(3, 1, 4, extra=palette)
    yield "gray16", png(0, 1, 16)
    yield "gray1", png(0, 1, 1, width=19)
    yield "interlaced", png(0, 1, 8, 1)
    yield "gamma", png(2, 3, extra=chunk(b"gAMA", struct.pack(">I", 45455)) + chunk(b"sRGB", b"\0"))
    yield "transparent", png(2, 3, extra=chunk(b"tRNS", bytes(6)))
    yield "text", png(0, 1, extra=chunk(b"tEXt", b"Comment\0made by a script"))
    yield "truncated", png(0, 1)[:-20]


# Standard tables of ITU-T T.81, annex K.3: enough for a gray image of blocks that are all one value.
def jpeg(width=16, height=8, components=1, frame_marker=0xC0, restart=0):
    def segment(marker, data):
        return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data
    quantization = segment(0xDB, b"\0" + bytes([16] * 64))
    sampling = b"".join(bytes([i + 1, 0x11, 0]) for i in range(components))
    frame_header = segment(frame_marker, struct.pack(">BHHB", 8, height, width, components) + sampling)
    dc_table = segment(0xC4, b"\0" + bytes([0, 1, 5, 1, 1, 1, 1, 1, 1] + [0] * 7) + bytes(range(12)))
    ac_table = segment(0xC4, b"\x10" + bytes([0, 2] + [0] * 14) + bytes([0, 1]))  # 00 ends a block
    scan = segment(0xDA, bytes([components]) + b"".join(bytes([i + 1, 0]) for i in range(components)) + b"\0\x3f\0")
    interval = segment(0xDD, struct.pack(">H", restart)) if restart else b""
    blocks = -(-width // 8) * -(-height // 8) * components
    bits = "0000" * blocks  # DC difference of category 0 (code 00), then end of block (code 00)
    bits += "1" * (-len(bits) % 8)
    data = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8)).replace(b"\xff", b"\xff\0")
    return b"\xff\xd8" + quantization + frame_header + dc_table + ac_table + interval + scan + data + b"\xff\xd9"


def jpeg_seeds():
    yield "gray", b"\0" + jpeg()
    yield "color", b"\1" + jpeg(components=3)
    yield "four", b"\2" + jpeg(components=4)
    yield "scaled", b"\3" + jpeg(64, 64)
    yield "progressive", b"\0" + jpeg(frame_marker=0xC2)
    yield "restarts", b"\0" + jpeg(restart=1)
    yield "hidden-frame", b"\0" + jpeg().replace(b"\xff\xc0", b"\xff\xd0\xff\xc0", 1)
    yield "truncated", b"\0" + jpeg()[:-9]


def inflate_seeds():
    for name, data in (("zeros", bytes(300)), ("text", b"a small text, a small text, a small text" * 3),
                       ("all", bytes(range(256))), ("empty", b"")):
        for level in (0, 1, 9):
            yield f"{name}-{level}", struct.pack("<HB", len(data), level) + zlib.compress(data, level)
    packer = zlib.compressobj(9, zlib.DEFLATED, 9, 9, zlib.Z_FIXED)
    yield "fixed-window9", struct.pack("<HB", 512, 3) + packer.compress(bytes(512)) + packer.flush()

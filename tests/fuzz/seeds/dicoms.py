"""Seeds of the reader of DICOM files: small ones in each transfer syntax, and some that are refused."""

import struct
import zlib
from pathlib import Path

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "dicom"
EXPLICIT, IMPLICIT, BIG_ENDIAN = "1.2.840.10008.1.2.1", "1.2.840.10008.1.2", "1.2.840.10008.1.2.2"
DEFLATED, RLE, JPEG_2000 = "1.2.840.10008.1.2.1.99", "1.2.840.10008.1.2.5", "1.2.840.10008.1.2.4.90"


class Elements:
    def __init__(self, syntax):
        self.order = ">" if syntax == BIG_ENDIAN else "<"
        self.is_implicit = syntax == IMPLICIT
        self.bytes = b""

    def add(self, tag, vr, value, length=None):
        length = len(value) if length is None else length
        self.bytes += struct.pack(self.order + "HH", tag >> 16, tag & 0xFFFF)
        if self.is_implicit:
            self.bytes += struct.pack(self.order + "I", length)
        elif vr in ("OB", "OW", "SQ"):
            self.bytes += vr.encode() + struct.pack(self.order + "HI", 0, length)
        else:
            self.bytes += vr.encode() + struct.pack(self.order + "H", length)
        self.bytes += value + b" " * (len(value) % 2)

    def number(self, tag, value):
        self.add(tag, "US", struct.pack(self.order + "H", value))


def dicom(syntax=EXPLICIT, texts=(), frames=b"", bits=12):
    meta = Elements(EXPLICIT)
    uid = syntax.encode() + b"\0" * (len(syntax) % 2)
    meta.add(0x00020010, "UI", uid)
    head = Elements(EXPLICIT)
    head.add(0x00020000, "UL", struct.pack("<I", len(meta.bytes)))
    data = Elements(syntax)
    data.number(0x00280002, 1)
    data.add(0x00280004, "CS", b"MONOCHROME2 ")
    if frames:
        data.add(0x00280008, "IS", frames)
    for tag, value in ((0x00280010, 2), (0x00280011, 2), (0x00280100, 16), (0x00280101, bits), (0x00280102, bits - 1),
                       (0x00280103, 0)):
        data.number(tag, value)
    for tag, text in texts:
        data.add(tag, "DS", text)
    pixels = struct.pack(data.order + "4H", 0, 1000, 2000, 4095)
    if syntax == RLE:
        segments = b"".join(b"\3" + pixels[at::2] + b"\0" for at in (1, 0))
        frame = struct.pack("<16I", 2, 64, 70, *[0] * 13) + segments
        items = (struct.pack("<HHI", 0xFFFE, 0xE000, 0) + struct.pack("<HHI", 0xFFFE, 0xE000, len(frame)) + frame
                 + struct.pack("<HHI", 0xFFFE, 0xE0DD, 0))
        data.add(0x7FE00010, "OB", items, 0xFFFFFFFF)
    else:
        data.add(0x7FE00010, "OW", pixels)
    packed = data.bytes
    if syntax == DEFLATED:
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        packed = packer.compress(packed) + packer.flush()
    return bytes(128) + b"DICM" + head.bytes + meta.bytes + packed


def dicom_seeds():
    for name, syntax in (("explicit", EXPLICIT), ("implicit", IMPLICIT), ("big-endian", BIG_ENDIAN),
                         ("deflated", DEFLATED), ("rle", RLE), ("jpeg-2000", JPEG_2000)):
        yield name, dicom(syntax)
    yield "window", dicom(texts=((0x00281050, b"2000"), (0x00281051, b"1500"), (0x00281052, b"-10 "),
                                 (0x00281053, b"2 ")))
    yield "frames", dicom(frames=b"3 ")
    yield "bits", dicom(bits=16)
    yield "truncated", dicom()[:-3]
    for path in sorted((*GOLDEN.glob("jpeg-l*.dcm"), *GOLDEN.glob("pydicom/*-luts.dcm"))):
        yield path.stem, path.read_bytes()

"""Writes DICOM files (explicit VR, little endian) with a patient's name in them."""

import struct

PLANTED = ("PLANTED^PATIENT", "PLANTED-ID-4711")


def element(tag, vr, value):
    if len(value) % 2:
        value += b"\0" if vr == "UI" else b" "
    head = struct.pack("<HH", tag >> 16, tag & 0xFFFF) + vr.encode()
    if vr in ("OB", "OW"):
        return head + b"\0\0" + struct.pack("<I", len(value)) + value
    return head + struct.pack("<H", len(value)) + value


def dicom(rows, bits=12, inverted=False, extra=b"", syntax="1.2.840.10008.1.2.1"):
    """A file of the given rows of pixels, of `bits` bits in 16."""
    number = struct.Struct("<H").pack
    meta = element(0x00020002, "UI", b"1.2.840.10008.5.1.4.1.1.1.1") + element(0x00020003, "UI", b"1.2.3")
    meta += element(0x00020010, "UI", syntax.encode())
    data = element(0x00080060, "CS", b"DX")
    data += element(0x00100010, "PN", PLANTED[0].encode()) + element(0x00100020, "LO", PLANTED[1].encode())
    data += element(0x00280002, "US", number(1))
    data += element(0x00280004, "CS", b"MONOCHROME1" if inverted else b"MONOCHROME2")
    data += element(0x00280010, "US", number(len(rows))) + element(0x00280011, "US", number(len(rows[0])))
    data += element(0x00280100, "US", number(16)) + element(0x00280101, "US", number(bits))
    data += element(0x00280102, "US", number(bits - 1)) + element(0x00280103, "US", number(0)) + extra
    data += element(0x7FE00010, "OW", b"".join(struct.pack(f"<{len(row)}H", *row) for row in rows))
    return bytes(128) + b"DICM" + element(0x00020000, "UL", struct.pack("<I", len(meta))) + meta + data

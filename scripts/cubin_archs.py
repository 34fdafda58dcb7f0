#!/usr/bin/env python3
"""Which GPUs the kernels in a binary are for: one line an architecture, with the number of its cubins.

usage: cubin_archs.py FILE [ARCH...]      exit status 1 unless it is exactly those, e.g. cubin_archs.py lib.so 75 80

Reads the fat binaries that nvcc and clang put into an object: a header of 16 bytes (magic, version, its size, the size
of the rest), then entries of a header (kind, version, size, size of the payload, ..., at byte 28 the architecture) and
a payload. Kind 2 is a cubin, 1 is PTX.
"""

import struct
import sys
from collections import Counter
from pathlib import Path

MAGIC = struct.pack("<I", 0xBA55ED50)
CUBIN = 2


def entries(data):
    """(kind, architecture, payload) of each entry of every fat binary."""
    begin = data.find(MAGIC)
    while begin >= 0:
        header_bytes, rest_bytes = struct.unpack_from("<HQ", data, begin + 6)
        at, end = begin + header_bytes, begin + header_bytes + rest_bytes
        while at < end:
            kind, _, entry_header_bytes, payload_bytes = struct.unpack_from("<HHII", data, at)
            payload = at + entry_header_bytes
            yield kind, struct.unpack_from("<I", data, at + 28)[0], data[payload:payload + payload_bytes]
            at = payload + payload_bytes
        begin = data.find(MAGIC, max(end, begin + 1))


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        asked = sys.argv[1:] == ["--help"]
        print(__doc__.strip(), file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    cubins = Counter(arch for kind, arch, _ in entries(Path(sys.argv[1]).read_bytes()) if kind == CUBIN)
    for arch, count in sorted(cubins.items()):
        print(f"sm_{arch}: {count}")
    wanted = {int(arch) for arch in sys.argv[2:]}
    return 1 if wanted and wanted != set(cubins) else 0


if __name__ == "__main__":
    sys.exit(main())

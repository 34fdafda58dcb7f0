#!/usr/bin/env python3
"""Checks the compiled GPU kernels against the requirements for reaching the memory's bandwidth.

usage: kernel_guards.py [--table] FILE      exit status 1 if a kernel breaks a rule; --table prints every kernel
  FILE   has the kernels for sm_90, such as build/release/bin/libchexbench_cuda.so

For each kernel: no stack and no local memory (values that spilled), at most 128 registers (or too few threads fit), and
no access to global memory before it has waited for the previous kernel (griddepcontrol.wait of a programmatic launch:
the compiler may move no load above it). For those that stream tensors in vectors of 16 bytes also: all 16-byte loads
that their code issues before the first is used, and enough bytes in flight on a multiprocessor. Little's law: an H100
needs its bandwidth, 3.35 TB/s, times its latency, some 0.7 us, in flight, which is 18 KB for each of its 132
multiprocessors; 30 KB leave room.

Reads the cubins (ELF) in FILE: nvcc's wheel has no cuobjdump. Opcodes and sizes are those that nvdisasm prints for
sm_70 to sm_100: the low 12 bits of an instruction are its opcode, bits 73 to 75 of a load its size.
"""

import re
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

from cubin_archs import CUBIN, entries

ARCH = 90
LOAD_GLOBAL, LOAD_LOCAL, STORE_LOCAL = 0x981, 0x983, 0x387
LOAD, STORE, STORE_GLOBAL, REDUCE, ATOMIC = 0x980, 0x985, 0x986, 0x98E, 0x9A8  # the first two: of any memory
WAIT_FOR_KERNEL = 0x82E  # griddepcontrol.wait
SIXTEEN_BYTES = 6
FRAME_SIZE, REGISTERS = 0x11, 0x2F  # attributes of .nv.info
GLOBAL_ACCESSES = (LOAD_GLOBAL, LOAD, STORE, STORE_GLOBAL, REDUCE, ATOMIC)
MOST_REGISTERS = 128
REGISTERS_OF_SM, THREADS_OF_SM = 65536, 2048
LEAST_BYTES_IN_FLIGHT = 30_000
# Kernels that stream a tensor, by a part of their mangled names, and their loads of 16 bytes: those of values by
# channel before the rows, and those of rows that are in flight.
STREAMING = {"run_sums.*10Statistics.*6__halfLi8": (0, 4), "run_channels.*9Normalize.*6__halfLi8": (8, 2),
             "run_sums.*12GradientSums.*6__halfLi8": (2, 4), "run_channels.*13GradientApply.*6__halfLi8": (8, 4),
             "run_channels.*3Add.*6__halfLi8": (0, 2), "run_channels.*4Copy.*6__halfLi8": (0, 4),
             "run_channels.*7MaxPoolI6__halfLi8.*12NormedValues": (8, 3),
             "run_channels.*11AveragePoolI6__halfLi8.*12NormedValues": (8, 4),
             "run_sums.*11OverPatches.*12GradientSumsI6__halfLi8.*Li8ELb1E": (2, 8),
             "run_channels.*11OverPatches.*13GradientApplyI6__halfLi8.*Li8ELb1E": (8, 8),
             "run_sums.*11OverPatches.*14LazyAccumulateI6__half.*Li8ELb0E": (2, 5)}
THREADS = 256  # of a block of these kernels


@dataclass
class Kernel:
    name: str
    registers: int = 0
    frame_bytes: int = 0
    wide_loads: int = 0
    local_accesses: int = 0
    waits: bool = False
    early_accesses: int = 0  # to global memory, before the wait


def sections(data):
    """(name, header, bytes) of each section of a 64-bit ELF file."""
    offset, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    texts = data[headers[names][4]:headers[names][4] + headers[names][5]]
    for header in headers:
        name = texts[header[0]:texts.index(b"\0", header[0])].decode()
        yield name, header, data[header[4]:header[4] + header[5]]


def attributes(info):
    """(attribute, symbol, value) of the attributes of .nv.info that have a symbol and a value."""
    at = 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == 4:
            if size == 8:
                yield attribute, *struct.unpack_from("<II", info, at)
            at += size


def symbol_names(parts):
    table = next(data for name, _, data in parts if name == ".symtab")
    texts = next(data for name, _, data in parts if name == ".strtab")
    for at in range(0, len(table), 24):
        name, = struct.unpack_from("<I", table, at)
        yield texts[name:texts.index(b"\0", name)].decode()


def kernels(cubin):
    parts = list(sections(cubin))
    names = list(symbol_names(parts))
    found = {}
    for name, _, data in parts:
        if not name.startswith(".text."):
            continue
        kernel = found.setdefault(name[len(".text."):], Kernel(name[len(".text."):]))
        for low, high in struct.iter_unpack("<QQ", data[:len(data) // 16 * 16]):
            opcode = low & 0xFFF
            kernel.wide_loads += opcode == LOAD_GLOBAL and (high >> 9) & 7 == SIXTEEN_BYTES
            kernel.local_accesses += opcode in (LOAD_LOCAL, STORE_LOCAL)
            kernel.waits = kernel.waits or opcode == WAIT_FOR_KERNEL
            kernel.early_accesses += not kernel.waits and opcode in GLOBAL_ACCESSES
    for name, _, data in parts:
        if name != ".nv.info":
            continue
        for attribute, symbol, value in attributes(data):
            kernel = found.get(names[symbol])
            if kernel and attribute == REGISTERS:
                kernel.registers = value
            if kernel and attribute == FRAME_SIZE:
                kernel.frame_bytes = value
    return list(found.values())


def bytes_in_flight(kernel, loads):
    """On one multiprocessor, limited by its registers and threads."""
    threads = min(THREADS_OF_SM, REGISTERS_OF_SM // (max(kernel.registers, 1) * THREADS) * THREADS)
    return threads * loads * 16


def problems(kernel):
    if kernel.registers == 0:
        yield "the cubin does not contain its number of registers"
    if kernel.registers > MOST_REGISTERS:
        yield f"{kernel.registers} registers, more than {MOST_REGISTERS}"
    if kernel.frame_bytes:
        yield f"a stack of {kernel.frame_bytes} bytes"
    if kernel.local_accesses:
        yield f"{kernel.local_accesses} accesses to local memory"
    if not kernel.waits:
        yield "no wait for the kernel before it"
    elif kernel.early_accesses:
        yield f"{kernel.early_accesses} accesses to global memory before the wait for the kernel before it"
    for pattern, (first, loads) in STREAMING.items():
        if re.search(pattern, kernel.name):
            if kernel.wide_loads < first + loads:
                yield f"{kernel.wide_loads} loads of 16 bytes, {first + loads} are needed"
            if bytes_in_flight(kernel, loads) < LEAST_BYTES_IN_FLIGHT:
                yield f"{bytes_in_flight(kernel, loads)} bytes in flight, {LEAST_BYTES_IN_FLIGHT} are needed"


def main():
    arguments = [word for word in sys.argv[1:] if word != "--table"]
    if len(arguments) != 1 or arguments[0].startswith("-"):
        asked = arguments == ["--help"]
        print(__doc__.strip(), file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    broken, seen, streams = 0, 0, set()
    cubins = (cubin for kind, arch, cubin in entries(Path(arguments[0]).read_bytes()) if (kind, arch) == (CUBIN, ARCH))
    for kernel in (kernel for cubin in cubins for kernel in kernels(cubin)):
        seen += 1
        streams |= {pattern for pattern in STREAMING if re.search(pattern, kernel.name)}
        if "--table" in sys.argv:
            print(f"{kernel.registers:4} registers, {kernel.frame_bytes:4} stack, {kernel.wide_loads:3} wide loads: "
                  f"{kernel.name}")
        for problem in problems(kernel):
            broken += 1
            print(f"kernel_guards: {kernel.name}: {problem}", file=sys.stderr)
    for pattern in STREAMING.keys() - streams:
        broken += 1
        print(f"kernel_guards: no kernel is named {pattern}", file=sys.stderr)
    print(f"kernel_guards: {seen} kernels, {broken} problems")
    return 1 if broken or not seen else 0


if __name__ == "__main__":
    sys.exit(main())

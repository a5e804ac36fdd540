#!/usr/bin/env python3
"""Fails where the runtime's shared library is over 1 MB, symbols for debuggers not counted.

It has all backends but the simulator, which is a library of its own.
"""
import argparse
import pathlib
import struct
import sys

LIMIT = 1_000_000
ALLOCATED, NO_BITS = 2, 8


def loaded_bytes(elf):
    """Bytes of the sections that a process maps, as they lie in the file."""
    assert elf[:5] == b"\x7fELF\x02", "expected a 64-bit ELF file"
    (offset,) = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    total = 0
    for i in range(count):
        kind, flags, _, _, length = struct.unpack_from("<IQQQQ", elf, offset + i * size + 4)
        if flags & ALLOCATED and kind != NO_BITS:
            total += length
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--simulator", help="a symbol's part that only the simulator has", default="kvc3sim")
    args = parser.parse_args()
    elf = args.library.read_bytes()
    loaded = loaded_bytes(elf)
    print(f"{args.library.name}: {loaded} bytes are loaded, at most {LIMIT} allowed; {len(elf)} with symbols")
    if args.simulator.encode() in elf:
        print(f"{args.library.name}: expected nothing of the simulator, got a symbol with {args.simulator}")
        return 1
    return 0 if 100_000 < loaded <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Fails where a shared library exports anything but the functions of its public
headers, or where it or the archives have a symbol of LLVM or MLIR, defined or
(without --uses-llvm) wanted.
"""
import argparse
import pathlib
import re
import subprocess
import sys

FOREIGN = re.compile(r"(?i)llvm|mlir")
FUNCTION = re.compile(r"KVC_API\b[^;(]*?\b(kvc_\w+)\s*\(")


def symbols(nm, path, *options):
    """(name, is defined for others) of every symbol; nm writes local ones in
    lower case, of which a shared library may list some."""
    text = subprocess.run([nm, *options, path], check=True, capture_output=True, text=True).stdout
    found = []
    for line in text.splitlines():
        match = re.match(r"^(?:[0-9a-fA-F]+)?\s+([A-Za-z?-])\s+(\S+)", line)
        if match:
            letter = match.group(1)
            found.append((match.group(2).split("@")[0], letter != "U" and (letter.isupper() or letter in "iu")))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--headers", type=pathlib.Path, required=True)
    parser.add_argument("--shared", required=True)
    parser.add_argument("--uses-llvm", action="store_true")
    parser.add_argument("archives", nargs="*")
    args = parser.parse_args()

    errors = []
    for path in [args.shared, *args.archives]:
        options = ["-D"] if path == args.shared else []
        found = symbols(args.nm, path, *options)
        if not found:
            errors.append(f"{path}: expected symbols, got none")
        errors += [
            f"{path}: {name} is a symbol of LLVM"
            for name, is_defined in found
            if FOREIGN.search(name) and (is_defined or not args.uses_llvm)
        ]

    declared = set()
    for header in sorted(args.headers.glob("*.h")):
        declared |= set(FUNCTION.findall(header.read_text(encoding="utf-8")))
    if not declared:
        errors.append(f"{args.headers}: expected declarations, got none")
    # Version names of the library itself are absolute symbols.
    exported = {name for name, is_defined in symbols(args.nm, args.shared, "-D") if is_defined and not name.startswith("KVC_")}
    errors += [f"{args.shared}: {name} is declared, but not exported" for name in sorted(declared - exported)]
    # A sanitizer's build has symbols of the sanitizer.
    foreign = {name for name in exported - declared if not re.match(r"_*(asan|tsan|ubsan|sanitizer|interceptor|lsan|msan)", name)}
    errors += [f"{args.shared}: {name} is exported, but not declared" for name in sorted(foreign)]

    print("\n".join(errors))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())

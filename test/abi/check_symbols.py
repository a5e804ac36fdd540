#!/usr/bin/env python3
"""Fails where the runtime has a symbol of LLVM or MLIR, defined or wanted, or
where its shared library exports anything but the functions of the public headers.
"""
import argparse
import pathlib
import re
import subprocess
import sys

FOREIGN = re.compile(r"(?i)llvm|mlir")
FUNCTION = re.compile(r"KVC_API\b[^;(]*?\b(kvc_\w+)\s*\(")


def symbols(nm, path, *options):
    """(name, is defined) of every symbol."""
    text = subprocess.run([nm, *options, path], check=True, capture_output=True, text=True).stdout
    found = []
    for line in text.splitlines():
        match = re.match(r"^(?:[0-9a-fA-F]+)?\s+([A-Za-z?-])\s+(\S+)", line)
        if match:
            found.append((match.group(2).split("@")[0], match.group(1) not in "Uwv"))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--headers", type=pathlib.Path, required=True)
    parser.add_argument("--shared", required=True)
    parser.add_argument("archives", nargs="*")
    args = parser.parse_args()

    errors = []
    for path in [args.shared, *args.archives]:
        options = ["-D"] if path == args.shared else []
        found = symbols(args.nm, path, *options)
        if not found:
            errors.append(f"{path}: expected symbols, got none")
        errors += [f"{path}: {name} is a symbol of LLVM" for name, _ in found if FOREIGN.search(name)]

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

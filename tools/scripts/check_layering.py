#!/usr/bin/env python3
"""Fails where a file includes a header of a layer above its own.

    runtime <- dialects <- passes <- codegen <- tools, examples, test
Nothing under runtime/ includes LLVM or MLIR.
"""
import pathlib
import re
import subprocess
import sys

LAYERS = ["runtime", "dialects", "passes", "codegen", "tools", "examples", "test"]
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def layer_of_header(header, roots):
    for layer, folders in roots.items():
        if any((folder / header).is_file() for folder in folders):
            return layer
    return None


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    roots = {
        "runtime": [root / "runtime/include", *(root / "runtime/src").iterdir(), *(root / "runtime/src/devices").iterdir()],
        "dialects": [root / "dialects"],
        "passes": [root / "passes"],
        "codegen": [root / "codegen", root / "codegen/include"],
        "tools": [root / "tools"],
        "test": [root / "test/support"],
    }
    names = subprocess.run(["git", "ls-files", "*.cpp", "*.h", "*.c"], cwd=root, check=True, capture_output=True, text=True).stdout
    bad = 0
    for name in names.split():
        layer = name.split("/")[0]
        for number, line in enumerate((root / name).read_text(encoding="utf-8").split("\n"), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            header = match.group(1)
            if layer == "runtime" and header.split("/")[0] in ("llvm", "mlir", "llvm-c", "mlir-c"):
                bad += 1
                print(f"{name}:{number}: runtime/ must not include {header}")
            target = layer_of_header(header, roots)
            if target and LAYERS.index(target) > LAYERS.index(layer):
                bad += 1
                print(f"{name}:{number}: {layer}/ must not include {header} of {target}/")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

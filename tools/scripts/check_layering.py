#!/usr/bin/env python3
"""Fails where a file includes a header of a layer above its own.

    runtime <- dialects <- passes <- codegen <- tools, examples, test
Nothing under runtime/ includes LLVM or MLIR. Passes and code generation know no
scheme by its name: those live in the presets and in the docs.
"""
import pathlib
import re
import subprocess
import sys

LAYERS = ["runtime", "dialects", "passes", "codegen", "tools", "examples", "test"]
SCHEMES = re.compile(r"kivi|kvquant|nf4|awq|smoothquant|turbo|(^|[^a-z])mla([^a-z]|$)", re.IGNORECASE)
SCHEMELESS = ["passes", "codegen/kvc/Codegen"]
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


def layer_of_header(header, roots):
    for layer, folders in roots.items():
        if any((folder / header).is_file() for folder in folders):
            return layer
    return None


def named_schemes(root):
    """Lines of compiler folders that name a scheme."""
    names = subprocess.run(["git", "ls-files", "-z", *SCHEMELESS], cwd=root, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        for number, line in enumerate((root / name).read_text(encoding="utf-8").split("\n"), 1):
            if match := SCHEMES.search(line):
                yield f"{name}:{number}: names a scheme, {match.group(0).strip()!r}: passes look at bits, blocks and index sets"


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
    for line in named_schemes(root):
        bad += 1
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

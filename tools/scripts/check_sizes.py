#!/usr/bin/env python3
"""Fails where a file is longer than its kind allows (lines), and where something
lies at the top of the tree that is not listed here.

One concept a file: a file that outgrows its limit holds more than one.
"""
import pathlib
import subprocess
import sys

LIMITS = {".cpp": 800, ".c": 800, ".h": 500, ".td": 800, ".py": 500, ".mlir": 800, ".md": 300, ".cmake": 150, ".sh": 200}
README_LINES = 200  # of the top-level README
TOP = {".ci", ".clang-format", ".clang-tidy", ".gitignore", "CMakeLists.txt", "README.md",
       "codegen", "dialects", "examples", "passes", "runtime", "test", "tools"}


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    names = subprocess.run(["git", "ls-files"], cwd=root, check=True, capture_output=True, text=True).stdout.split("\n")
    bad = 0
    for name in sorted({name.split("/")[0] for name in filter(None, names)} ^ TOP):
        bad += 1
        print(f"{name}: {'is not there' if name in TOP else 'expected nothing but ' + ', '.join(sorted(TOP))}")
    for name in filter(None, names):
        path = root / name
        if name.startswith("test/data/") or not path.is_file():
            continue
        limit = README_LINES if name == "README.md" else LIMITS.get(path.suffix)
        if limit is None:
            continue
        with path.open(encoding="utf-8") as file:
            lines = sum(1 for _ in file)
        if lines > limit:
            bad += 1
            print(f"{name}: {lines} lines, at most {limit} allowed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

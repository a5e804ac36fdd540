#!/usr/bin/env python3
"""Prints the project's own sources that a build compiles, one a line.

usage: compile_commands.py BUILD_DIR
"""
import json
import pathlib
import sys


def main():
    build = pathlib.Path(sys.argv[1])
    root = pathlib.Path(__file__).resolve().parents[2]
    files = {pathlib.Path(entry["file"]).resolve() for entry in json.loads((build / "compile_commands.json").read_text())}
    for file in sorted(files):
        if root in file.parents and build.resolve() not in file.parents:
            print(file)


if __name__ == "__main__":
    main()

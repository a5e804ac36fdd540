#!/usr/bin/env python3
"""Prints the project's own sources that a build compiles, one a line.

usage: compile_commands.py BUILD_DIR [OUTPUT_DIR]

With OUTPUT_DIR, writes a compile_commands.json there in which each source is
compiled by itself, without precompiled headers, so that a tool which follows it
sees what each file includes itself.
"""
import json
import pathlib
import re
import sys

PRECOMPILED = re.compile(r" -Winvalid-pch| -Xclang -include(-pch)? -Xclang \S*cmake_pch\S*")
INCLUDE = re.compile(r'^#include "(.*)"$', re.MULTILINE)


def alone(entry):
    """The commands of the sources that one command compiles together."""
    entry = entry | {"command": PRECOMPILED.sub("", entry["command"])}
    together = entry["file"]
    if pathlib.Path(together).parent.name != "Unity":
        return [entry]
    sources = INCLUDE.findall(pathlib.Path(together).read_text())
    return [entry | {"file": source, "command": entry["command"].replace(together, source)}
            for source in sources]


def main():
    build = pathlib.Path(sys.argv[1])
    root = pathlib.Path(__file__).resolve().parents[2]
    entries = json.loads((build / "compile_commands.json").read_text())
    entries = [each for entry in entries for each in alone(entry)]
    if len(sys.argv) > 2:
        output = pathlib.Path(sys.argv[2])
        output.mkdir(parents=True, exist_ok=True)
        (output / "compile_commands.json").write_text(json.dumps(entries, indent=1))
    files = {pathlib.Path(entry["file"]).resolve() for entry in entries}
    for file in sorted(files):
        if root in file.parents and build.resolve() not in file.parents:
            print(file)


if __name__ == "__main__":
    main()

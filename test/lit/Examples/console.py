#!/usr/bin/env python3
"""Runs the ```console blocks of a page and compares what they print.

usage: console.py PAGE.md

A line that begins with "$ " is a command for bash; the lines up to the next one
are what it prints, stderr included. "..." stands for any text, on a line of its
own for any lines; the numbers of SSA values (%12) do not matter. All commands of a page share one shell and one copy of the
page's folder, beside which the rest of the tree looks as it does here.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import shutil

MARK = "@@ end of a command"


def read_commands(page):
    """[(line, command, expected)]"""
    commands = []
    inside = False
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("```"):
            inside = line == "```console"
        elif inside and line.startswith("$ "):
            commands.append((number, line[2:], []))
        elif inside:
            if not commands:
                sys.exit(f"{page}:{number}: expected a command first, got output")
            commands[-1][2].append(line)
    return commands


def copy_tree(folder, scratch):
    """Copies `folder`; its neighbours and its parent's become links."""
    parent = folder.parent
    copy = scratch / parent.name / folder.name
    shutil.copytree(folder, copy)
    for around, target in ((parent, copy.parent), (parent.parent, scratch)):
        for path in around.iterdir():
            if path not in (folder, parent):
                (target / path.name).symlink_to(path)
    return copy


def without_numbers(line):
    return re.sub(r"%([a-z_]*)\d+", r"%\1", line)


def matches(expected, got):
    pattern = ""
    for line in expected:
        if line == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in without_numbers(line).split("...")) + r"\n"
    return re.fullmatch(pattern, without_numbers(got)) is not None


def main():
    page = pathlib.Path(sys.argv[1]).resolve()
    commands = read_commands(page)
    if not commands:
        sys.exit(f"{page}: expected console blocks, got none")
    script = "exec 2>&1\n" + "".join(f"{command}\necho '{MARK}'\n" for _, command, _ in commands)
    with tempfile.TemporaryDirectory() as scratch:
        folder = copy_tree(page.parent, pathlib.Path(scratch))
        outputs = subprocess.run(["bash"], input=script, cwd=folder, text=True, stdout=subprocess.PIPE).stdout.split(MARK + "\n")
    failed = 0
    for (line, command, expected), got in zip(commands, outputs):
        if not matches(expected, got):
            failed += 1
            print(f"{page}:{line}: $ {command}\nexpected\n" + "\n".join(expected) + f"\ngot\n{got}")
    return 1 if failed or len(outputs) != len(commands) + 1 else 0


if __name__ == "__main__":
    sys.exit(main())

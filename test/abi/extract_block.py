#!/usr/bin/env python3
"""Writes the only ```c block of a Markdown file to a file of its own."""
import pathlib
import re
import sys

text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
blocks = re.findall(r"^```c\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
if len(blocks) != 1:
    sys.exit(f"{sys.argv[1]}: expected one block of C, got {len(blocks)}")
pathlib.Path(sys.argv[2]).write_text(blocks[0], encoding="utf-8")

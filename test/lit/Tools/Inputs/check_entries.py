"""The entries of a module of PTX against its manifest and the grammar of their names."""

import json
import os
import re
import sys

path = sys.argv[1]
with open(path, encoding="utf-8") as file:
    manifest = json.load(file)
with open(os.path.join(os.path.dirname(path), manifest["code"]), encoding="utf-8") as file:
    text = file.read()
name = re.sub(r"[^A-Za-z0-9]", "_", manifest["spec"]["name"])
entries = re.findall(r"\.visible \.entry (\w+)\(", text)
expected = [f"{kernel['name']}_{name}" for kernel in manifest["kernels"]]
assert sorted(entries) == sorted(expected), (entries, expected)
assert [kernel["symbol"] for kernel in manifest["kernels"]] == expected
assert all(re.fullmatch(r"(decode|prefill|append|merge|unpack)_\w+", entry) for entry in entries), entries
for body in text.split(".visible .entry ")[1:]:
    name, size = body[:body.index("(")], len(body[:body.index("\n}\n")])
    print(f"{name}: {size} bytes of PTX")
    # Those of prefill are 130 kB.
    assert name.startswith("prefill") or size < 100_000, name

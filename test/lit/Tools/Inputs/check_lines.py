"""The .loc lines of PTX: products are those of kvc.contract, and all lines are there."""

import os
import re
import sys

path = sys.argv[1]
with open(path, encoding="utf-8") as file:
    text = file.read()
files = re.findall(r'\.file\s+(\d+)\s+"([^"]*)"', text)
assert len(files) == 1, files
with open(os.path.join(os.path.dirname(path), files[0][1]), encoding="utf-8") as file:
    source = file.read().split("\n")
line, seen, products = None, set(), set()
for each in text.split("\n"):
    if found := re.match(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)", each):
        assert found.group(1) == files[0][0], each
        line = int(found.group(2))
        if line > 0:
            seen.add(line)
            assert line <= len(source) and source[line - 1].strip(), each
    elif "mma.sync" in each:
        products.add(source[line - 1])
assert len(seen) > 50, seen
# One for scores, one for outputs, in decode and in prefill.
assert products and all("kvc.contract" in product for product in products), products
assert any("<r, t>>" in product.rsplit("to ", 1)[1] for product in products), products
assert any("<r, d>>" in product.rsplit("to ", 1)[1] for product in products), products

"""The table that README.md shows of tools/quickstart is the one that it prints.

quickstart_table.py README PRINTED: every column but the times.
"""

import sys

TIMES = 2  # columns, the last ones
# README.md rounds; of raw values kernels' own rounding is all there is, and
# that differs from target to target.
TOLERANCE = {"smollm2_f16": 0.05}


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    return {cells[0]: cells[1:-TIMES] for cells in lines if len(cells) > TIMES + 1 and cells[0].startswith("smollm2_")}


def agree(name, said, measured):
    if said.startswith("("):  # the worst head
        return name in TOLERANCE or said == measured
    said, measured = (float(cell.rstrip("x")) for cell in (said, measured))
    return abs(said - measured) <= TOLERANCE.get(name, 0.005) * abs(said)


def main():
    said, printed = map(rows_of, sys.argv[1:])
    wrong = 0
    for name in said.keys() | printed.keys():
        one, other = said.get(name, []), printed.get(name, [])
        if not one or len(one) != len(other) or not all(agree(name, *pair) for pair in zip(one, other)):
            wrong += 1
            print(f"{name}: README.md says {one}, tools/quickstart {other}")
    print(f"{len(said)} rows compared, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

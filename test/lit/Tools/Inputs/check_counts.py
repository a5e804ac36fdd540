"""The ratios that kvc bench --device sim prints against the counts beside them."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    rows = json.load(file)
assert rows
for row in rows:
    decode, merge = row["kernels"]["decode"], row["kernels"]["merge"]
    needed, read = row["bytes_needed"], decode["bytes_read"]
    pages = row["context"] // 64 * 8 * row["batch"]
    moved = sum(kernel[key] for kernel in (decode, merge) for key in ("bytes_read", "bytes_written"))
    # Nothing that is needed is left out, and all of it is read at least once.
    assert read >= row["bytes_per_step"], row
    share = decode["warp_instructions"] / (132 * 4 * 1.755e9) / (read / 4.8e12)
    for name, value in {"read_over_needed": read / needed, "moved_over_needed": moved / needed,
                        "warp_instructions_per_page": decode["warp_instructions"] / pages, "issue_share": share}.items():
        assert abs(row[name] - value) <= 1e-9 * value, (name, row[name], value)
    assert decode["mma"] > 0 and merge["mma"] == 0, row

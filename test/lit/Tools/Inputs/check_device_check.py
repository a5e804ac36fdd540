"""device_check.py's own reference: by hand, and against outputs that are wrong."""

import math
import struct
import sys

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import device_check as check  # noqa: E402

spec = check.spec_of("s", {"codec": "f16"}, heads=(1, 1), dim=16)
# Two keys with scores 0 and ln 3: weights 1/4 and 3/4.
query = [4.0] + [0.0] * 15
keys = [[0.0] * 16, [math.log(3)] + [0.0] * 15]
values = [[1.0] * 16, [5.0] * 16]
want, lse, bound, _ = check.attend(spec, query, keys, values, 1, 2, None, None)
assert all(abs(x - 4.0) < 1e-6 for x in want), want
assert abs(lse - math.log(4)) < 1e-6
assert 3e-3 < bound / math.sqrt(16 * 16) * 2 < 8e-3, bound
# The first query sees the first key alone; a sink of the same score takes half.
want, lse, _, _ = check.attend(spec, query, keys, values, 0, 2, None, 0.0)
assert all(abs(x - 0.5) < 1e-6 for x in want), want


def f32(rows):
    return struct.pack(f"<{len(rows)}f", *rows)


inputs = {"q": ("F32", [1, 1, 16], f32(query))}
cache = {"k": ("F32", [2, 1, 16], f32(sum(keys, []))), "v": ("F32", [2, 1, 16], f32(sum(values, [])))}
for value, is_right in ((4.0, True), (4.5, False), (math.nan, False)):
    outputs = {"out": ("F32", [1, 1, 16], f32([value] * 16)), "lse": ("F32", [1, 1], f32([math.log(4)]))}
    assert (check.worst_of_bound(spec, [(2, 1)], inputs, cache, outputs) <= 1) == is_right, value
outputs = {"out": ("F32", [1, 1, 16], f32([4.0] * 16)), "lse": ("F32", [1, 1], f32([math.log(4) + 0.1]))}
assert check.worst_of_bound(spec, [(2, 1)], inputs, cache, outputs) > 1

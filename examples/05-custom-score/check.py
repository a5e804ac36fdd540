#!/usr/bin/env python3
"""Compares what `kvc run` wrote with attention in plain loops and f64.

usage: check.py INPUTS.safetensors OUTPUT.safetensors CACHE.safetensors

Keys and values are those that the cache holds (`--dump-cache`), so the difference
is the kernels' alone. Each eighth query of the one sequence is computed.
"""
import array
import json
import math
import operator
import struct
import sys

HEADS, KV_HEADS, DIM = 9, 3, 64
ALLOWED = 2e-3  # f16 queries and output


def load(path):
    """name -> numbers, in row-major order."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    tensors = {}
    for name, about in header.items():
        if about.get("dtype") in ("F16", "F32"):
            begin, end = about["data_offsets"]
            code = "e" if about["dtype"] == "F16" else "f"
            size = struct.calcsize(code)
            numbers = struct.unpack(f"<{(end - begin) // size}{code}", data[begin:end])
            tensors[name] = array.array("d", numbers)
    return tensors


def score_function(score, query, key, head):
    """What the region of documents.mlir says."""
    if query // 400 != key // 400 and key != 0:
        return -math.inf
    return score - (head + 1) / 32 * math.log(1 + query - key)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    inputs, output, cache = map(load, sys.argv[1:])
    q, k, v, out = inputs["q"], cache["k"], cache["v"], output["out"]
    queries, keys = len(q) // (HEADS * DIM), len(k) // (KV_HEADS * DIM)

    def row(tensor, token, heads, head):
        begin = (token * heads + head) * DIM
        return tensor[begin : begin + DIM]

    worst = 0
    for head in range(HEADS):
        error = size = 0
        for i in range(0, queries, 8):
            position = keys - queries + i
            weights = []
            for token in range(position + 1):  # causal
                key = row(k, token, KV_HEADS, head // 3)
                dot = sum(map(operator.mul, row(q, i, HEADS, head), key))
                score = score_function(dot / math.sqrt(DIM), position, token, head)
                weights.append(math.exp(score))
            expected = [0.0] * DIM
            for token, weight in enumerate(weights):
                if weight:
                    for c, x in enumerate(row(v, token, KV_HEADS, head // 3)):
                        expected[c] += weight * x
            for x, got in zip(expected, row(out, i, HEADS, head)):
                x /= sum(weights)
                error += (got - x) ** 2
                size += x**2
        worst = max(worst, math.sqrt(error / size))
    print(f"{HEADS} heads, {len(range(0, queries, 8))} queries each: relative error at most {worst:.1e}")
    sys.exit(worst > ALLOWED)


main()

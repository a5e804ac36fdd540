#!/usr/bin/env python3
"""Makes the test vectors of presets whose bytes others define.

    make_preset_vectors.py test/data/presets/vectors.safetensors
    make_preset_vectors.py --check test/data/presets/vectors.safetensors

The quantisers are not ours: ggml's blocks come from the package `gguf`, the
small floats (fp8, fp4, e8m0, bf16) from `ml_dtypes`; numpy does the arithmetic
around them (README.md beside the vectors). Every preset NAME has a tensor
NAME.records, u8 [tokens, bytes of a record]: what SPEC.md section 5 stores for
one kv head in order "ggml" (ggml's types) or "token" (the others). What was
quantised is x64 or, with 576 channels, x576, f32 [tokens, channels].
"""
import argparse
import json
import pathlib
import struct
import sys

import gguf
import ml_dtypes
import numpy as np

E4M3 = ml_dtypes.float8_e4m3fn
E2M1 = ml_dtypes.float4_e2m1fn
E8M0 = ml_dtypes.float8_e8m0fnu
F32 = np.float32


def inputs(channels, normal):
    """Rows of every kind that a block can be."""
    random = np.random.default_rng(channels)
    rows = [random.normal(size=channels) * scale for scale in np.geomspace(1e-3, 1e3, normal)]
    rows += [
        np.zeros(channels),
        np.full(channels, 0.75),
        np.full(channels, -3.25),
        # Scales below f16's subnormals, and among them.
        random.normal(size=channels) * 1e-7,
        random.normal(size=channels) * 1e-5,
        # Halves of steps: ties of every rounding.
        random.integers(-14, 15, channels) / 2,
        random.integers(-254, 255, channels) / 2,
        np.arange(channels) % 15 - 7.0,
        # All of one sign, far from zero.
        random.uniform(100, 101, channels),
        -random.uniform(5, 9, channels),
        # One channel far larger than the others, of either sign.
        np.where(np.arange(channels) == 5, 900.0, random.normal(size=channels)),
        np.where(np.arange(channels) == 9, -900.0, random.normal(size=channels)),
        # Two of the largest magnitude: the first decides the sign.
        np.where(np.arange(channels) % 32 == 3, 4.0, np.where(np.arange(channels) % 32 == 1, -4.0, 1.0)),
    ]
    # A zero has no sign here: which of two zeros is the minimum is nobody's rule.
    return np.array(rows, F32) + F32(0)


def ggml(x, name):
    return gguf.quants.quantize(x, gguf.GGMLQuantizationType[name])


def blocks_of(x, size):
    return x.reshape(x.shape[0], -1, size)


def codes_of(blocks, scale, dtype):
    """x / s in the format, at its largest value where that is smaller."""
    largest = F32(ml_dtypes.finfo(dtype).max)
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.where(scale == 0, F32(0), blocks / scale)
    return np.clip(quotient, -largest, largest).astype(dtype).view(np.uint8).reshape(blocks.shape[0], -1)


def nibbles(codes):
    return (codes[:, 0::2] & 15) | (codes[:, 1::2] << 4)


def amax_of(blocks):
    return np.abs(blocks).max(axis=-1, keepdims=True)


def bytes_of(values):
    return np.ascontiguousarray(values.reshape(values.shape[0], -1)).view(np.uint8)


def power_of_two_at_least(values):
    mantissa, exponent = np.frexp(values)
    return np.ldexp(F32(1), np.where(mantissa == F32(0.5), exponent - 1, exponent)).astype(F32)


def fp8(x):
    blocks = blocks_of(x, x.shape[1])
    scale = amax_of(blocks) / F32(448)
    return np.hstack([codes_of(blocks, scale, E4M3), bytes_of(scale)])


def microscaled(x, dtype, exponent_of_largest):
    """A shared exponent per 32 values: that of the largest, less the format's."""
    blocks = blocks_of(x, 32)
    amax = amax_of(blocks)
    exponent = np.maximum(np.frexp(amax)[1] - 1 - exponent_of_largest, -127)
    exponent = np.where(amax == 0, -127, exponent)
    scale = np.ldexp(F32(1), exponent).astype(F32)
    codes = codes_of(blocks, scale, dtype)
    return np.hstack([nibbles(codes) if dtype is E2M1 else codes, bytes_of(scale.astype(E8M0))])


def nvfp4(x):
    blocks = blocks_of(x, 16)
    largest = F32(ml_dtypes.finfo(E4M3).max)
    scale = np.minimum(amax_of(blocks) / F32(6), largest).astype(E4M3)
    return np.hstack([nibbles(codes_of(blocks, scale.astype(F32), E2M1)), bytes_of(scale)])


def flashmla(x):
    blocks = blocks_of(np.ascontiguousarray(x[:, :512]), 128)
    scale = power_of_two_at_least(np.maximum(amax_of(blocks) / F32(448), F32(1e-4)))
    rope = np.ascontiguousarray(x[:, 512:]).astype(ml_dtypes.bfloat16)
    return np.hstack([codes_of(blocks, scale, E4M3), bytes_of(scale), bytes_of(rope)])


def vectors():
    x64, x576 = inputs(64, 24), inputs(576, 3)
    tensors = {"x64": x64, "x576": x576}
    for name in ("q8_0", "q4_0", "q4_1", "q5_0", "q5_1"):
        tensors[f"ggml_{name}.records"] = ggml(x64, name.upper())
    tensors["fp8.records"] = fp8(x64)
    tensors["mxfp8.records"] = microscaled(x64, E4M3, 8)
    tensors["mxfp4.records"] = microscaled(x64, E2M1, 2)
    tensors["nvfp4.records"] = nvfp4(x64)
    tensors["flashmla.records"] = flashmla(x576)
    return tensors


def safetensors(tensors):
    header, data = {}, b""
    for name, array in sorted(tensors.items()):
        content = np.ascontiguousarray(array).tobytes()
        dtype = {"float32": "F32", "uint8": "U8"}[array.dtype.name]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="compare with the file instead of writing it")
    args = parser.parse_args()
    content = safetensors(vectors())
    if not args.check:
        args.file.write_bytes(content)
    elif args.file.read_bytes() != content:
        sys.exit(f"{args.file}: expected the bytes that {pathlib.Path(__file__).name} makes, got others")


if __name__ == "__main__":
    main()

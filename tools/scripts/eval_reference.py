#!/usr/bin/env python3
"""Computes in numpy what `kvc eval` says of specs, by SPEC.md alone.

    eval_reference.py [SPEC.json ..] --inputs F.safetensors..        a table
    kvc eval [SPEC.json ..] --inputs F.safetensors.. --json > eval.json
    eval_reference.py [SPEC.json ..] --inputs F.safetensors.. --compare eval.json

Without a spec all presets. Reads their files and shares nothing with the
program: quantisation in f32 as section 2 says it, attention in f64. Static
scales, tables per head and smoothing factors come from --static. --compare
exits with 1 where a number of the program differs by more than its kernels'
own rounding explains, or where it has fewer than --at-least specs. What needs
more than that (keys from before RoPE, presets' calibrated inputs, a value that
is the key) and presets that do not fit the channels are left out.
"""
import argparse
import json
import math
import pathlib
import struct
import sys

import numpy as np

F32 = np.float32


def read_safetensors(path):
    data = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    types = {"F32": np.float32, "F16": np.float16, "I32": np.int32}
    tensors = {}
    for name, entry in header.items():
        if entry["dtype"] in types:
            begin, end = entry["data_offsets"]
            flat = np.frombuffer(data, types[entry["dtype"]], offset=8 + size + begin, count=math.prod(entry["shape"]))
            assert flat.nbytes == end - begin, name
            tensors[name] = flat.reshape(entry["shape"])
    return tensors


# Rounding ------------------------------------------------------------------


def small_floats(exponent_bits, mantissa_bits, largest):
    """The values >= 0 of a format, in the order of their codes."""
    bias = 2 ** (exponent_bits - 1) - 1
    values = []
    for code in range(2 ** (exponent_bits + mantissa_bits)):
        exponent, mantissa = divmod(code, 2**mantissa_bits)
        if exponent == 0:
            values.append(mantissa * 2.0 ** (1 - bias - mantissa_bits))
        else:
            values.append((1 + mantissa / 2**mantissa_bits) * 2.0 ** (exponent - bias))
    return np.array([value for value in values if value <= largest])


FORMATS = {
    "fp8_e4m3": small_floats(4, 3, 448),
    "fp8_e5m2": small_floats(5, 2, 57344),
    "fp4_e2m1": small_floats(2, 1, 6),
}


def to_format(x, values):
    """Nearest value, ties to the even code, beyond the largest the largest."""
    magnitude = np.abs(x.astype(np.float64))
    middles = (values[1:] + values[:-1]) / 2
    below, above = np.searchsorted(middles, magnitude, "left"), np.searchsorted(middles, magnitude, "right")
    code = np.where(below == above, below, below + below % 2)
    return np.copysign(values[code], x).astype(F32)


def round_to(x, dtype):
    """round_T: nearest even, saturating."""
    if dtype == "f32":
        return x.astype(F32)
    if dtype == "f16":
        return np.clip(x, F32(-65504), F32(65504)).astype(np.float16).astype(F32)
    if dtype == "bf16":
        bits = x.astype(F32).view(np.uint32).astype(np.uint64)
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
        result = rounded.astype(np.uint32).view(F32)
        largest = np.array([0x7F7F0000], np.uint32).view(F32)[0]
        return np.clip(result, -largest, largest)
    raise ValueError(dtype)


def divide(a, b):
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return (a / b).astype(F32)


# One part of a scheme ------------------------------------------------------
# A part with inputs has them as arrays: "table" [1, heads, 1, 1, entries],
# "static" (rounded scales) [1, heads, blocks, 1], "factors" [heads, channels].


table_of = lambda part: np.array(part["table"], F32)

def bits_of(part):
    codec = part["codec"]
    if codec == "lut":
        return table_of(part).shape[-1].bit_length() - 1
    return {"f32": 32, "f16": 16, "bf16": 16, "fp8_e4m3": 8, "fp8_e5m2": 8, "fp4_e2m1": 4}.get(codec) or int(codec[3:])


def codec_max(part):
    codec, zero = part["codec"], part.get("zero", "none")
    if codec == "lut":
        return np.abs(table_of(part)).max(-1)
    if codec in FORMATS:
        return F32(FORMATS[codec][-1])
    bits = bits_of(part)
    return F32(2 ** (bits - 1) - 1 if zero == "none" else 2**bits - 1)


def rounded_codes(t, part):
    """Integers by the scheme's rounding, not clamped yet."""
    how = part.get("round", "even")
    if how == "even":
        return np.rint(t)
    if how == "away":
        return np.copysign(np.floor(np.abs(t.astype(np.float64)) + 0.5), t).astype(F32)
    if part.get("zero", "none") == "none":
        half = 2 ** (bits_of(part) - 1)
        return np.floor(t + F32(half + 0.5)) - F32(half)
    return np.floor(t + F32(0.5))


def pairwise_rms(x, kept):
    """x: [.., count]; squares added in pairs, outliers count as 0."""
    squares = np.where(kept, x, F32(0)) ** 2
    size = 1 << (squares.shape[-1] - 1).bit_length()
    squares = np.concatenate([squares, np.zeros((*squares.shape[:-1], size - squares.shape[-1]), F32)], -1)
    while squares.shape[-1] > 1:
        squares = squares[..., 0::2] + squares[..., 1::2]
    count = np.maximum(kept.sum(-1, keepdims=True), 1).astype(F32)
    return np.sqrt(squares / count).astype(F32)


def store_scale(quotient, amax, part):
    """(what is stored, as f32) of a quotient; amax times clip for e8m0."""
    scale = part["scale"]
    dtype, up = scale["dtype"], scale.get("round") == "up"
    if "floor" in scale:
        quotient = np.maximum(quotient, F32(scale["floor"]))
    mantissa, exponent = np.frexp(quotient)
    power = np.where(mantissa == F32(0.5), exponent - 1, exponent)
    if dtype == "e8m0":
        if not up:
            power = np.frexp(amax)[1] - np.frexp(codec_max(part))[1]
        power = np.where(amax == 0, -127, np.clip(power, -127, 127))
        return np.ldexp(1.0, power).astype(F32)
    if up:
        quotient = np.where(quotient == 0, F32(0), np.ldexp(F32(1), power))
    if dtype == "e4m3":
        level = F32(scale.get("global", 1))
        return to_format(divide(quotient, level), FORMATS["fp8_e4m3"]) * level
    return round_to(quotient, dtype)


def code_blocks(x, kept, part):
    """x' of blocks x [.., count], each with a scale of its own."""
    zero, estimate = part.get("zero", "none"), part.get("estimate", "amax")
    exact = part.get("codes_from", "stored") == "exact"
    clip = F32(part.get("clip", 1.0))
    bits, largest = bits_of(part), codec_max(part)
    x = np.where(kept, x, F32(0))
    some = kept.any(-1, keepdims=True)
    low = np.where(some, np.where(kept, x, F32(np.inf)).min(-1, keepdims=True), F32(0)) * clip
    high = np.where(some, np.where(kept, x, F32(-np.inf)).max(-1, keepdims=True), F32(0)) * clip
    dtype = part["scale"]["dtype"]
    codec = part["codec"]

    if codec.startswith("int") and zero != "none":
        top = F32(2**bits - 1)
        if zero == "min":
            m = round_to(low, dtype) + F32(0)
            first = low if exact else m
            quotient = divide(high - first, top)
            s = round_to(quotient, dtype)
            if exact:
                inverse = divide(F32(1), quotient)
                t = np.where((quotient == 0) | ~np.isfinite(inverse), F32(0), (x - low) * inverse)
            else:
                t = np.where(s == 0, F32(0), divide(x - m, s))
            u = np.clip(rounded_codes(t, part), 0, top)
            return s * u + m
        s = round_to(divide(high - low, top), dtype)
        z = np.where(s == 0, F32(0), round_to(divide(-low, s), dtype)) + F32(0)
        constant = (s == 0) & (low != 0)
        t = np.where(s == 0, F32(0), divide(x, s) + z)
        u = np.where(s == 0, F32(0), np.clip(rounded_codes(t, part), 0, top))
        s = np.where(constant, round_to(np.abs(low), dtype), s)
        z = np.where(constant, np.where(low > 0, F32(-1), F32(1)), z)
        return s * (u - z)

    m = F32(0)
    if zero == "mid":
        m = round_to((high + low) / F32(2), dtype) + F32(0)
        x = np.where(kept, x - m, F32(0))
    amax = np.abs(x).max(-1, keepdims=True) * clip
    if "static" in part:
        s = part["static"]
    elif estimate == "signed":
        first = np.take_along_axis(x, np.abs(x).argmax(-1, keepdims=True), -1) * clip
        largest = F32(-(2 ** (bits - 1)))
        quotient = divide(first, largest)
        s = round_to(quotient, dtype)
    else:
        quotient = pairwise_rms(x, kept) * clip if estimate == "rms" else divide(amax, largest)
        s = store_scale(quotient, amax, part)
    if exact:
        inverse = divide(F32(1), quotient)
        t = np.where((quotient == 0) | ~np.isfinite(inverse), F32(0), x * inverse)
        nothing = np.zeros_like(s, bool)
    else:
        nothing = s == 0
        t = np.where(nothing, F32(0), divide(x, s))
    if codec == "lut":
        table = table_of(part)
        t = np.clip(t, np.finfo(F32).min, np.finfo(F32).max).astype(np.float64)
        u = np.abs(t[..., None] - table.astype(np.float64)).argmin(-1)
        entries = np.broadcast_to(table, (*u.shape, table.shape[-1]))
        read = np.take_along_axis(entries, u[..., None], -1)[..., 0]
        return np.where(nothing, F32(0), s * read) + m
    if codec in FORMATS:
        return s * to_format(t, FORMATS[codec])
    u = rounded_codes(t, part)
    bottom = -(2 ** (bits - 1)) if estimate == "signed" else -(2 ** (bits - 1) - 1)
    return s * np.clip(u, bottom, 2 ** (bits - 1) - 1).astype(F32)


def rotate(x, n):
    """Walsh-Hadamard transform of blocks of n channels; its own inverse."""
    shape, h = x.shape, 1
    x = x.reshape(-1, n)
    while h < n:
        pairs = x.reshape(-1, n // (2 * h), 2, h)
        x = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], 2).reshape(-1, n)
        h *= 2
    return (x * F32(1 / math.sqrt(n))).reshape(shape)


def code_part(x, part):
    """x [tokens, heads, channels] as it reads back."""
    if part["codec"] in ("f32", "f16", "bf16"):
        return round_to(x, part["codec"])
    tokens, heads, channels = x.shape
    if "rotate" in part:
        x = rotate(x, part["rotate"])
    scale = part["scale"]
    n = tokens if scale["tokens"] == "all" else scale["tokens"]
    width = channels if scale["channels"] == "all" else scale["channels"]
    kept = np.ones(x.shape, bool)
    if "outliers" in part:
        by = np.abs(x)
        by = divide(by, np.repeat(part["static"][0, ..., 0], width, -1)) if "static" in part else by
        order = np.argsort(-by, axis=-1, kind="stable")
        np.put_along_axis(kept, order[..., : part["outliers"]], False, -1)

    def blocked(array):
        shape = array.reshape(tokens // n, n, heads, channels // width, width).transpose(0, 2, 3, 1, 4)
        return shape.reshape(tokens // n, heads, channels // width, n * width)

    read = code_blocks(blocked(x), blocked(kept), part)
    read = read.reshape(tokens // n, heads, channels // width, n, width).transpose(0, 3, 1, 2, 4).reshape(x.shape)
    read = np.where(kept, read, round_to(x, "f16"))
    return rotate(read, part["rotate"]) if "rotate" in part else read


# Schemes and presets -------------------------------------------------------


class LeftOut(Exception):
    pass


def round_static(scales, scale):
    """Static scales in their dtype; always > 0."""
    if scale["dtype"] == "e8m0":
        return np.ldexp(1.0, np.clip(np.frexp(scales)[1] - 1, -127, 127)).astype(F32)
    return store_scale(scales, scales, {"scale": scale})


def parts_of(tensor, scheme, channels, inputs):
    """The parts of a scheme with their inputs put in."""
    parts = scheme.get("parts") or [{**scheme, "channels": [0, channels]}]
    result = []
    for number, part in enumerate(parts):
        prefix = f"{tensor}{number}" if len(parts) > 1 else tensor
        begin, end = part["channels"]
        part = dict(part)
        if "rope" in scheme or "rope" in part:
            raise LeftOut("keys from before RoPE")
        if isinstance(part.get("table"), dict):
            part["table"] = need(inputs, f"{prefix}_table")[None, :, None, None, :]
        if "scale" in part and part["scale"].get("static"):
            part["static"] = round_static(need(inputs, f"{prefix}_scale"), part["scale"])[None, :, :, None]
        if part.get("smooth"):
            part["factors"] = need(inputs, f"{tensor}_smooth")[:, begin:end]
        result.append(part)
    return result


def need(inputs, name):
    if name not in inputs:
        raise LeftOut("needs more inputs")
    return inputs[name]


def with_channels(value, channels):
    if isinstance(value, dict):
        return {key: with_channels(item, channels) for key, item in value.items()}
    words = {"channels": channels, "channels.power_of_two": channels & -channels, "channels.one_percent": max(1, channels // 100)}
    return words.get(value, value) if isinstance(value, str) else value


PLAIN = {"q_heads", "kv_heads", "head_dim", "value_dim", "mask"}


def schemes_of(document, key_channels, value_channels, inputs):
    """Parts of K and V and the segments, of a preset's file or of a spec."""
    spec = document if "kvc" in document else document.get("spec") or {"key": document["scheme"], "value": document["scheme"]}
    attention = spec.get("attention", {})
    if ("kvc" not in document and attention) or not PLAIN.issuperset(attention) or attention.get("mask") == "none":
        raise LeftOut("has an attention of its own")
    result = []
    for name, channels in (("key", key_channels), ("value", value_channels)):
        parts = parts_of(name, with_channels(spec[name], channels), channels, inputs)
        for part in parts:
            width, own = part.get("scale", {}).get("channels", "all"), part["channels"][1] - part["channels"][0]
            if width != "all" and own % width:
                raise LeftOut(f"blocks of {width} do not divide {own} channels")
        result.append(parts)
    return *result, spec.get("segments", {})


def body_of(parts, segments, length):
    blocks = [part["scale"]["tokens"] for part in parts if "scale" in part]
    n = max([block for block in blocks if block != "all"], default=1)
    sink = segments.get("sink", 0)
    return sink, sink + max(0, length - sink - segments.get("recent", 0)) // n * n


def read_back(x, parts, segments):
    begin, end = body_of(parts, segments, len(x))
    result = x.copy()
    for part in parts if end > begin else []:
        channels = slice(*part["channels"])
        given = x[begin:end, :, channels]
        factors = part.get("factors", F32(1))
        result[begin:end, :, channels] = code_part((given / factors).astype(F32), part) * factors
    return result


def bits_per_value(parts):
    """The mean over the channels."""
    bits = total = 0
    for part in parts:
        channels = part["channels"][1] - part["channels"][0]
        each = bits_of(part)
        if "scale" in part and "static" not in part:
            scale = part["scale"]
            width = channels if scale["channels"] == "all" else scale["channels"]
            per_block = {"f32": 32, "f16": 16, "bf16": 16, "e8m0": 8, "e4m3": 8}[scale["dtype"]]
            per_block *= 1 if part.get("zero", "none") == "none" else 2
            each += per_block / (width * scale["tokens"])
        bits += channels * (each + 32 * part.get("outliers", 0) / channels)
        total += channels
    return bits / total


# Attention -----------------------------------------------------------------


def scores_of(q, k):
    """[heads, queries, keys]; -inf where a query does not see a key."""
    group = q.shape[1] // k.shape[1]
    scale = 1 / math.sqrt(q.shape[2])
    scores = scale * np.einsum("qhc,khc->hqk", q.astype(np.float64), np.repeat(k, group, 1).astype(np.float64))
    position = len(k) - len(q) + np.arange(len(q))
    return np.where(np.arange(len(k)) <= position[:, None], scores, -np.inf)


def log_weights(scores):
    largest = scores.max(-1, keepdims=True)
    return scores - largest - np.log(np.exp(scores - largest).sum(-1, keepdims=True))


def output_of(log_p, v):
    group = log_p.shape[0] // v.shape[1]
    return np.einsum("hqk,khc->qhc", np.exp(log_p), np.repeat(v, group, 1).astype(np.float64))


def evaluate(document, files, inputs):
    error = norm = score_error = score_norm = divergence = bits = values = 0
    rows, per_value, head_errors, head_norms = 0, None, 0, 0
    for tensors in files:
        q, k, v = (tensors[name].astype(F32) for name in "qkv")
        key, value, segments = schemes_of(document, k.shape[2], v.shape[2], inputs)
        channels = (k.shape[2], v.shape[2])
        per_value = sum(bits_per_value(s) * c for s, c in zip((key, value), channels)) / sum(channels)
        starts = tensors["cu_seqlens_q"], tensors["cu_seqlens_kv"]
        raw_bits = 8 * tensors["q"].dtype.itemsize
        for i in range(len(starts[0]) - 1):
            (q0, q1), (k0, k1) = (s[i : i + 2] for s in starts)
            ks, vs = k[k0:k1], v[k0:k1]
            right = scores_of(q[q0:q1], ks)
            other = scores_of(q[q0:q1], read_back(ks, key, segments))
            log_right, log_other = log_weights(right), log_weights(other)
            seen = np.isfinite(right)
            score_error += ((other[seen] - right[seen]) ** 2).sum()
            score_norm += (right[seen] ** 2).sum()
            divergence += (np.exp(log_right[seen]) * (log_right[seen] - log_other[seen])).sum()
            rows += right.shape[0] * right.shape[1]
            ref = output_of(log_right, vs)
            out = output_of(log_other, read_back(vs, value, segments))
            head_errors = head_errors + ((out - ref) ** 2).sum((0, 2))
            head_norms = head_norms + (ref**2).sum((0, 2))
            for scheme, c in zip((key, value), channels):
                begin, end = body_of(scheme, segments, len(ks))
                coded = max(0, end - begin)
                bits += coded * c * bits_per_value(scheme) + (len(ks) - coded) * c * raw_bits
                values += len(ks) * c
    per_head = np.sqrt(head_errors / head_norms)
    return {
        "bits_per_value": float(per_value),
        "bits_per_value_with_raw_tokens": float(bits / values),
        "relative_error": float(np.sqrt(head_errors.sum() / head_norms.sum())),
        "worst_head": int(per_head.argmax()),
        "worst_head_relative_error": float(per_head.max()),
        "score_relative_error": float(np.sqrt(score_error / score_norm)),
        "kl_divergence": float(divergence / rows),
    }


def differences(name, ours, theirs):
    """What the program's kernels do not explain: they round outputs to io.output
    and may be within 1e-3 of the exact answer; the rest is exact in both."""
    allowed = {
        "bits_per_value": 1e-12,
        "bits_per_value_with_raw_tokens": 1e-12,
        "relative_error": 1e-2,
        "worst_head_relative_error": 1e-2,
        "score_relative_error": 1e-4,
        "kl_divergence": 1e-3,
    }
    for key, relative in allowed.items():
        slack = 5e-4 if key.endswith("relative_error") and not key.startswith("score") else 1e-9
        if abs(ours[key] - theirs[key]) > relative * abs(ours[key]) + slack:
            yield f"{name}: {key}: expected {ours[key]:.6g}, got {theirs[key]:.6g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    presets = pathlib.Path(__file__).resolve().parents[2] / "runtime/src/spec/presets"
    parser.add_argument("specs", nargs="*", type=pathlib.Path, metavar="SPEC.json", help="default: all presets")
    parser.add_argument("--static", help="inputs of the schemes, as kvc calibrate writes them")
    parser.add_argument("--inputs", nargs="+", required=True)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--compare", type=pathlib.Path, help="what kvc eval --json printed")
    parser.add_argument("--at-least", type=int, default=1, help="specs that --compare must find")
    args = parser.parse_args()
    files = [read_safetensors(path) for path in args.inputs]
    inputs = read_safetensors(args.static) if args.static else {}
    theirs = None
    if args.compare:
        theirs = {row["name"]: row for row in json.loads(args.compare.read_text()) if "refused" not in row}

    results = {}
    for path in args.specs or sorted(presets.glob("*.json")):
        document = json.loads(path.read_text())
        name = document["name"] if "kvc" in document else path.stem
        try:
            if theirs is None or name in theirs:
                results[name] = evaluate(document, files, inputs)
        except LeftOut:
            continue
    if theirs is not None:
        errors = [text for name, row in results.items() for text in differences(name, row, theirs[name])]
        print(f"{len(results)} specs compared")
        if len(results) < args.at_least:
            errors.append(f"expected at least {args.at_least} specs, got {len(results)}")
        sys.exit("\n".join(errors) or 0)
    if args.json:
        print(json.dumps([{"name": name, **row} for name, row in results.items()], indent=2))
        return
    print(f"{'spec':<12}{'bits':>8}{'error':>10}{'worst head':>16}{'scores':>10}{'KL':>12}")
    for name, row in results.items():
        worst = f"{row['worst_head_relative_error']:.4f} ({row['worst_head']})"
        print(f"{name:<12}{row['bits_per_value_with_raw_tokens']:>8.3f}{row['relative_error']:>10.4f}{worst:>16}{row['score_relative_error']:>10.4f}{row['kl_divergence']:>12.3e}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Runs the kernels of GPU targets on the simulated device and compares.

Every case is a spec: its rows go through the append kernel, the unpack kernel
gives them back, which must be what the spec's arithmetic says to the bit, and
decode, prefill and merge must agree with attention in f64 over what unpack gave.
The simulator checks every launch for races, undefined values and bounds.
"""

import argparse
import ctypes
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

SLOT = 8


def spec_of(name, codec, *, order="auto", page=64, query="f16", q_heads=8, kv_heads=2, dim=128, zero=None,
            value_dim=None, dtype="f16", **attention):
    scheme = {"codec": codec}
    if codec not in ("f16", "bf16"):
        scheme["scale"] = {"tokens": 1, "channels": "all", "dtype": dtype}
        if zero:
            scheme["zero"] = zero
    spec = {"kvc": 1, "name": name,
            "attention": {"q_heads": q_heads, "kv_heads": kv_heads, "head_dim": dim, **attention},
            "io": {"query": query}, "key": scheme, "value": dict(scheme),
            "layout": {"kind": "paged", "page": page, "order": order}}
    if value_dim:
        spec["attention"]["value_dim"] = value_dim
    return spec


CASES = [
    spec_of("f16", "f16"),
    spec_of("f16_nhd", "f16", order="nhd"),
    spec_of("f16_page16", "f16", page=16),
    spec_of("bf16", "bf16", query="bf16", q_heads=14),
    spec_of("int8", "int8"),
    spec_of("int8_nhd", "int8", order="nhd", page=16),
    spec_of("int4", "int4", zero="min"),
    spec_of("int4_hnd", "int4", zero="min", order="hnd"),
    spec_of("int2", "int2", zero="min", window=50, window_sinks=3),
    spec_of("fp8", "fp8_e4m3", dim=64, softcap=20.0),
    spec_of("int4_bf16", "int4", zero="min", query="bf16"),
    spec_of("fp8_wide", "fp8_e5m2", dtype="f32", order="nhd"),
    spec_of("odd", "int8", dtype="bf16", q_heads=9, kv_heads=3, dim=80, value_dim=48, mask="none", alibi=True, sink_logits=True),
    spec_of("wide", "int4", zero="min", q_heads=24, kv_heads=1, dim=64, alibi=True, window=40),
]


# --- Numbers -----------------------------------------------------------------

def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def f16(x):
    """Nearest, at most the largest finite value."""
    return struct.unpack("<e", struct.pack("<e", max(-65504.0, min(65504.0, x))))[0]


def bf16(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def pack16(values, kind):
    if kind == "f16":
        return struct.pack(f"<{len(values)}e", *values)
    return b"".join(struct.pack("<f", x)[2:] for x in values)


def unpack16(data, kind):
    if kind == "f16":
        return list(struct.unpack(f"<{len(data) // 2}e", data))
    return [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]


def round_even(x):
    return float(round(x))  # Python rounds halves to even.


def expected(scheme, row):
    """x' of one row by the spec's arithmetic, or None where this file has none."""
    codec = scheme["codec"]
    if codec in ("f16", "bf16"):
        return row
    if not codec.startswith("int"):
        return None
    bits = int(codec[3:])
    rounded = {"f16": f16, "bf16": bf16, "f32": f32}[scheme["scale"]["dtype"]]
    if scheme.get("zero") == "min":
        zero = rounded(min(row)) + 0.0
        scale = rounded(f32(f32(max(row) - zero) / (2 ** bits - 1)))
        if scale == 0:
            return [zero] * len(row)
        codes = [max(0.0, min(2.0 ** bits - 1, round_even(f32(f32(x - zero) / scale)))) for x in row]
        return [f32(f32(scale * u) + zero) for u in codes]
    top = 2 ** (bits - 1) - 1
    scale = rounded(f32(max(abs(x) for x in row) / top))
    if scale == 0:
        return [0.0] * len(row)
    return [f32(scale * max(-top, min(top, round_even(f32(x / scale))))) for x in row]


# --- The driver --------------------------------------------------------------

class Device:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *args):
        status = getattr(self.cuda, name)(*args)
        if status:
            raise RuntimeError(f"{name}: {status}")

    def allocate(self, size):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(size, 16)))
        return pointer.value

    def upload(self, data):
        pointer = self.allocate(len(data))
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(pointer), data, ctypes.c_size_t(len(data)))
        return pointer

    def download(self, pointer, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, ctypes.c_uint64(pointer), ctypes.c_size_t(size))
        return data.raw

    def load(self, text):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), text + b"\0")
        return module

    def launch(self, module, kernel, items):
        """A block for each item, and one for an item of zeros."""
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel["symbol"].encode())
        items = items + [bytes(len(items[0]))]
        argument = ctypes.c_uint64(self.upload(b"".join(items)))
        parameters = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
        self.call("cuLaunchKernel", function, len(items), 1, 1, kernel["threads"], 1, 1,
                  kernel["shared_bytes"], None, parameters, None)
        self.call("cuCtxSynchronize")


def slots(*values):
    return struct.pack(f"<{len(values)}q", *values)


# --- A case ------------------------------------------------------------------

class Case:
    def __init__(self, device, spec, manifest, text):
        self.device, self.spec = device, spec
        self.module = device.load(text)
        self.kernels = {kernel["name"]: kernel for kernel in manifest["kernels"]}
        attention = spec["attention"]
        self.q_heads, self.kv_heads = attention["q_heads"], attention["kv_heads"]
        self.group = self.q_heads // self.kv_heads
        self.dims = [attention["head_dim"], attention.get("value_dim", attention["head_dim"])]
        self.page, self.order = spec["layout"]["page"], spec["layout"]["order"]
        if self.page < 16 and self.order == "auto":
            self.order = "nhd"

    def regions(self, scheme, dim, pages):
        """kvc_region of each region of a tensor, in memory that nobody wrote."""
        codec = scheme["codec"]
        bits = 16 if codec in ("f16", "bf16") else 8 if codec.startswith("fp8") else int(codec[3:])
        rows = [dim * bits // 8]
        if "scale" in scheme:
            bytes_of = 4 if scheme["scale"]["dtype"] == "f32" else 2
            rows += [bytes_of] * (2 if scheme.get("zero") else 1)
        result = b""
        for row in rows:
            page = row * self.page * self.kv_heads
            head = row if self.order == "nhd" else row * self.page
            result += slots(self.device.allocate(page * pages), page, head)
        return result

    def view(self, pages):
        order = list(range(pages))
        random.Random(3).shuffle(order)
        regions = b"".join(self.regions(self.spec[tensor], dim, pages)
                           for tensor, dim in zip(("key", "value"), self.dims))
        table = self.device.upload(struct.pack(f"<{pages}i", *order))
        return slots(self.device.upload(regions), table, 0, 0, 0, 0, 0)

    def run(self, length, queries):
        rng = random.Random(length)
        kind = self.spec["io"]["query"]
        rounded = f16 if kind == "f16" else bf16
        rows = lambda count, heads, dim, size: [
            [[rounded(rng.gauss(0, size)) for _ in range(dim)] for _ in range(heads)] for _ in range(count)]
        flat = lambda tensor: [x for token in tensor for head in token for x in head]
        given = [rows(length, self.kv_heads, dim, 1.0) for dim in self.dims]
        query = rows(queries, self.q_heads, self.dims[0], 1.0)
        self.slopes = [f32(2.0 ** -(h + 2)) for h in range(self.q_heads)]
        self.sinks = [f32(0.5 * h - 1) for h in range(self.q_heads)]
        view = self.view((length + self.page - 1) // self.page)
        self.append(view, [pack16(flat(tensor), kind) for tensor in given], length)
        stored = self.unpack(view, length)
        for tensor, name, values in zip(given, ("key", "value"), stored):
            for t in range(length):
                for h in range(self.kv_heads):
                    want = expected(self.spec[name], tensor[t][h])
                    if want is not None and values[h][t] != want:
                        wrong = next(i for i, (a, b) in enumerate(zip(values[h][t], want)) if a != b)
                        raise AssertionError(f"{name} token {t} head {h} channel {wrong}: expected "
                                             f"{want[wrong]}, got {values[h][t][wrong]}")
        worst = 0.0
        for name in ("decode", "prefill"):
            if name in self.kernels:
                out = self.attend(name, view, pack16(flat(query), kind), length, queries)
                worst = max(worst, self.compare(query, stored, out, length, queries))
        return worst

    def append(self, view, inputs, length):
        pointers = [self.device.upload(data) for data in inputs]
        items = []
        for head in range(self.kv_heads):
            for begin in range(0, length, 2 * self.page):
                end = min(length, begin + 2 * self.page)
                item = view
                for pointer, dim in zip(pointers, self.dims):
                    stride = self.kv_heads * dim
                    item += slots(pointer + begin * stride * 2, stride, dim)
                items.append(item + slots(head, begin, end, 0, 0, 0))
        self.device.launch(self.module, self.kernels["append"], items)

    def unpack(self, view, length):
        items, buffers = [], []
        for head in range(self.kv_heads):
            item = view + slots(head, 0, length)
            for dim in self.dims:
                sizes = [length * dim, length * 4, length * 4, length * dim * 4, 16, 16]
                places = [self.device.allocate(size) for size in sizes]
                buffers.append((places[3], dim))
                item += slots(*places)
            items.append(item)
        self.device.launch(self.module, self.kernels["unpack"], items)
        result = [[], []]
        for i, (pointer, dim) in enumerate(buffers):
            values = struct.unpack(f"<{length * dim}f", self.device.download(pointer, length * dim * 4))
            result[i % 2].append([list(values[t * dim:(t + 1) * dim]) for t in range(length)])
        return result

    def attend(self, name, view, query, length, queries):
        kernel, dim = self.kernels[name], self.dims[1]
        rows, tile = queries * self.group, kernel["tile_tokens"]
        split = max(tile, (length // 3 + tile - 1) // tile * tile)
        bounds = list(range(0, length, split)) + [length]
        splits = len(bounds) - 1
        pointer = self.device.upload(query)
        slopes, sinks = (self.device.upload(struct.pack(f"<{self.q_heads}f", *values))
                         for values in (self.slopes, self.sinks))
        out_size = queries * self.q_heads * dim
        out = self.device.allocate(out_size * 2)
        lse = self.device.allocate(queries * self.q_heads * 4)
        items, merges = [], []
        for head in range(self.kv_heads):
            partial = self.device.allocate(splits * rows * dim * 4)
            partial_lse = self.device.allocate(splits * rows * 4)
            for i in range(splits):
                for row in range(0, rows, kernel["tile_rows"]):
                    end = min(rows, row + kernel["tile_rows"])
                    at = i * rows + row
                    items.append(view + slots(pointer, self.q_heads * self.dims[0], self.dims[0],
                                              partial + at * dim * 4, partial_lse + at * 4, slopes, head, queries,
                                              length, row, end, bounds[i], bounds[i + 1]))
            merges.append(slots(partial, rows * dim, partial_lse, rows, sinks, out, self.q_heads * dim, dim,
                                lse, self.q_heads, 1, head, 0, rows, splits))
        self.device.launch(self.module, kernel, items)
        self.device.launch(self.module, self.kernels["merge"], merges)
        values = unpack16(self.device.download(out, out_size * 2), self.spec["io"]["query"])
        return [[values[(i * self.q_heads + h) * dim:][:dim] for h in range(self.q_heads)] for i in range(queries)]

    def compare(self, query, stored, out, length, queries):
        """The largest error over the spec's bound."""
        attention = self.spec["attention"]
        scale = f32(1 / math.sqrt(self.dims[0]))
        base, half = (1e-3, 2.0 ** -11) if self.spec["io"]["query"] == "f16" else (6e-3, 2.0 ** -8)
        window, sinks, cap = (attention.get(key) for key in ("window", "window_sinks", "softcap"))
        worst = 0.0
        for i in range(queries):
            position = length - queries + i
            ends = position + 1 if attention.get("mask", "causal") == "causal" else length
            visible = [t for t in range(ends)
                       if not window or t > position - window or t < (sinks or 0)]
            for h in range(self.q_heads):
                keys, values = stored[0][h // self.group], stored[1][h // self.group]
                q = query[i][h]
                scores = {t: scale * sum(a * b for a, b in zip(q, keys[t])) for t in visible}
                size = max(map(abs, scores.values()))
                spread = max(scale * math.sqrt(sum((a * b) ** 2 for a, b in zip(q, keys[t]))) for t in visible)
                if attention.get("alibi"):
                    scores = {t: x + self.slopes[h] * (t - position) for t, x in scores.items()}
                if cap:
                    scores = {t: cap * math.tanh(x / cap) for t, x in scores.items()}
                top = max(scores.values())
                weights = {t: math.exp(x - top) for t, x in scores.items()}
                total = sum(weights.values())
                if attention.get("sink_logits"):
                    total += math.exp(self.sinks[h] - top)
                dim = self.dims[1]
                want = [sum(w * values[t][c] for t, w in weights.items()) / total for c in range(dim)]
                norm = math.sqrt(sum(x * x for x in want))
                mixed = math.sqrt(sum((w / total) ** 2 * sum(x * x for x in values[t])
                                      for t, w in weights.items()))
                error = math.sqrt(sum((a - b) ** 2 for a, b in zip(out[i][h], want)))
                bound = (base * max(1.0, spread) + 2.0 ** -22 * size) * max(norm, mixed) + half * norm
                worst = max(worst, error / bound)
        return worst


def launch(folder, names):
    device, failures = Device(), 0
    for spec in CASES:
        if names and spec["name"] not in names:
            continue
        with open(f"{folder}/{spec['name']}.sm_80.json", encoding="utf-8") as file:
            manifest = json.load(file)
        with open(f"{folder}/{manifest['code']}", "rb") as file:
            case = Case(device, spec, manifest, file.read())
        for length, queries in ((1, 1), (77, 1), (150, 3)):
            try:
                worst = case.run(length, queries)
            except (AssertionError, RuntimeError) as error:
                worst = math.inf
                print(f"{spec['name']}: {length} tokens: {error}")
            failures += not worst <= 1
            print(f"{spec['name']:12} {length:4} tokens {queries} queries: {worst:.3f} of the bound", flush=True)
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kvc")
    parser.add_argument("--sim-run")
    parser.add_argument("--launch", help="folder of compiled specs; inside of the simulator")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if args.launch:
        return launch(args.launch, args.names)
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for spec in CASES:
            if args.names and spec["name"] not in args.names:
                continue
            paths.append(f"{folder}/{spec['name']}.json")
            with open(paths[-1], "w", encoding="utf-8") as file:
                json.dump(spec, file)
        subprocess.run([args.kvc, "compile", *paths, "--target", "sm_80", "--emit", "ptx", "--out", folder],
                       check=True, stdout=subprocess.DEVNULL)
        return subprocess.run([args.sim_run, "--check", sys.executable, os.path.abspath(__file__),
                               "--launch", folder, *args.names], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

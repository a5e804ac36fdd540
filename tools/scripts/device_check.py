#!/usr/bin/env python3
"""What device_check.sh runs: kernels of a device against attention in f64, then their times.

Every case is a spec. Its rows go through append, decode or prefill, and merge on the device, and
unpack gives the cache back: that must be what the host's cache gives, to the bit, and outputs must
agree with attention in f64 over it, within the bound of runtime/src/spec/SPEC.md, section 3.
Decode steps are then timed by `kvc bench --device` (on the simulator: counted).
"""

import argparse
import concurrent.futures
import datetime
import json
import math
import os
import platform
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from operator import mul

# --- Cases -------------------------------------------------------------------


def spec_of(name, scheme, *, query="f16", heads=(8, 2), dim=128, layout=None, segments=None, value=True, top=None, **attention):
    spec = {"kvc": 1, "name": name, "attention": {"q_heads": heads[0], "kv_heads": heads[1], "head_dim": dim, **attention},
            "io": {"query": query}, "layout": layout or {"kind": "paged", "page": 64, "order": "auto"}}
    if top:
        spec["preset"] = top
    else:
        spec["key"] = scheme
        if value:
            spec["value"] = scheme
    if segments:
        spec["segments"] = segments
    return spec


def preset(name):
    return {"preset": name}


def paged(order, page=64):
    return {"kind": "paged", "page": page, "order": order}


def correctness_cases(tiny):
    """Specs with the lengths and queries of their sequences."""
    if tiny:
        small = {"heads": (4, 1), "dim": 32}
        batch = [(70, 1), (33, 12)]
        return [(spec_of("f16", {"codec": "f16"}, **small), batch),
                (spec_of("int4", preset("int4"), softcap=20.0, sink_logits=True, **small), batch),
                (spec_of("fp8_nhd", preset("fp8"), layout=paged("nhd", 16), window=20, alibi=True, **small), batch)]
    batch = [(150, 1), (77, 12), (1, 1)]
    specs = [spec_of("f16", {"codec": "f16"}), spec_of("bf16", {"codec": "bf16"}, query="bf16"),
             spec_of("f32", {"codec": "f32"}, query="f32", heads=(4, 2), dim=64),
             spec_of("int4_f32", preset("int4"), query="f32", heads=(4, 2), dim=64)]
    specs += [spec_of(name, preset(name)) for name in
              ("int8", "int4", "int3", "int2", "int4g32", "fp8", "mxfp8", "mxfp4", "nvfp4", "nf4", "quarot4", "turbo4", "llm_int8",
               "ggml_q8_0", "ggml_q4_1")]
    specs += [spec_of("int4_bf16", preset("int4"), query="bf16"), spec_of("fp8_bf16", preset("fp8"), query="bf16"),
              spec_of("k8v4", None, top="k8v4"),
              spec_of("flashmla", None, top="flashmla", query="bf16", heads=(16, 1), dim=576, layout=paged("token")),
              spec_of("latent", preset("int8"), heads=(16, 1), dim=144, value=False, value_is_key=[0, 128]),
              spec_of("int4_nhd", preset("int4"), layout=paged("nhd", 16)), spec_of("int8_hnd", preset("int8"), layout=paged("hnd")),
              spec_of("contiguous", preset("int4"), layout={"kind": "contiguous", "order": "auto"}),
              spec_of("ring", preset("int8"), layout={"kind": "ring", "order": "auto"}, window=50),
              spec_of("segments", preset("int4"), segments={"sink": 4, "recent": 32}),
              spec_of("window", preset("int2"), window=40, window_sinks=3), spec_of("odd", preset("int8"), heads=(9, 3), dim=80, value_dim=48),
              spec_of("scores", preset("fp8"), softcap=20.0, alibi=True, sink_logits=True), spec_of("no_mask", preset("int4"), mask="none")]
    cases = [(spec, batch) for spec in specs]
    cases += [(spec_of(f"long_{name}", scheme, heads=(8, 1)), [(1500, 1), (900, 2)])
              for name, scheme in (("f16", {"codec": "f16"}), ("int4", preset("int4")))]
    # Blocks of many tokens compile for long: last, for what time is left.
    return cases + [(spec_of("kivi4", None, top="kivi4", heads=(4, 1), dim=32), [(200, 1)])]


CODECS = {"bf16": {"codec": "bf16"}, "fp8": preset("fp8"), "int8": preset("int8"), "int4": preset("int4"), "int2": preset("int2")}

# Batch, context, query and kv heads; of latents V is 512 of 576 channels of K.
SHAPES = [(1, 4096, 32, 8), (1, 65536, 32, 8), (8, 32768, 32, 8), (64, 4096, 32, 8), (128, 16384, 128, 16), (8, 32768, 128, 1)]
TINY_SHAPES = [(2, 128, 4, 2)]


def timed_specs(shape, tiny):
    _, _, q_heads, kv_heads = shape
    latent = kv_heads == 1
    for codec, scheme in CODECS.items():
        yield codec, spec_of(codec, scheme, query="bf16" if codec == "bf16" else "f16", heads=(q_heads, kv_heads),
                             dim=576 if latent else 32 if tiny else 128, value=not latent, **({"value_is_key": [0, 512]} if latent else {}))


# --- Files -------------------------------------------------------------------


def write_tensors(path, tensors):
    """Name to (dtype, shape, bytes)."""
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_tensors(path):
    with open(path, "rb") as file:
        content = file.read()
    (size,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__", None)
    data = content[8 + size:]
    return {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])]) for name, entry in header.items()}


def floats(tensor):
    dtype, _, data = tensor
    if dtype == "BF16":
        return [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]
    return list(struct.unpack(f"<{len(data) // (2 if dtype == 'F16' else 4)}{'e' if dtype == 'F16' else 'f'}", data))


def rows_of(flat, heads, dim):
    """[token][head] -> channels."""
    step = heads * dim
    return [[flat[t + h * dim:t + (h + 1) * dim] for h in range(heads)] for t in range(0, len(flat), step)]


# --- The reference -----------------------------------------------------------

BASE = {"f16": 1e-3, "bf16": 6e-3, "f32": 2e-5}
ROUNDING = {"f16": 2.0 ** -11, "bf16": 2.0 ** -8, "f32": 2.0 ** -24}


def sizes_of(spec):
    attention = spec["attention"]
    dim, slice_ = attention["head_dim"], attention.get("value_is_key", [0, 512] if spec.get("preset") == "flashmla" else None)
    return dim, slice_[1] - slice_[0] if slice_ else attention.get("value_dim", dim), bool(slice_)


def attend(spec, query, keys, values, position, length, slope, sink):
    """One query and head in f64: the output, lse, and the bounds of both."""
    attention, kind = spec["attention"], spec["io"]["query"]
    scale = struct.unpack("<f", struct.pack("<f", 1 / math.sqrt(attention["head_dim"])))[0]
    window, sinks = attention.get("window"), attention.get("window_sinks", 0)
    end = length if attention.get("mask") == "none" else position + 1
    visible = [t for t in range(end) if not window or t > position - window or t < sinks]
    products = {t: list(map(mul, query, keys[t])) for t in visible}
    scores = {t: scale * math.fsum(terms) for t, terms in products.items()}
    largest = max(map(abs, scores.values()), default=0.0)
    spread = scale * math.sqrt(max((sum(map(mul, terms, terms)) for terms in products.values()), default=0.0))
    if slope is not None:
        scores = {t: x + slope * (t - position) for t, x in scores.items()}
    if cap := attention.get("softcap"):
        scores = {t: cap * math.tanh(x / cap) for t, x in scores.items()}
    top = max(list(scores.values()) + ([sink] if sink is not None else []))
    weights = {t: math.exp(x - top) for t, x in scores.items()}
    total = sum(weights.values()) + (math.exp(sink - top) if sink is not None else 0)
    want = [0.0] * len(values[0])
    mixed = 0.0
    for t, weight in weights.items():
        p = weight / total
        want = [a + p * x for a, x in zip(want, values[t])]
        mixed += p * p * sum(map(mul, values[t], values[t]))
    norm = math.sqrt(sum(map(mul, want, want)))
    share = BASE[kind] * max(1.0, spread)
    bound = (share + 2.0 ** -22 * largest) * max(norm, math.sqrt(mixed)) + ROUNDING[kind] * norm
    lse = math.log(total) + top
    return want, lse, bound, 3 * share + 4e-6 * abs(lse)


def worst_of_bound(spec, batch, inputs, cache, outputs):
    """The largest error over what section 3 allows."""
    attention = spec["attention"]
    q_heads, kv_heads = attention["q_heads"], attention["kv_heads"]
    dim, value_dim, _ = sizes_of(spec)
    query = rows_of(floats(inputs["q"]), q_heads, dim)
    out, lse = rows_of(floats(outputs["out"]), q_heads, value_dim), rows_of(floats(outputs["lse"]), q_heads, 1)
    keys, values = (rows_of(floats(cache[name]), kv_heads, size) for name, size in (("k", dim), ("v", value_dim)))
    per_head = {name: floats(inputs[name]) for name in ("alibi_slopes", "sink_logits") if name in inputs}
    worst, first_key, row = 0.0, 0, 0
    for length, queries in batch:
        for i in range(queries):
            for h in range(q_heads):
                head = h // (q_heads // kv_heads)
                slope, sink = (per_head[name][h] if name in per_head else None for name in ("alibi_slopes", "sink_logits"))
                want, log, bound, log_bound = attend(
                    spec, query[row][h], [each[head] for each in keys[first_key:first_key + length]],
                    [each[head] for each in values[first_key:first_key + length]], length - queries + i, length, slope, sink)
                error = math.sqrt(sum((a - b) ** 2 for a, b in zip(out[row][h], want)))
                ratios = [error / bound if bound else (0.0 if error == 0 else math.inf), abs(lse[row][h][0] - log) / log_bound]
                # A NaN compares as nothing.
                worst = max([worst] + [x if x == x else math.inf for x in ratios])
            row += 1
        first_key += length
    return worst


# --- Correctness -------------------------------------------------------------


def inputs_of(spec, batch, seed):
    """Multiples of 1/64 below 4, which every type of a query holds."""
    rng = random.Random(seed)
    attention = spec["attention"]
    dim, value_dim, is_slice = sizes_of(spec)
    keys, queries = sum(length for length, _ in batch), sum(count for _, count in batch)

    def tensor(rows, heads, size):
        values = [max(-255, min(255, round(rng.gauss(0, 48)))) / 64 for _ in range(rows * heads * size)]
        return ("F32", [rows, heads, size], struct.pack(f"<{len(values)}f", *values))

    def starts(counts):
        sums = [sum(counts[:i]) for i in range(len(counts) + 1)]
        return ("I32", [len(sums)], struct.pack(f"<{len(sums)}i", *sums))

    tensors = {"q": tensor(queries, attention["q_heads"], dim), "k": tensor(keys, attention["kv_heads"], dim),
               "cu_seqlens_q": starts([count for _, count in batch]), "cu_seqlens_kv": starts([length for length, _ in batch])}
    if not is_slice:
        tensors["v"] = tensor(keys, attention["kv_heads"], value_dim)
    heads = attention["q_heads"]
    if attention.get("alibi"):
        tensors["alibi_slopes"] = ("F32", [heads], struct.pack(f"<{heads}f", *(2.0 ** -(h % 8 + 2) for h in range(heads))))
    if attention.get("sink_logits"):
        tensors["sink_logits"] = ("F32", [heads], struct.pack(f"<{heads}f", *(0.5 * (h % 8) - 1 for h in range(heads))))
    return tensors


def run(command, seconds):
    """Exit status and what was printed."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=max(seconds, 1),
                              check=False)
    except subprocess.TimeoutExpired:
        return None, f"expected an end within {seconds:.0f} seconds, got none"
    except OSError as error:
        return None, str(error)
    return done.returncode, done.stdout


def check_case(kvc, device, spec, batch, deadline):
    """What of one case is told; "error" where it is wrong or not over at the deadline."""
    result = {"name": spec["name"], "sequences": [{"keys": keys, "queries": queries} for keys, queries in batch]}
    begin = time.monotonic()
    if begin > deadline:
        return {**result, "error": "expected time for it, none was left"}
    with tempfile.TemporaryDirectory() as folder:
        inputs = inputs_of(spec, batch, seed=spec["name"])
        with open(f"{folder}/spec.json", "w", encoding="utf-8") as file:
            json.dump(spec, file)
        write_tensors(f"{folder}/in", inputs)
        for where in (device, "host"):
            code, printed = run([kvc, "run", f"{folder}/spec.json", "--inputs", f"{folder}/in", "--output", f"{folder}/out.{where}",
                                 "--dump-cache", f"{folder}/cache.{where}", "--poison", "--device", where],
                                min(180, deadline - time.monotonic()))
            if code != 0:
                return {**result, "error": f"{where}: {printed.strip()}", "seconds": time.monotonic() - begin}
        mine, hosts = read_tensors(f"{folder}/cache.{device}"), read_tensors(f"{folder}/cache.host")
        outputs = read_tensors(f"{folder}/out.{device}")
    different = sorted(name for name in {*mine, *hosts} if mine.get(name) != hosts.get(name))
    result["worst_of_bound"] = worst_of_bound(spec, batch, inputs, mine, outputs)
    result["seconds"] = time.monotonic() - begin
    if different:
        result["error"] = "the cache is not what the host stores: " + ", ".join(different)
    elif not result["worst_of_bound"] <= 1:
        result["error"] = f"outputs are {result['worst_of_bound']:.2f} times their bound from attention in f64"
    return result


def check_all(options, seconds):
    cases = correctness_cases(options.tiny)
    deadline = time.monotonic() + seconds
    workers = min(8, os.cpu_count() or 1)
    with concurrent.futures.ProcessPoolExecutor(workers) as pool:
        jobs = [pool.submit(check_case, options.kvc, options.device, spec, batch, deadline) for spec, batch in cases]
        results = [job.result() for job in jobs]
    for result in results:
        told = result.get("error") or f"{result['worst_of_bound']:.3f} of the bound"
        print(f"  {result['name']:12} {'FAILED: ' if 'error' in result else ''}{told}", flush=True)
    return results


# --- Times -------------------------------------------------------------------


def name_of(shape):
    batch, context, q_heads, kv_heads = shape
    return f"{batch} x {context} {'latent ' if kv_heads == 1 else ''}{q_heads}/{kv_heads}"


def line_of(row):
    if "us_per_step" in row:
        return (f"{row['us_per_step']['median']:10.1f} us {row['gb_per_s']:8.1f} GB/s  {100 * row['share_of_copy']['median']:5.1f} % of copies at "
                f"{row['copy_gb_per_s']:.1f} GB/s  {row['times_over_f16']['median']:5.2f} x f16")
    return (f"read {row['read_over_needed']:.3f} and moved {row['moved_over_needed']:.3f} of what is needed, issue share {row['issue_share']:.2f}, "
            f"{row['warp_instructions_per_page']:.0f} warp instructions per page, {row['bank_conflicts']} bank conflicts")


def time_all(options, deadline):
    results = []
    for shape in TINY_SHAPES if options.tiny else SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for codec, spec in timed_specs(shape, options.tiny):
                paths.append(f"{folder}/{codec}.json")
                with open(paths[-1], "w", encoding="utf-8") as file:
                    json.dump(spec, file)
            left = deadline - time.monotonic()
            code, printed = (None, "no time was left") if left < 10 and not options.tiny else run(
                [options.kvc, "bench", *paths, "--device", options.device, "--batch", str(shape[0]), "--context", str(shape[1]), "--json"], left)
        result = {"shape": name_of(shape), "batch": shape[0], "context": shape[1], "q_heads": shape[2], "kv_heads": shape[3]}
        if code == 0:
            result["rows"] = json.loads(printed)
        elif "the device's memory" in printed:
            result["not_run"] = printed.strip()
        else:
            result["error"] = printed.strip() or f"exit status {code}"
        for row in result.get("rows", []):
            print(f"  {result['shape']:20} {row['name']:5} {line_of(row)}", flush=True)
        if "rows" not in result:
            print(f"  {result['shape']:20} {'FAILED: ' if 'error' in result else ''}{result.get('error') or result['not_run']}", flush=True)
        results.append(result)
    return results


# --- The device --------------------------------------------------------------


def smi(device):
    """Names, versions, clocks as nvidia-smi tells them; nothing without it."""
    fields = ["name", "driver_version", "memory.total", "clocks.sm", "clocks.mem", "clocks.max.sm", "clocks.max.mem", "temperature.gpu", "power.draw",
              "ecc.mode.current", "mig.mode.current"]
    if device == "sim" or not shutil.which("nvidia-smi"):
        return {}
    code, printed = run(["nvidia-smi", "-i", device.partition(":")[2] or "0", f"--query-gpu={','.join(fields)}", "--format=csv,noheader"], 20)
    return dict(zip(fields, (part.strip() for part in printed.split(",")))) if code == 0 else {"error": printed.strip()}


def sanitize(options, deadline):
    """compute-sanitizer over one small run, where it is installed."""
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if options.device == "sim" or not os.access(tool, os.X_OK):
        return {"not_run": "the simulator has --check of its own" if options.device == "sim" else "compute-sanitizer is not installed"}
    spec, batch = spec_of("int4", preset("int4"), heads=(4, 1), dim=64), [(70, 1), (33, 12)]
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/spec.json", "w", encoding="utf-8") as file:
            json.dump(spec, file)
        write_tensors(f"{folder}/in", inputs_of(spec, batch, 1))
        result = {}
        for check in ("memcheck", "racecheck"):
            code, printed = run([tool, "--tool", check, "--error-exitcode", "9", options.kvc, "run", f"{folder}/spec.json", "--inputs",
                                 f"{folder}/in", "--output", f"{folder}/out", "--device", options.device],
                                min(60, deadline - time.monotonic()))
            result[check] = "clean" if code == 0 else printed.strip()[-2000:]
    found = {check: text for check, text in result.items() if text != "clean"}
    # A device that the tool does not know is no finding.
    if found and all("ERROR SUMMARY" not in text and "RACECHECK SUMMARY" not in text for text in found.values()):
        return {**result, "not_run": "compute-sanitizer does not work here"}
    return {**result, **({"error": "; ".join(found)} if found else {})}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kvc", required=True)
    parser.add_argument("--version", default="")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--seconds", type=float, default=480)
    options = parser.parse_args()
    begin = time.monotonic()
    report = {"device_check": 1, "device": options.device, "simulated": options.device == "sim",
              "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
              "versions": {"kvc": options.version, "commit": options.commit, "python": platform.python_version(), "system": platform.platform()},
              "before": smi(options.device)}
    # What nobody can run is told once.
    code, printed = run([options.kvc, "bench", "/dev/null", "--device", options.device], 60)
    if "--device:" in printed:
        sys.exit(f"device_check: {printed.strip()}")
    out = None
    if options.out:
        if os.path.isdir(options.out):
            sys.exit(f"device_check: --out: expected a file, got the folder {options.out}")
        try:
            out = open(options.out + ".part", "w", encoding="utf-8")
        except OSError as error:
            sys.exit(f"device_check: --out: {error.strerror}: {options.out}.part")
    print("Kernels against attention in f64, caches against the host's:")
    report["correctness"] = check_all(options, 0.4 * options.seconds)
    report["sanitizer"] = sanitize(options, begin + 0.5 * options.seconds)
    print("compute-sanitizer:", report["sanitizer"].get("error") or report["sanitizer"].get("not_run") or "clean")
    print("Decode steps, counted by the simulator; its times are not times of a GPU:" if report["simulated"]
          else "Decode steps beside copies of the device's memory:")
    report["times"] = time_all(options, begin + 0.97 * options.seconds)
    report["after"] = smi(options.device)
    rows = [row for each in report["times"] for row in each.get("rows", [])]
    report["name"] = rows[0]["device"] if rows else None
    report["target"] = rows[0]["target"] if rows else None
    if str(report["name"]).startswith("kvc simulator"):
        report["simulated"] = True
        print("The driver is the simulator's: these are not times of a GPU.")
    report["seconds"] = round(time.monotonic() - begin, 1)
    everything = [*report["correctness"], report["sanitizer"], *report["times"]]
    report["failed"] = sum("error" in each for each in everything)
    report["not_run"] = sum("not_run" in each for each in everything)
    if out:
        with out:
            json.dump(report, out, indent=2)
            out.write("\n")
        os.replace(options.out + ".part", options.out)
    print(f"{len(everything) - report['failed'] - report['not_run']} passed, {report['failed']} failed, {report['not_run']} not run, "
          f"{report['seconds']} seconds")
    return 1 if report["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())

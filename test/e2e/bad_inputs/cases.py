"""Every case: a name, what is wrong, the exit code, and a text that the one message must have."""

import json
import struct

from files import SPEC, Tensor, as_text, edited, file_of, good_file, inputs, layout_of, spec, starts
from sim_cases import sim_cases

RUN = ["run", "{spec}", "--inputs", "{in}", "--output", "{out}"]


class Case:
    """A command over files in a fresh folder.

    `files` are made before; `args` may say {spec}, {in}, {out} and the names of
    `files`. Whatever was in the folder must be there unchanged afterwards, and
    nothing else.
    """

    def __init__(self, name, code, message, args=None, spec_bytes=None, input_bytes=None, files=None, file_limit=None):
        self.name, self.code, self.message = name, code, message
        self.file_limit = file_limit  # bytes that a file may grow to
        self.args = RUN + ["--dump-cache", "dump", "--stats", "stats"] if args is None else args
        self.spec_bytes, self.input_bytes, self.files = spec_bytes, input_bytes, files or {}


def bad_spec(name, message, document):
    text = document if isinstance(document, bytes) else as_text(document)
    return Case("spec: " + name, 1, message, spec_bytes=text)


def bad_file(name, message, content):
    return Case("safetensors: " + name, 1, message, input_bytes=content)


def bad_input(name, message, document=None, **changes):
    return Case("inputs: " + name, 1, message, spec_bytes=as_text(document) if document else None, input_bytes=good_file(**changes))


def bad_args(name, code, message, *args, files=None):
    return Case("arguments: " + name, code, message, args=list(args), files=files)


def nested(levels):
    return b'{"kvc": ' + b"[" * levels + b"]" * levels + b"}"


TEXT = as_text(SPEC)

SPECS = [
    bad_spec("empty file", "$: not JSON at line 1, column 1", b""),
    bad_spec("only blanks", "$: not JSON at line 2, column 3", b" \n\t "),
    bad_spec("binary noise", "expected a spec, JSON that begins with", bytes(range(256))),
    bad_spec("not an object", "expected a spec, JSON that begins with", b"[1, 2]"),
    bad_spec("cut short", "$.layout: not JSON at line 1, column 336, expected '}', got the end", TEXT[:-20]),
    bad_spec("byte-order mark", "$: byte-order mark, expected UTF-8 text without one", b"\xef\xbb\xbf" + TEXT),
    bad_spec("second document", "$: text after the document at line 1, column 357", TEXT + TEXT),
    bad_spec("not UTF-8", "expected strict JSON (ill-formed UTF-8 byte)", TEXT.replace(b"small", b"sm\xffll")),
    bad_spec("half a surrogate", "expected strict JSON (surrogate U+D800..U+DBFF must be followed", TEXT.replace(b"small", b"sm\\ud800ll")),
    bad_spec("nested too deep", "expected at most 64 levels", nested(100)),
    bad_spec("nested far too deep", "expected at most 64 levels", nested(100000)),
    bad_spec("repeated key", "query", TEXT.replace(b'"query": "f16"', b'"query": "f16", "query": "f16"')),
    bad_spec("unknown key", "q_heads", spec(attention__q_head=4)),
    bad_spec("null", "$.attention.q_heads: null is no value here", TEXT.replace(b'"q_heads": 4', b'"q_heads": null')),
    bad_spec("NaN", "$.attention.q_heads: number out of range at line 1, column 54", TEXT.replace(b'"q_heads": 4', b'"q_heads": NaN')),
    bad_spec("float for an integer", "q_heads", spec(attention__q_heads=4.0)),
    bad_spec("text for an integer", "q_heads", spec(attention__q_heads="4")),
    bad_spec("no version", "kvc", spec(kvc=None)),
    bad_spec("other version", "kvc", spec(kvc=2)),
    bad_spec("no attention", "attention", spec(attention=None)),
    bad_spec("no key", "key", spec(key=None)),
    bad_spec("no query type", "query", spec(io__query=None)),
    bad_spec("heads that do not divide", "q_heads", spec(attention__q_heads=3)),
    bad_spec("group too large", "expected a group of 1 to 128, got 129", spec(attention__q_heads=258)),
    bad_spec("head_dim no multiple of 8", "head_dim", spec(attention__head_dim=20)),
    bad_spec("head_dim too large", "head_dim", spec(attention__head_dim=584)),
    bad_spec("integer beyond 64 bits", "q_heads", TEXT.replace(b'"q_heads": 4', b'"q_heads": 99999999999999999999')),
    bad_spec("negative scale", "scale", spec(attention__scale=-1)),
    bad_spec("scale beyond f32", "scale", spec(attention__scale=1e39)),
    bad_spec("window of 0", "window", spec(attention__window=0)),
    bad_spec("window without causal", "window", spec(attention__window=4, attention__mask="none")),
    bad_spec("unknown mask", "mask", spec(attention__mask="tree")),
    bad_spec("unknown codec", "codec", spec(key__codec="int9")),
    bad_spec("int8 without scale", "scale", spec(key__scale=None)),
    bad_spec("raw with scale", "scale", spec(key__codec="f16")),
    bad_spec("scale block that does not divide", "channels", spec(key__scale__channels=5)),
    bad_spec("unknown zero", "zero", spec(key__zero="max")),
    bad_spec("page no power of two", "page", spec(layout__page=48)),
    bad_spec("paged without page", "page", spec(layout__page=None)),
    bad_spec("unknown order", "order", spec(layout__order="nhdc")),
    bad_spec("MLIR that is none", "1:13: expected non-function type", b"func.func @f("),
    bad_spec("MLIR of another dialect", "operation being parsed with an unregistered dialect; expected a spec", b'"other.op"() : () -> ()\n'),
    bad_spec("an attribute of another dialect", "attribute created with unregistered dialect; expected a spec", b"#spec = #other.spec<1>\nmodule {}\n"),
    bad_spec("MLIR without a spec", "expected a module with one kvc.attention_spec", b"module {}\n"),
]


def swap(old, new):
    header, data = layout_of(inputs())
    return file_of(json.dumps(header).replace(old, new).encode(), data)


HEADER, DATA = layout_of(inputs())

FILES = [
    bad_file("empty file", "expected at least 8 bytes, got 0", b""),
    bad_file("seven bytes", "expected at least 8 bytes, got 7", b"\0" * 7),
    bad_file("no header", "byte 8: the header, expected '{' as its first byte", struct.pack("<Q", 0)),
    bad_file("header longer than the file", "expected at most the 2 bytes that follow, got 1048576", struct.pack("<Q", 1 << 20) + b"{}"),
    bad_file("header of 2^63 bytes", "expected at most 100000000, got 9223372036854775808", struct.pack("<Q", 1 << 63) + b"{}"),
    bad_file("header that is no object", "byte 8: the header, expected '{' as its first byte", file_of(b"[]", DATA)),
    bad_file("header cut short", "byte 370: the header, expected '}'", file_of(json.dumps(HEADER).encode()[:-9], DATA)),
    bad_file("trailing bytes", "expected no bytes after the last tensor, got 1", file_of(HEADER, DATA + b"\0")),
    bad_file("data cut short", "expected an end within the 1303 bytes", file_of(HEADER, DATA[:-1])),
    bad_file("repeated name", '"q"', swap('"k": {', '"q": {')),
    bad_file("unknown type", "F8", swap('"F16"', '"F8"')),
    bad_file("missing offsets", "data_offsets", swap("data_offsets", "offsets")),
    bad_file("negative extent", "expected an extent, an integer from 0 to 2^63-1, got -3", swap("[3, 4, 16]", "[-3, 4, 16]")),
    bad_file("extents that overflow", "shape, expected less than 2^63 bytes", swap("[3, 4, 16]", "[9223372036854775807, 9223372036854775807, 16]")),
    bad_file("shape larger than its bytes", "expected 3840 bytes for shape [30, 4, 16] of F16, got 384", swap("[3, 4, 16]", "[30, 4, 16]")),
    bad_file("offsets that overlap", "expected a tensor to begin at 384, got an overlap from 0", edited(lambda header, data: header["k"].update(data_offsets=[0, 448]))),
    bad_file("offsets that fall", "expected begin <= end, got 832 and 384", edited(lambda header, data: header["k"].update(data_offsets=[832, 384]))),
    bad_file("a hole", "expected a tensor to begin at 0, got a hole up to 384", edited(lambda header, data: (dict(list(header.items())[1:]), data))),
    bad_file("a spec instead", "the header's length, expected at most 100000000", TEXT),
]

NAN, INFINITY = float("nan"), float("inf")

F32_SPEC = spec(io__query="f32", key={"codec": "f32"}, value={"codec": "f32"})

# Scores beyond f32, of either sign in one sum.
HUGE = {"q": Tensor("F32", [3, 4, 16], 1e30, {1: -1e30}), "k": Tensor("F32", [7, 2, 16], 1e30, {1: -1e30})}

# No address space has room for so many raw rows of so many heads.
WIDE_SPEC = spec(attention={"q_heads": 512, "kv_heads": 512, "head_dim": 64}, io__query="f32", segments={"sink": 2**31 - 1})
WIDE = {"q": Tensor("F32", [3, 512, 64]), "k": Tensor("F32", [7, 512, 64]), "v": Tensor("F32", [7, 512, 64])}

INPUTS = [
    bad_input("no q", '"q"', q=None),
    bad_input("no v", '"v"', v=None),
    bad_input("no cu_seqlens_kv", '"cu_seqlens_kv"', cu_seqlens_kv=None),
    bad_input("q of integers", '"q"', q=Tensor("I32", [3, 4, 16])),
    bad_input("q in f64", '"q"', q=Tensor("F64", [3, 4, 16])),
    bad_input("q of two dimensions", '"q"', q=Tensor("F16", [3, 64])),
    bad_input("too few query rows", '"q"', q=Tensor("F16", [2, 4, 16])),
    bad_input("wrong heads of k", '"k"', k=Tensor("F16", [7, 4, 16])),
    bad_input("wrong channels of v", '"v"', v=Tensor("F16", [7, 2, 8])),
    bad_input("offsets in 64 bits", '"cu_seqlens_q"', cu_seqlens_q=Tensor("I64", [3], 0)),
    bad_input("no offsets at all", '"cu_seqlens_q"', cu_seqlens_q=starts()),
    bad_input("offsets that begin with 1", '"cu_seqlens_q"', cu_seqlens_q=starts(1, 2, 3)),
    bad_input("offsets that fall", '"cu_seqlens_kv"', cu_seqlens_kv=starts(0, 9, 7)),
    bad_input("negative offsets", '"cu_seqlens_kv"', cu_seqlens_kv=starts(0, -1, 7)),
    bad_input("batches that differ", '"cu_seqlens_kv"', cu_seqlens_kv=starts(0, 2, 5, 7)),
    bad_input("NaN in k", "k", k=Tensor("F32", [7, 2, 16], 0.5, {33: NAN})),
    bad_input("infinity in q", "q", q=Tensor("F16", [3, 4, 16], 0.5, {5: INFINITY})),
    bad_input("infinity in v", "v", v=Tensor("F16", [7, 2, 16], 0.5, {223: -INFINITY})),
    bad_input("scores beyond f32", "out: expected scores, rotated keys and sums of values that f32 holds, got some beyond it for query 0, head 0", F32_SPEC, **HUGE),
    bad_input("scores beyond f32, output in bf16", "sums of values that f32 holds, got some beyond it for query 0, head 0", {**F32_SPEC, "io": {"query": "bf16"}}, **HUGE),
    bad_input("scores beyond f32, output in f16", "sums of values that f32 holds, got some beyond it for query 0, head 0", {**F32_SPEC, "io": {"query": "f32", "output": "f16"}}, **HUGE),
    bad_input("rotated keys beyond f32", "rotated keys and sums of values that f32 holds, got some beyond it for query 0, head 0", {**F32_SPEC, "key": {"codec": "f32", "rope": {"style": "pairs", "dims": 16}}}, q=Tensor("F32", [3, 4, 16], 0.0), k=Tensor("F32", [7, 2, 16], 3.3e38)),
    bad_input("raw rows beyond memory", "kvc: error: cache: memory: expected ", WIDE_SPEC, **WIDE),
    bad_input("a sum of values beyond f32", "query 0, head 0", F32_SPEC, q=Tensor("F32", [3, 4, 16]), k=Tensor("F32", [7, 2, 16]), v=Tensor("F32", [7, 2, 16], 3e38)),
    bad_input("no slopes", '"alibi_slopes"', spec(attention__alibi=True)),
    bad_input("slopes in f16", '"alibi_slopes"', spec(attention__alibi=True), alibi_slopes=Tensor("F16", [4])),
    bad_input("slopes of kv heads", '"alibi_slopes"', spec(attention__alibi=True), alibi_slopes=Tensor("F32", [2])),
    bad_input("NaN among slopes", '"alibi_slopes"', spec(attention__alibi=True), alibi_slopes=Tensor("F32", [4], 0.5, {1: NAN})),
    bad_input("no sink logits", '"sink_logits"', spec(attention__sink_logits=True)),
    bad_input("infinite sink logit", '"sink_logits"', spec(attention__sink_logits=True), sink_logits=Tensor("F32", [4], 0.5, {0: INFINITY})),
]

STATIC = {"codec": "int8", "scale": {"tokens": "all", "channels": "all", "dtype": "f16", "static": True}}
CALIBRATE = ["calibrate", "{spec}", "--inputs", "{in}", "--out", "{out}"]

# Name, exit code, text of the message, arguments, changes of the inputs, of the spec.
CALIBRATIONS = [
    ("keys of another head", 1, "expected f32, f16 or bf16", [], {"k": Tensor("F16", [7, 3, 16])}, {}),
    ("no values", 1, "is missing", [], {"v": None}, {}),
    ("NaN among keys", 1, "NaN", [], {"k": Tensor("F16", [7, 2, 16], patch={37: float("nan")})}, {}),
    ("infinity among values", 1, "inf", [], {"v": Tensor("F16", [7, 2, 16], patch={5: float("inf")})}, {}),
    ("no token beyond the sink", 1, "segments.sink", [], {}, {"segments": {"sink": 100}}),
    ("unknown method", 2, "--method", ["--method", "guess"], {}, {}),
    ("percentile of 0", 2, "--percentile", ["--method", "percentile", "--percentile", "0"], {}, {}),
    ("percentile above 100", 2, "--percentile", ["--method", "percentile", "--percentile", "101"], {}, {}),
    ("percentile in words", 2, "--percentile", ["--method", "percentile", "--percentile", "most"], {}, {}),
    ("percentile that is no number", 2, "--percentile", ["--method", "percentile", "--percentile", "nan"], {}, {}),
    ("percentile of another method", 2, "--percentile", ["--percentile", "99"], {}, {}),
    ("unknown pairs", 2, "--pair", ["--pair", "triples"], {}, {}),
    ("pairs against the spec", 1, "--pair", ["--pair", "pairs"], {}, {"key": {**STATIC, "rope": {"style": "half", "dims": 8}}}),
    ("method without static scales", 1, "--method", ["--method", "amax"], {}, {"key": {"codec": "f16", "smooth": True}}),
]


def bad_calibration(name, code, message, args, changes, spec_changes):
    return Case("calibrate: " + name, code, message, args=CALIBRATE + args, spec_bytes=as_text(spec(**{"key": STATIC, **spec_changes})), input_bytes=good_file(**changes))


EVAL = ["eval", "--inputs", "{in}"]

# Faults of the files, which every preset meets: name, text of the message, changes of the inputs, more arguments.
EVALUATIONS = [
    ("NaN among keys", "k[37]: expected a finite number", {"k": Tensor("F16", [7, 2, 16], patch={37: NAN})}, []),
    ("no values", "\"v\": is missing", {"v": None}, []),
    ("no offsets", "\"cu_seqlens_q\": is missing", {"cu_seqlens_q": None}, []),
    ("a head_dim that no spec has", "attention.head_dim", {"q": Tensor("F16", [3, 4, 20]), "k": Tensor("F16", [7, 2, 20]), "v": Tensor("F16", [7, 2, 20])}, []),
    ("heads that do not divide", "attention.q_heads", {"q": Tensor("F16", [3, 3, 16])}, []),
    ("no queries", "no query with a key", {"q": Tensor("F16", [0, 4, 16]), "cu_seqlens_q": starts(0, 0, 0)}, []),
    ("a second file of other heads", "expected f32, f16 or bf16 [3, 4, 16]", {}, ["other.safetensors"]),
    ("scales from a text", "scales.json", {}, ["--static", "scales.json"]),
]


def bad_evaluation(name, message, changes, args):
    other = good_file(q=Tensor("F16", [3, 8, 16]))
    return Case("eval: " + name, 1, message, args=["eval", "--preset", "int8", *EVAL[1:], *args], input_bytes=good_file(**changes), files={"other.safetensors": other, "scales.json": TEXT})


# Options and arguments that take a text, each given an empty one.
EMPTY = [
    ("SPEC", ["run", "", "--inputs", "{in}", "--output", "{out}"]),
    ("--inputs", ["run", "{spec}", "--inputs", "", "--output", "{out}"]),
    ("--output", ["run", "{spec}", "--inputs", "{in}", "--output", ""]),
    ("--dump-cache", [*RUN, "--dump-cache", ""]),
    ("--stats", [*RUN, "--stats", ""]),
    ("--static", [*RUN, "--static", ""]),
    ("--device", [*RUN, "--device", ""]),
    ("--fast-math", [*RUN, "--fast-math", ""]),
    ("--cpu", [*RUN, "--cpu", ""]),
    ("--threads", [*RUN, "--threads", ""]),
    ("--out", ["compile", "{spec}", "--target", "x86-64", "--out", ""]),
    ("--target", ["compile", "{spec}", "--target", "", "--out", "made"]),
    ("--emit", ["compile", "{spec}", "--target", "x86-64", "--out", "made", "--emit", ""]),
    ("--stage", ["compile", "{spec}", "--target", "x86-64", "--out", "made", "--emit", "mlir", "--stage", ""]),
    ("--svg", ["bench", "{spec}", "--svg", ""]),
    ("--context", ["bench", "{spec}", "--context", ""]),
    ("--svg", [*EVAL, "--svg", ""]),
    ("--preset", [*EVAL, "--preset", ""]),
    ("--static", [*EVAL, "--static", ""]),
    ("SPEC", ["eval", "", "--inputs", "{in}"]),
    ("--out", ["calibrate", "{spec}", "--inputs", "{in}", "--out", ""]),
    ("--method", [*CALIBRATE, "--method", ""]),
    ("--to", ["translate", "{spec}", "--to", ""]),
    ("FILE", ["inspect", ""]),
]

# Options that are given twice; the last value of each is a good one.
TWICE = [
    ("--inputs", [*RUN, "--inputs", "{in}"]),
    ("--device", [*RUN, "--device", "host", "--device", "host"]),
    ("--append-chunk", [*RUN, "--append-chunk", "1", "--append-chunk", "2"]),
    ("--threads", [*RUN, "--threads", "1", "--threads", "2"]),
    ("--target", ["compile", "{spec}", "--target", "x86-64", "--target", "host", "--out", "made"]),
    ("--stage", ["compile", "{spec}", "--target", "x86-64", "--out", "made", "--emit", "mlir", "--stage", "all", "--stage", "kernels"]),
    ("--context", ["bench", "{spec}", "--context", "64", "--context", "128"]),
    ("--svg", [*EVAL, "--svg", "a.svg", "--svg", "b.svg"]),
    ("--method", [*CALIBRATE, "--method", "amax", "--method", "search"]),
    ("--to", ["translate", "{spec}", "--to", "json", "--to", "mlir"]),
    ("--json", ["presets", "--json", "--json"]),
]

ARGUMENTS = [
    *(bad_evaluation(*case) for case in EVALUATIONS),
    *(bad_args(f"empty {option} of {args[0]}", 2, f"{option}: expected ", *args) for option, args in EMPTY),
    *(bad_args(f"{option} of {args[0]} twice", 2, f"{option}: expected it once, got it 2 times", *args) for option, args in TWICE),
    bad_args("none at all", 2, "command"),
    bad_args("unknown command", 2, "fly", "fly"),
    bad_args("line feed in a command", 2, "a\\x0ab", "a\nb"),
    bad_args("run without anything", 2, "SPEC: expected a value, got none", "run"),
    bad_args("no --output", 2, "--output", "run", "{spec}", "--inputs", "{in}"),
    bad_args("no --inputs", 2, "--inputs", "run", "{spec}", "--output", "{out}"),
    bad_args("flag without its value", 2, "--output", "run", "{spec}", "--inputs", "{in}", "--output"),
    bad_args("unknown flag", 2, "--outptu", *RUN, "--outptu", "x"),
    bad_args("second spec", 2, "{spec}", *RUN, "{spec}"),
    bad_args("only an option", 2, "--json", "--json"),
    bad_args("output twice", 2, "--output: expected it once, got it 2 times", *RUN, "--output", "other"),
    bad_args("flag twice", 2, "--poison: expected it once, got it 2 times", *RUN, "--poison", "--poison"),
    bad_args("flag with a value", 2, "--poison: expected no value", *RUN, "--poison=yes"),
    bad_args("chunk of 0", 2, "--append-chunk", *RUN, "--append-chunk", "0"),
    bad_args("negative chunk", 2, "--append-chunk", *RUN, "--append-chunk=-1"),
    bad_args("chunk in words", 2, "--append-chunk", *RUN, "--append-chunk", "two"),
    bad_args("chunk with a unit", 2, "--append-chunk", *RUN, "--append-chunk", "2k"),
    bad_args("chunk in hexadecimal", 2, "--append-chunk", *RUN, "--append-chunk", "0x10"),
    bad_args("chunk beyond 64 bits", 2, "--append-chunk", *RUN, "--append-chunk", "99999999999999999999"),
    bad_args("empty chunk", 2, "--append-chunk", *RUN, "--append-chunk="),
    bad_args("too many threads", 2, "--threads", *RUN, "--threads", "4096"),
    bad_args("unknown device", 2, "--device", *RUN, "--device", "tpu"),
    bad_args("device number that is none", 2, "--device", *RUN, "--device", "cuda:x"),
    bad_args("device of another build", 1, "--device", *RUN, "--device", "cuda:0"),
    bad_args("level with another device", 2, "--cpu", *RUN, "--device", "sim", "--cpu", "portable"),
    bad_args("unknown level", 2, "--cpu", *RUN, "--cpu", "x86-64-v5"),
    bad_args("unknown fast math", 2, "--fast-math", *RUN, "--fast-math", "q4"),
    bad_args("output is the file of --static", 2, "--output", *RUN, "--static", "./{out}"),
    bad_args("no such spec", 1, "none.json", "run", "none.json", "--inputs", "{in}", "--output", "{out}"),
    bad_args("no such input", 1, "none", "run", "{spec}", "--inputs", "none", "--output", "{out}"),
    bad_args("a spec without end", 1, "expected a regular file", "run", "/dev/zero", "--inputs", "{in}", "--output", "{out}"),
    bad_args("a folder as spec", 1, "directory", "run", ".", "--inputs", "{in}", "--output", "{out}"),
    bad_args("a folder as input", 1, "directory", "run", "{spec}", "--inputs", ".", "--output", "{out}"),
    bad_args("output in no folder", 1, "none/out", "run", "{spec}", "--inputs", "{in}", "--output", "none/out"),
    bad_args("a folder as output", 1, "directory", "run", "{spec}", "--inputs", "{in}", "--output", "."),
    bad_args("a device as output", 1, "/dev/null", "run", "{spec}", "--inputs", "{in}", "--output", "/dev/null"),
    Case("arguments: an output that may not grow", 1, "{out}: cannot write: File too large", args=RUN, file_limit=64),
    bad_args("output is the spec", 2, "--output", "run", "{spec}", "--inputs", "{in}", "--output", "{spec}"),
    bad_args("output is the input, spelt otherwise", 2, "--output", "run", "{spec}", "--inputs", "{in}", "--output", "./{in}"),
    bad_args("dump is the output", 2, "--dump-cache", *RUN, "--dump-cache", "{out}"),
    bad_args("stats is a new dump", 2, "--stats", *RUN, "--dump-cache", "new", "--stats", "./new"),
    bad_args("stats in no folder", 1, "none/stats", *RUN, "--stats", "none/stats"),
    bad_args("dump is a folder", 1, "directory", *RUN, "--dump-cache", "."),
    bad_args("line feed in a path", 1, "no\\x0asuch", "run", "no\nsuch", "--inputs", "{in}", "--output", "{out}"),
    bad_args("translate without --to", 2, "--to", "translate", "{spec}"),
    bad_args("translate to what is none", 2, "--to", "translate", "{spec}", "--to", "yaml"),
    bad_args("translate a tensor file", 1, "{in}", "translate", "{in}", "--to", "json"),
    bad_args("compile without --target", 2, "--target", "compile", "{spec}", "--out", "made"),
    bad_args("compile without --out", 2, "--out", "compile", "{spec}", "--target", "x86-64"),
    bad_args("compile for what is no target", 2, "--target", "compile", "{spec}", "--target", "z80", "--out", "made"),
    bad_args("compile to an object for a GPU", 2, "expected ptx, cubin, llvm or mlir for target sm_80", "compile", "{spec}", "--target", "sm_80", "--out", "made", "--emit", "obj"),
    bad_args("compile a stage of nothing", 2, "no mlir in --emit", "compile", "{spec}", "--target", "sm_80", "--out", "made", "--stage", "tiles"),
    bad_args("compile to PTX for a host", 2, "ptx", "compile", "{spec}", "--target", "x86-64", "--out", "made", "--emit", "ptx"),
    bad_args("compile to what is none", 2, "wasm", "compile", "{spec}", "--target", "x86-64", "--out", "made", "--emit", "obj,wasm"),
    bad_args("compile to an empty item", 2, "--emit", "compile", "{spec}", "--target", "x86-64", "--out", "made", "--emit", "obj,"),
    bad_args("compile to one kind twice", 2, "--emit", "compile", "{spec}", "--target", "x86-64", "--out", "made", "--emit", "obj,obj"),
    bad_args("unknown stage", 2, "kernels", "compile", "{spec}", "--target", "x86-64", "--out", "made", "--emit", "mlir", "--stage", "nowhere"),
    bad_args("all stages and one", 2, 'llvm; got "all,kernels"', "compile", "{spec}", "--target", "x86-64", "--out", "made", "--emit", "mlir", "--stage", "all,kernels"),
    bad_args("stage without mlir", 2, "--stage", "compile", "{spec}", "--target", "x86-64", "--out", "made", "--stage", "kernels"),
    bad_args("compile into a file", 1, "{in}", "compile", "{spec}", "--target", "x86-64", "--out", "{in}", "--emit", "mlir", "--stage", "kernels"),
    bad_args("compile, second spec bad", 1, "{in}", "compile", "{spec}", "{in}", "--target", "x86-64", "--out", "made", "--emit", "mlir", "--stage", "kernels"),
    bad_args("compile two specs of one name", 1, "small", "compile", "{spec}", "twin.json", "--target", "x86-64", "--out", "made/deep", "--emit", "mlir", "--stage", "kernels", files={"twin.json": TEXT}),
    bad_args("bench of context 0", 2, "--context", "bench", "{spec}", "--context", "0"),
    bad_args("bench of a list with a hole", 2, "--context", "bench", "{spec}", "--context", "64,,128"),
    *(bad_args(f"bench of a device with {option[0]}", 2, f"{option[0]}: expected it with --device host, got --device sim", "bench", "{spec}", "--device", "sim", *option)
      for option in (["--cpu", "portable"], ["--threads", "2"], ["--svg", "plot.svg"])),
    bad_args("bench of a device that is not there", 1, "--device: ", "bench", "{spec}", "--device", "cuda:7"),
    bad_args("bench into its spec", 2, "--svg", "bench", "{spec}", "--svg", "./{spec}"),
    bad_args("bench into no folder", 1, "none/plot.svg", "bench", "{spec}", "--svg", "none/plot.svg"),
    bad_args("bench beyond memory", 1, "--context", "bench", "{spec}", "--context", "2147483647", "--batch", "65536"),
    bad_args("eval without inputs", 2, "--inputs", "eval", "{spec}"),
    bad_args("eval of no file", 1, "none", "eval", "{spec}", "--inputs", "none"),
    *(bad_calibration(*case) for case in CALIBRATIONS),
    bad_args("calibrate without --out", 2, "--out", "calibrate", "{spec}", "--inputs", "{in}"),
    bad_args("calibrate what needs no inputs", 1, "needs no inputs", "calibrate", "{spec}", "--inputs", "{in}", "--out", "{out}"),
    bad_args("calibrate into its input", 2, "--out", "calibrate", "{spec}", "--inputs", "{in}", "--out", "./{in}"),
    bad_args("inspect nothing", 2, "FILE", "inspect"),
    bad_args("inspect no file", 1, "none", "inspect", "none"),
    bad_args("inspect a file without end", 1, "expected a regular file", "inspect", "/dev/zero"),
    bad_args("inspect noise", 1, "noise", "inspect", "noise", files={"noise": b"\x01\x02\x03"}),
    bad_args("inspect a broken tensor file", 1, "bad.safetensors", "inspect", "bad.safetensors", files={"bad.safetensors": b"{}"}),
]

ALL = SPECS + FILES + INPUTS + ARGUMENTS + sim_cases(bad_args)

"""mma: small whole numbers, whose sums every device's tensor cores give exactly.

A fragment's places follow from the ISA's figures: lane l has rows l / 4 and
l / 4 + 8 of A and D, column l / 4 of B; along k the elements that share a
register lie next to each other, registers 4 lanes of elements apart.
"""
from fractions import Fraction

from emit import raw, words_of
from floats import BF16, E4M3, E5M2, F16, F32, F64, encode

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "f64": 64, "f32": 32, "u8": 8, "s8": 8, "u4": 4,
        "s4": 4, "b1": 1, "s32": 32}
FLOAT = {"f16": F16, "bf16": BF16, "tf32": F32, "e4m3": E4M3, "e5m2": E5M2, "f64": F64, "f32": F32}


def element(i, j, kind):
    """Of A and B: whole numbers that every type has."""
    if kind == "b1":
        return (i * 7 + j * 5 + i * j) % 3 == 0
    signed = kind[0] in "sftbe"
    return (i * 5 + j * 3 + i * j) % 7 - (3 if signed else 0)


def code(value, kind):
    if kind in FLOAT:
        return encode(Fraction(value), FLOAT[kind])
    return int(value) & ((1 << BITS[kind]) - 1)


def places(kind, rows, k):
    """(row, k) of each element of each register, by lane: of A; of B with 8 rows."""
    bits = BITS[kind]
    per = max(1, 32 // bits)
    across = 4 * per  # Of k in one register of four lanes.
    result = []
    for lane in range(32):
        registers = []
        for block in range(k // across):
            for row in range(rows // 8):
                registers.append([(lane // 4 + 8 * row, block * across + lane % 4 * per + i) for i in range(per)])
        result.append(registers)
    return result


def mma(shape, d, a, b, words="", name=None, target="sm_90", version="8.7", suffix=""):
    m, n, k = (int(x) for x in shape.replace("m", "").replace("n", " ").replace("k", " ").split())
    c = d
    opcode = f"mma.sync.aligned.{shape}.row.col{words}.{d}.{a}.{b}.{c}{suffix}"
    wide = d == "f64"
    packed = d == "f16"
    body, globals_ = [], []
    fragments = {}
    for letter, kind, rows in (("a", a, m), ("b", b, 8)):
        table = places(kind, rows, k)
        count = len(table[0])
        values = []
        for lane in range(32):
            for register in table[lane]:
                word = 0
                for i, (row, column) in enumerate(register):
                    # B is k x n: element (k, n).
                    v = element(row, column, kind) if letter == "a" else element(column, row + 3, kind)
                    word |= code(v, kind) << BITS[kind] * i
                values.append(word)
        bits = 64 if wide else 32
        globals_.append(f".global .align 8 .b{bits} in_{letter}[{len(values)}] = {{{', '.join(map(hex, values))}}};")
        body += [f"mov.u64 %rd1, in_{letter};", f"mul.wide.u32 %rd2, %lane, {count * bits // 8};",
                 "add.s64 %rd1, %rd1, %rd2;"]
        kind_of = "f64" if wide else "b32"
        body.append(f".reg .{kind_of} %{letter}<{count}>;")
        body += [f"ld.global.{kind_of} %{letter}{i}, [%rd1+{i * bits // 8}];" for i in range(count)]
        fragments[letter] = "{" + ", ".join(f"%{letter}{i}" for i in range(count)) + "}"
    rows_of_d = m // 8
    count = rows_of_d if packed else 2 * rows_of_d
    register = "f64" if wide else "f32" if d == "f32" else "b32"
    body.append(f".reg .{register} %x<{count}>, %y<{count}>;")
    for i in range(count):
        start = {"f16": "0x3C003C00", "f32": "0f3F800000", "f64": "0d3FF0000000000000", "s32": "1"}[d]
        body.append(f"mov.{'b32' if register == 'b32' else register} %y{i}, {start};")
    body.append(f"{opcode} {{{', '.join(f'%x{i}' for i in range(count))}}}, {fragments['a']}, {fragments['b']}, "
                f"{{{', '.join(f'%y{i}' for i in range(count))}}};")
    stride = count * (8 if wide else 4)
    body += ["ld.param.u64 %rd3, [result];", f"mul.wide.u32 %rd4, %lane, {stride};", "add.s64 %rd3, %rd3, %rd4;"]
    body += [f"st.global.{register} [%rd3+{i * (8 if wide else 4)}], %x{i};" for i in range(count)]

    def total(row, column):
        if a == "b1":
            pair = (lambda x, y: x != y) if ".xor" in suffix else (lambda x, y: x and y)
            return 1 + sum(pair(element(row, i, a), element(i, column + 3, b)) for i in range(k))
        return 1 + sum(element(row, i, a) * element(i, column + 3, b) for i in range(k))
    expected = []
    for lane in range(32):
        for row in range(rows_of_d):
            values = [code(total(lane // 4 + 8 * row, 2 * (lane % 4) + i), d) for i in range(2)]
            if packed:
                expected.append(values[0] | values[1] << 16)
            else:
                for value in values:
                    expected += words_of(value, 64 if wide else 32)
    raw(opcode, "\n".join(body), expected, block=32, module="\n".join(globals_), name=name, target=target,
        version=version)


for shape in ("m16n8k8", "m16n8k16"):
    mma(shape, "f16", "f16", "f16")
    mma(shape, "f32", "f16", "f16")
    mma(shape, "f32", "bf16", "bf16")
for shape in ("m16n8k4", "m16n8k8"):
    mma(shape, "f32", "tf32", "tf32")
for shape in ("m16n8k16", "m16n8k32"):
    mma(shape, "f32", "e4m3", "e5m2", target="sm_89")
    mma(shape, "f16", "e5m2", "e4m3", target="sm_89")
for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"):
    mma(shape, "f64", "f64", "f64")
for shape in ("m8n8k16", "m16n8k16", "m16n8k32"):
    mma(shape, "s32", "u8", "s8", words=".satfinite")
for shape in ("m8n8k32", "m16n8k32", "m16n8k64"):
    mma(shape, "s32", "s4", "u4")
for shape, how in (("m8n8k128", "xor"), ("m16n8k128", "and"), ("m16n8k256", "xor")):
    mma(shape, "s32", "b1", "b1", suffix=f".{how}.popc")

"""Arithmetic, comparisons and conversions of floats."""
from fractions import Fraction

from emit import alu
from floats import (BF16, E2M1, E2M3, E3M2, E4M3, E5M2, F16, F32, F64, TF32, apply, clamped, compare, decode, encode,
                    flushed, is_negative, number, pair, round_whole)

FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}
REGISTER = {"f16": "b16", "bf16": "b16", "f32": "f32", "f64": "f64"}


def bits(values, f):
    return [encode(v if isinstance(v, str) else Fraction(v), f) for v in values]


def operands(f, arity):
    """Numbers, corners, and both signs; subnormal ones last."""
    values = bits([1.5, -2.25, 0.333251953125, -1000, "-0", 0, "inf", "-inf", "nan", 3], f)
    values += [f.largest, 1, (1 << f.fraction) - 3, 1 << f.fraction]
    return [tuple(values[(i * (1 + 2 * j) + j) % len(values)] for j in range(arity)) for i in range(2 * len(values) + 1)]


def op(opcode, name, kind, arity, **options):
    """`kind` f16x2 and bf16x2: of halves."""
    single = kind.removesuffix("x2")
    f = FORMATS[single]
    function = lambda *v: apply(name, list(v), f, **options)
    rows = operands(f, arity)
    if kind == single:
        alu(opcode, REGISTER[kind], [REGISTER[kind]] * arity, rows, function)
        return
    width = 32 if kind == "f32x2" else 16
    packed = [tuple(a | b << width for a, b in zip(row, rows[(i + 5) % len(rows)])) for i, row in enumerate(rows)]
    alu(opcode, f"b{2 * width}", [f"b{2 * width}"] * arity, packed, lambda *v: pair(function, width, *v))


for name in ("add", "sub", "mul"):
    op(f"{name}.rm.ftz.f32", name, "f32", 2, mode="rm", ftz=True)
    op(f"{name}.rp.f64", name, "f64", 2, mode="rp")
    op(f"{name}.ftz.sat.f16x2", name, "f16x2", 2, ftz=True, sat=True)
    op(f"{name}.bf16x2", name, "bf16x2", 2)
    op(f"{name}.rz.ftz.f32x2", name, "f32x2", 2, mode="rz", ftz=True)
op("fma.rz.sat.f32", "fma", "f32", 3, mode="rz", sat=True)
op("fma.rm.f64", "fma", "f64", 3, mode="rm")
op("fma.rn.sat.f16", "fma", "f16", 3, sat=True)
op("fma.rn.ftz.relu.f16x2", "fma", "f16x2", 3, ftz=True, relu=True)
op("fma.rn.relu.bf16x2", "fma", "bf16x2", 3, relu=True)
op("fma.rp.f32x2", "fma", "f32x2", 3, mode="rp")
op("mad.rn.ftz.f32", "fma", "f32", 3, ftz=True)
op("mad.rp.f64", "fma", "f64", 3, mode="rp")
op("div.rz.f32", "div", "f32", 2, mode="rz")
op("div.rn.f64", "div", "f64", 2)
op("rcp.rm.ftz.f32", "rcp", "f32", 1, mode="rm", ftz=True)
op("rcp.rn.f64", "rcp", "f64", 1)
op("sqrt.rp.f32", "sqrt", "f32", 1, mode="rp")
op("sqrt.rn.f64", "sqrt", "f64", 1)
for name in ("abs", "neg"):
    for kind, opcode in (("f32", "ftz.f32"), ("f64", "f64"), ("f16x2", "f16x2"), ("bf16", "bf16")):
        f = FORMATS[kind.removesuffix("x2")]
        # What becomes of the sign of NaN is open.
        rows = [r for r in operands(f, 1) if decode(r[0], f) != "nan"]
        options = {"ftz": "ftz" in opcode}
        one = lambda v, name=name, f=f, options=options: apply(name, [v], f, **options)
        if kind == "f16x2":
            alu(f"{name}.{opcode}", "b32", ["b32"], [(a[0] | 0xC0000000,) for a in rows],
                lambda v, one=one: pair(one, 16, v))
        else:
            alu(f"{name}.{opcode}", REGISTER[kind], [REGISTER[kind]], rows, one)
for name in ("min", "max"):
    op(f"{name}.ftz.NaN.f32", name, "f32", 2, ftz=True, nan=True)
    op(f"{name}.xorsign.abs.f32", name, "f32", 2, xorsign=True)
    op(f"{name}.f64", name, "f64", 2)
    op(f"{name}.f16x2", name, "f16x2", 2)
    op(f"{name}.NaN.xorsign.abs.f16", name, "f16", 2, nan=True, xorsign=True)
    op(f"{name}.NaN.bf16", name, "bf16", 2, nan=True)
    op(f"{name}.xorsign.abs.bf16x2", name, "bf16x2", 2, xorsign=True)

# Approximations: operands for which the ISA names the result, or it is a number
# of few bits, which is nearest.
def named(opcode, kind, *pairs):
    f = FORMATS[kind.removesuffix("x2")]
    table = [(bits([x], f)[0], bits([y], f)[0]) for x, y in pairs]
    if kind.endswith("x2"):
        table = [(x | table[0][0] << 16, y | table[0][1] << 16) for x, y in table]
    register = "b32" if kind.endswith("x2") else REGISTER[kind]
    alu(opcode, register, [register], [(x,) for x, _ in table], dict(table).get)


NAN, INF, NINF = ("nan", "nan"), ("inf", "inf"), ("-inf", "-inf")
named("rcp.approx.f32", "f32", (2, .5), ("inf", 0), ("-inf", "-0"), (0, "inf"), ("-0", "-inf"), (-.25, -4), NAN)
named("rcp.approx.ftz.f64", "f64", (2, .5), ("inf", 0), ("-inf", "-0"), (0, "inf"), (-.25, -4), NAN)
named("sqrt.approx.f32", "f32", (4, 2), ("inf", "inf"), (0, 0), ("-0", "-0"), (-1, "nan"), ("-inf", "nan"), NAN)
named("rsqrt.approx.f32", "f32", (4, .5), ("inf", 0), (0, "inf"), ("-0", "-inf"), (-1, "nan"), NAN)
named("rsqrt.approx.f64", "f64", (4, .5), ("inf", 0), (0, "inf"), ("-0", "-inf"), (-1, "nan"), NAN)
named("sin.approx.f32", "f32", (0, 0), ("-0", "-0"), ("inf", "nan"), ("-inf", "nan"), NAN)
named("cos.approx.f32", "f32", (0, 1), ("-0", 1), ("inf", "nan"), ("-inf", "nan"), NAN)
named("lg2.approx.f32", "f32", (8, 3), (.25, -2), (0, "-inf"), ("inf", "inf"), ("-inf", "nan"), (-1, "nan"), NAN)
named("ex2.approx.f32", "f32", (3, 8), (-2, .25), (0, 1), ("-inf", 0), ("inf", "inf"), NAN)
named("ex2.approx.f16x2", "f16x2", (3, 8), (-2, .25), (0, 1), ("-inf", 0), ("inf", "inf"), NAN)
named("ex2.approx.ftz.bf16", "bf16", (3, 8), (-2, .25), (0, 1), ("-inf", 0), ("inf", "inf"), NAN)
named("tanh.approx.f32", "f32", (0, 0), ("-0", "-0"), ("inf", 1), ("-inf", -1), NAN)
named("tanh.approx.f16", "f16", (0, 0), ("-0", "-0"), ("inf", 1), ("-inf", -1), NAN)
named("tanh.approx.bf16x2", "bf16x2", (0, 0), ("-0", "-0"), ("inf", 1), ("-inf", -1), NAN)
alu("div.full.f32", "f32", ["f32"] * 2,
    [tuple(bits(pair_, F32)) for pair_ in ((1, 2), (-3, 4), (0, 5), (1, "inf"), ("nan", 1), (7, .5))],
    lambda a, b: apply("div", [a, b], F32))
alu("copysign.f64", "f64", ["f64"] * 2, operands(F64, 2), lambda a, b: (b & (F64.sign - 1)) | (a & F64.sign))
alu("testp.subnormal.f32", "pred", ["f32"], operands(F32, 1), lambda a: 0 < a & (F32.sign - 1) < 1 << F32.fraction)


# Comparisons.
def values_of(row, f, ftz=False):
    return [decode(flushed(x, f) if ftz else x, f) for x in row]


def setp(opcode, kind, name, ftz=False):
    f = FORMATS[kind]
    alu(opcode, "pred", [REGISTER[kind]] * 2, operands(f, 2), lambda *v: compare(name, *values_of(v, f, ftz)))


setp("setp.leu.ftz.f32", "f32", "leu", ftz=True)
setp("setp.num.f64", "f64", "num")
setp("setp.gt.f16", "f16", "gt")
setp("setp.neu.bf16", "bf16", "neu")
for opcode, f, name in (("setp.ltu.f16x2", F16, "ltu"), ("setp.ge.bf16x2", BF16, "ge")):
    rows = [(a | b << 16, b | a << 16) for a, b in operands(f, 2)]
    alu(opcode, "b32", ["b32"] * 2, rows,
        lambda a, b, f=f, name=name: pair(lambda x, y: compare(name, decode(x, f), decode(y, f)), 16, a, b) & 0x10001,
        text=opcode + " %p1|%p2, $a, $b;\nselp.b32 %r2, 1, 0, %p1;\nselp.b32 %r3, 0x10000, 0, %p2;\n"
                      "or.b32 $d, %r2, %r3;")
ALL32 = 0xFFFFFFFF


def set_(opcode, kind, name, d, yes, ftz=False):
    single = kind.removesuffix("x2")
    f = FORMATS[single]
    one = lambda a, b: yes if compare(name, *values_of((a, b), f, ftz)) else 0
    if kind == single:
        alu(opcode, d, [REGISTER[kind]] * 2, operands(f, 2), one)
    else:
        rows = [(a | b << 16, b | a << 16) for a, b in operands(f, 2)]
        alu(opcode, "b32", ["b32"] * 2, rows, lambda *v: pair(one, 16, *v))


set_("set.lt.ftz.f32.f32", "f32", "lt", "f32", 0x3F800000, ftz=True)
set_("set.nan.u32.f64", "f64", "nan", "b32", ALL32)
set_("set.ge.f16.f16", "f16", "ge", "b16", 0x3C00)
set_("set.equ.bf16.bf16", "bf16", "equ", "b16", 0x3F80)
set_("set.lt.f16x2.f16x2", "f16x2", "lt", "b32", 0x3C00)
set_("set.gt.bf16x2.bf16x2", "bf16x2", "gt", "b32", 0x3F80)


# Conversions.
def to_integer(value, kind, mode):
    low, high = (-(1 << int(kind[1:]) - 1), (1 << int(kind[1:]) - 1) - 1) if kind[0] == "s" else \
        (0, (1 << int(kind[1:])) - 1)
    if value == "nan":
        return 0
    if value in ("inf", "-inf"):
        return high if value == "inf" else low
    v = number(value)
    n = round_whole(abs(v), mode[:2], v < 0) * (-1 if v < 0 else 1)
    return max(low, min(high, n))


def integers_of(f):
    return [(x,) for x in bits([0, .5, 1.5, -.5, -2.5, 2.5, 100.75, -200, "inf", "-inf", "nan", 1000], f)]


alu("cvt.rni.ftz.s32.f32", "b32", ["f32"], integers_of(F32), lambda a: to_integer(decode(a, F32), "s32", "rni"))
alu("cvt.rzi.u16.f16", "b16", ["b16"], integers_of(F16), lambda a: to_integer(decode(a, F16), "u16", "rzi"))
alu("cvt.rmi.s64.bf16", "b64", ["b16"], [r for r in integers_of(BF16) if decode(r[0], BF16) != "nan"],
    lambda a: to_integer(decode(a, BF16), "s64", "rmi"))


def whole(opcode, kind, mode, sat=False):
    f = FORMATS[kind]

    def function(a):
        value = decode(a, f)
        if value == "nan" or value in ("inf", "-inf", "-0"):
            result = encode(value, f)
        else:
            n = round_whole(abs(value), mode, value < 0)
            result = f.sign if n == 0 and value < 0 else encode(Fraction(n if value > 0 else -n), f)
        return clamped(result, f, sat)
    alu(opcode, REGISTER[kind], [REGISTER[kind]], integers_of(f), function)


whole("cvt.rni.f32.f32", "f32", "rn")
whole("cvt.rpi.sat.f64.f64", "f64", "rp", sat=True)
whole("cvt.rmi.f16.f16", "f16", "rm")
whole("cvt.rzi.bf16.bf16", "bf16", "rz")
WHOLE = [(0,), (1,), (0xFFFFFFFF,), (0x7FFFFFFF,), (0x80000000,), (123456789,), (1000,)]
alu("cvt.rp.f32.s32", "f32", ["b32"], WHOLE, lambda a: encode(Fraction(a - (1 << 32) if a >> 31 else a), F32, "rp"))
alu("cvt.rz.bf16.u32", "b16", ["b32"], WHOLE, lambda a: encode(Fraction(a), BF16, "rz"))


def convert(opcode, to, kind, mode="rn", relu=False, satfinite=False, ftz=False, sat=False):
    f, g = FORMATS[kind], FORMATS[to]

    def function(a):
        value = decode(flushed(a, f) if ftz else a, f)
        if relu and value != "nan" and is_negative(value):
            value = Fraction(0)
        result = encode(value, g, mode, satfinite=satfinite)
        if ftz:
            result = flushed(result, g)
        return clamped(result, g, sat)
    alu(opcode, REGISTER[to], [REGISTER[kind]], operands(f, 1), function)


convert("cvt.ftz.f32.f16", "f32", "f16")
convert("cvt.sat.f64.f16", "f64", "f16", sat=True)
convert("cvt.f64.f32", "f64", "f32")
convert("cvt.f32.bf16", "f32", "bf16")
convert("cvt.rm.f16.f32", "f16", "f32", mode="rm")
convert("cvt.rz.f16.f64", "f16", "f64", mode="rz")
convert("cvt.rp.ftz.f32.f64", "f32", "f64", mode="rp", ftz=True)
convert("cvt.rn.bf16.f16", "bf16", "f16")
convert("cvt.rz.f16.bf16", "f16", "bf16", mode="rz")
convert("cvt.rn.relu.f16.f32", "f16", "f32", relu=True)
convert("cvt.rz.satfinite.f16.f32", "f16", "f32", mode="rz", satfinite=True)
convert("cvt.rn.relu.satfinite.f16.f32", "f16", "f32", relu=True, satfinite=True)
convert("cvt.rn.relu.bf16.f32", "bf16", "f32", relu=True)
convert("cvt.rp.bf16.f32", "bf16", "f32", mode="rp")


def tf32(mode, relu=False):
    def function(a):
        value = decode(a, F32)
        if relu and value != "nan" and is_negative(value):
            value = Fraction(0)
        return F32.nan if value == "nan" else encode(value, TF32, mode) << 13
    return function


alu("cvt.rna.tf32.f32", "b32", ["f32"], [r for r in operands(F32, 1) if decode(r[0], F32) != "nan"], tf32("rna"))
alu("cvt.rz.relu.tf32.f32", "b32", ["f32"], [r for r in operands(F32, 1) if decode(r[0], F32) != "nan"],
    tf32("rz", relu=True))


def pack(opcode, g, width, kind, d, relu=False, satfinite=True, mode="rn", **options):
    """Two values become one: the first is the upper half."""
    f = FORMATS[kind.removesuffix("x2")]

    def one(a):
        value = decode(a, f)
        if relu and value != "nan" and is_negative(value):
            value = Fraction(0)
        return encode(value, g, mode, satfinite=satfinite)
    rows = [r for r in operands(f, 2) if g.nan is not None or all(decode(x, f) != "nan" for x in r)]
    if kind.endswith("x2"):
        alu(opcode, d, ["b32"], [(a << 16 | b,) for a, b in rows],
            lambda v: one(v >> 16) << width | one(v & 0xFFFF), **options)
    elif d == "b8":
        alu(opcode, "b16", ["f32"] * 2, rows, lambda a, b: one(a) << width | one(b),
            text=f".reg .b8 %byte;\n{opcode} %byte, $a, $b;\ncvt.u16.u8 $d, %byte;", **options)
    else:
        alu(opcode, d, ["f32"] * 2, rows, lambda a, b: one(a) << width | one(b), **options)


SM89 = {"version": "8.1", "target": "sm_89"}
SM90 = {"version": "7.8", "target": "sm_90"}
pack("cvt.rn.relu.f16x2.f32", F16, 16, "f32", "b32", relu=True, satfinite=False)
pack("cvt.rn.satfinite.e4m3x2.f32", E4M3, 8, "f32", "b16", **SM89, name="cvt_e4m3x2_f32_sm_89")
pack("cvt.rn.satfinite.relu.e5m2x2.f32", E5M2, 8, "f32", "b16", relu=True, **SM90, name="cvt_e5m2x2_f32_sm_90")
pack("cvt.rn.satfinite.e5m2x2.f16x2", E5M2, 8, "f16x2", "b16", **SM89, name="cvt_e5m2x2_f16x2_sm_89")
pack("cvt.rn.satfinite.e4m3x2.f16x2", E4M3, 8, "f16x2", "b16", **SM90, name="cvt_e4m3x2_f16x2_sm_90")
pack("cvt.rn.satfinite.e2m1x2.f32", E2M1, 4, "f32", "b8")
pack("cvt.rn.satfinite.e3m2x2.f32", E3M2, 8, "f32", "b16")


def unpack(opcode, g, width, source="b16", **options):
    codes = range(0, 1 << width, max(1, (1 << width) // 32))
    rows = [(c << width | (c * 5 + 1) % (1 << width),) for c in codes if width == 4 or
            not (decode(c, g) == "nan" and c != g.nan)]
    if width == 8 and g in (E2M3, E3M2):
        rows = [((c & 0x3F) << 8 | (c * 5 & 0x3F),) for c in range(32)]
    one = lambda c: encode(decode(c, g), F16)
    mask = (1 << width) - 1
    text = None if source == "b16" else f".reg .b8 %byte;\ncvt.u8.u16 %byte, $a;\n{opcode} $d, %byte;"
    alu(opcode, "b32", ["b16"], rows, lambda v: one(v >> width & mask) << 16 | one(v & mask), text=text, **options)


unpack("cvt.rn.f16x2.e4m3x2", E4M3, 8, **SM89, name="cvt_f16x2_e4m3x2_sm_89")
unpack("cvt.rn.f16x2.e5m2x2", E5M2, 8, **SM90, name="cvt_f16x2_e5m2x2_sm_90")
unpack("cvt.rn.f16x2.e2m1x2", E2M1, 4, source="b8")
unpack("cvt.rn.f16x2.e2m3x2", E2M3, 8)


def scale_code(bits32, mode):
    """ue8m0: 2^(code - 127), 0xFF is NaN; of magnitudes."""
    value = decode(bits32, F32)
    if value == "nan":
        return 0xFF
    if value in ("inf", "-inf"):
        return 0xFE
    a = abs(number(value))
    code = 0
    while code < 254 and Fraction(2) ** (code + 1 - 127) <= a:
        code += 1
    exact = Fraction(2) ** (code - 127) == a
    return code + (mode == "rp" and not exact and a > Fraction(2) ** (code - 127) and code < 254)


SCALES = [tuple(bits(p, F32)) for p in ((1, 2), (1.5, 3), (.25, 100), (0.7, 1e30), ("nan", 8))]
alu("cvt.rp.satfinite.ue8m0x2.f32", "b16", ["f32"] * 2, SCALES,
    lambda a, b: scale_code(a, "rp") << 8 | scale_code(b, "rp"))
alu("cvt.rz.satfinite.ue8m0x2.bf16x2", "b16", ["b32"],
    [(encode(Fraction(a), BF16) << 16 | encode(Fraction(b), BF16),) for a, b in ((1, 2), (1.5, 3), (.25, 100))],
    lambda v: scale_code(v >> 16 << 16, "rz") << 8 | scale_code((v & 0xFFFF) << 16, "rz"))
alu("cvt.rn.bf16x2.ue8m0x2", "b32", ["b16"], [(0x7F80,), (0x0180,), (0xFE7E,)],
    lambda v: encode(Fraction(2) ** ((v >> 8) - 127), BF16) << 16 | encode(Fraction(2) ** ((v & 255) - 127), BF16))

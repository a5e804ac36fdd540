"""Integer arithmetic, logic, comparisons, choices, conversions of integers."""
from emit import alu

M16, M32, M64 = (1 << 16) - 1, (1 << 32) - 1, (1 << 64) - 1
CORNERS = {16: [0, 1, 5, 0x7FFF, 0x8000, 0xFFFF, 0x1234, 0xFEDC],
           32: [0, 1, 7, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x12345678, 0xFEDCBA98],
           64: [0, 1, 9, M64 >> 1, 1 << 63, M64, 0x123456789ABCDEF0, 0xFEDCBA9876543210]}
REGISTER = {8: "b16", 16: "b16", 32: "b32", 64: "b64"}


def signed(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def value(x, kind):
    bits = int(kind[1:])
    return signed(x, bits) if kind[0] == "s" else x & ((1 << bits) - 1)


def rows(*widths):
    """Corners, each operand shifted against the others."""
    count = 16
    return [tuple(CORNERS[w][(i * (2 * j + 1) + i // 8 * (j + 1)) % 8] for j, w in enumerate(widths))
            for i in range(count)]


def op(opcode, kind, arity, function, d=None, **options):
    bits = int(kind[1:])
    sources = [REGISTER[bits]] * arity
    alu(opcode, d or REGISTER[bits], sources, rows(*[bits] * arity),
        lambda *v: function(*[value(x, kind) for x in v]), **options)


def clamp(x, kind):
    bits = int(kind[1:])
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)
    return max(low, min(high, x))


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def halves(function, kind):
    return lambda *v: (function(*[value(x, kind) for x in v]) & M16) | \
        (function(*[value(x >> 16, kind) for x in v]) & M16) << 16


op("add.s32", "s32", 2, lambda a, b: a + b)
op("add.sat.s32", "s32", 2, lambda a, b: clamp(a + b, "s32"))
op("sub.u64", "u64", 2, lambda a, b: a - b)
op("sub.sat.s32", "s32", 2, lambda a, b: clamp(a - b, "s32"))
op("mul.hi.s64", "s64", 2, lambda a, b: a * b >> 64)
op("mul.wide.s16", "s16", 2, lambda a, b: a * b, d="b32")
op("mad.lo.u32", "u32", 3, lambda a, b, c: a * b + c)
op("mad.hi.sat.s32", "s32", 3, lambda a, b, c: clamp((a * b >> 32) + c, "s32"))
alu("mad.wide.u32", "b64", ["b32", "b32", "b64"], rows(32, 32, 64), lambda a, b, c: a * b + c)
op("mul24.hi.s32", "s32", 2, lambda a, b: signed(a, 24) * signed(b, 24) >> 16)
op("mad24.lo.u32", "u32", 3, lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c)
op("mad24.hi.sat.s32", "s32", 3, lambda a, b, c: clamp((signed(a, 24) * signed(b, 24) >> 16) + c, "s32"))
op("sad.s32", "s32", 3, lambda a, b, c: abs(a - b) + c)
op("div.s32", "s32", 2, lambda a, b: quotient(a, b) if b else -1)
op("rem.s64", "s64", 2, lambda a, b: a - quotient(a, b) * b if b else a)
op("abs.s16", "s16", 1, abs)
op("neg.s64", "s64", 1, lambda a: -a)
for name, pick in (("min", min), ("max", max)):
    op(f"{name}.s64", "s64", 2, pick)
    op(f"{name}.relu.s32", "s32", 2, lambda a, b, pick=pick: max(pick(a, b), 0))
    alu(f"{name}.relu.s16x2", "b32", ["b32"] * 2, rows(32, 32),
        halves(lambda a, b, pick=pick: max(pick(a, b), 0), "s16"))
    alu(f"{name}.u16x2", "b32", ["b32"] * 2, rows(32, 32), halves(pick, "u16"))
op("popc.b64", "u64", 1, lambda a: bin(a).count("1"), d="b32")
op("clz.b32", "u32", 1, lambda a: 32 - a.bit_length())


def highest(a, bits):
    a = ~a if a < 0 else a
    return a.bit_length() - 1 if a else M32


op("bfind.s32", "s32", 1, lambda a: highest(a, 32))
FNS = [(0b101100, 0, 1), (0b101100, 0, 3), (0b101100, 2, 0), (0b101100, 3, 0), (0b101100, 5, -1),
       (0b101100, 3, -2), (0b101100, 0, 4), (0, 0, 1)]


def nth_bit(mask, base, offset):
    if offset == 0:
        return base if mask >> base & 1 else M32
    step = 1 if offset > 0 else -1
    found = [i for i in (range(base, 32) if step > 0 else range(base, -1, -1)) if mask >> i & 1]
    return found[abs(offset) - 1] if len(found) >= abs(offset) else M32


alu("fns.b32", "b32", ["b32"] * 3, [(m, b, o & M32) for m, b, o in FNS],
    lambda m, b, o: nth_bit(m, b, signed(o, 32)))
op("brev.b32", "u32", 1, lambda a: int(f"{a:032b}"[::-1], 2))
FIELDS = [(0x87654321, 4, 8), (0x87654321, 28, 8), (0x87654321, 0, 32), (0x87654321, 31, 1), (0xF0, 4, 0),
          (0x80000000, 40, 4)]


def field(a, at, length, sign):
    bits = [(a >> i & 1) if i < 32 else (a >> 31 if sign else 0) for i in range(at, at + length)]
    result = sum(bit << i for i, bit in enumerate(bits) if i < 32)
    fill = (a >> min(at + length - 1, 31) & 1) if sign and length else 0
    return (result | (M32 << length if fill else 0)) & M32


alu("bfe.s32", "b32", ["b32"] * 3, FIELDS, lambda a, p, l: field(a, p, l, True))
alu("bfi.b32", "b32", ["b32"] * 3, [(0xAB, 8, 8), (0xAB, 28, 8), (0xFFFF, 0, 0), (0xFF, 4, 32), (1, 31, 1)],
    lambda a, p, l: (0x11111111 & ~(((1 << l) - 1) << p)) | ((a & ((1 << l) - 1)) << p),
    text="mov.b32 %r2, 0x11111111;\nbfi.b32 $d, $a, %r2, $b, $c;")
alu("szext.clamp.s32", "b32", ["b32"] * 2, [(0x80, 8), (0x7F, 8), (0xFFFF, 16), (0x12345678, 0), (0x80000001, 40)],
    lambda a, n: 0 if n == 0 else signed(a, min(n, 32)))
alu("bmsk.wrap.b32", "b32", ["b32"] * 2, [(0, 4), (4, 8), (28, 8), (33, 2), (5, 0)],
    lambda a, n: (((1 << (n & 31)) - 1) << (a & 31)) & M32)


def dot(a, b, kinds, count, pick=0):
    x = [value(a >> (8 if count == 4 else 16) * i, ("u" if kinds[0] == "u" else "s") + ("8" if count == 4 else "16"))
         for i in range(count)]
    y = [value(b >> 8 * (i + pick), kinds[1] + "8") for i in range(count)]
    return sum(p * q for p, q in zip(x, y))


alu("dp4a.s32.u32", "b32", ["b32"] * 3, rows(32, 32, 32), lambda a, b, c: dot(a, b, "su", 4) + c)
alu("dp2a.hi.u32.s32", "b32", ["b32"] * 3, rows(32, 32, 32), lambda a, b, c: dot(a, b, "us", 2, 2) + c)

# Carries: of a and b, then what the second instruction makes of it.
alu("add.cc.u32", "b64", ["b32"] * 2, rows(32, 32), lambda a, b: a + b,
    text="add.cc.u32 %r2, $a, $b;\naddc.u32 %r3, 0, 0;\nmov.b64 $d, {%r2, %r3};")
for name, sign in (("addc", 1), ("subc", -1)):
    # Of addition c sets the carry, of subtraction the borrow.
    prepare = "add.cc.u32 %r2, 0xFFFFFFFF, $c;\n" if sign > 0 else "sub.cc.u32 %r2, 0, $c;\n"
    with_c = [(a, b, i % 2) for i, (a, b) in enumerate(rows(32, 32))]
    alu(f"{name}.u32", "b32", ["b32"] * 3, with_c, lambda a, b, c, sign=sign: a + sign * (b + c),
        text=prepare + f"{name}.u32 $d, $a, $b;")
    alu(f"{name}.cc.s32", "b64", ["b32"] * 3, with_c,
        lambda a, b, c, sign=sign: (a + sign * (b + c)) & M64 if sign > 0 else
        ((a - b - c) & M32) | ((-1 if a - b - c < 0 else 0) & M32) << 32,
        text=prepare + f"{name}.cc.s32 %r2, $a, $b;\n{name}.u32 %r3, 0, 0;\nmov.b64 $d, {{%r2, %r3}};")
alu("sub.cc.u32", "b64", ["b32"] * 2, rows(32, 32), lambda a, b: ((a - b) & M32) | ((-1 if a < b else 0) & M32) << 32,
    text="sub.cc.u32 %r2, $a, $b;\nsubc.u32 %r3, 0, 0;\nmov.b64 $d, {%r2, %r3};")
alu("mad.lo.cc.u32", "b64", ["b32"] * 3, rows(32, 32, 32), lambda a, b, c: (a * b & M32) + c,
    text="mad.lo.cc.u32 %r2, $a, $b, $c;\naddc.u32 %r3, 0, 0;\nmov.b64 $d, {%r2, %r3};")
alu("madc.hi.u32", "b32", ["b32"] * 3, rows(32, 32, 32), lambda a, b, c: (a * b >> 32) + c + 1,
    text="add.cc.u32 %r2, 0xFFFFFFFF, 1;\nmadc.hi.u32 $d, $a, $b, $c;")
alu("madc.lo.cc.u32", "b64", ["b32"] * 3, rows(32, 32, 32), lambda a, b, c: (a * b & M32) + c + 1,
    text="add.cc.u32 %r2, 0xFFFFFFFF, 1;\nmadc.lo.cc.u32 %r2, $a, $b, $c;\naddc.u32 %r3, 0, 0;\n"
         "mov.b64 $d, {%r2, %r3};")

# Logic.
TRUTH = [(a, b) for a in (0, 1) for b in (0, 1)]
for name, function in (("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)):
    alu(f"{name}.pred", "pred", ["pred"] * 2, TRUTH, function)
    op(f"{name}.b64", "u64", 2, function)
alu("not.pred", "pred", ["pred"], [(0,), (1,)], lambda a: 1 - a)
op("not.b16", "u16", 1, lambda a: ~a)
op("cnot.b32", "u32", 1, lambda a: a == 0)


def logic3(a, b, c, table):
    return sum((table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i for i in range(32))


op("lop3.b32", "u32", 3, lambda a, b, c: logic3(a, b, c, 0x96 ^ 0x21), text=f"lop3.b32 $d, $a, $b, $c, {0x96 ^ 0x21};")
op("lop3.and.b32", "u32", 3, lambda a, b, c: logic3(a, b, c, 0x80) != 0, d="pred",
   text="setp.eq.u32 %p2, 0, 0;\nlop3.and.b32 %r3|$d, $a, $b, $c, 0x80, %p2;")
SHIFTS = [(0x80000001, 0x12345678, n) for n in (0, 1, 16, 31, 32, 40)]
alu("shf.l.clamp.b32", "b32", ["b32"] * 3, SHIFTS, lambda lo, hi, n: ((hi << 32 | lo) << min(n, 32)) >> 32)
alu("shl.b64", "b64", ["b64", "b32"], [(M64, n) for n in (0, 1, 63, 64, 1000)], lambda a, n: a << n if n < 64 else 0)
alu("shr.s16", "b16", ["b16", "b32"], [(0x8001, n) for n in (0, 1, 15, 16, 99)],
    lambda a, n: signed(a, 16) >> min(n, 15))


def permuted(a, b, selector):
    source = (b << 32 | a).to_bytes(8, "little")
    result = 0
    for i in range(4):
        nibble = selector >> 4 * i & 15
        byte = source[nibble & 7]
        result |= (0xFF if byte & 0x80 else 0 if nibble & 8 else byte) << 8 * i if nibble & 8 else byte << 8 * i
    return result


alu("prmt.b32", "b32", ["b32"] * 3, [(0x83828180, 0x07060504, s) for s in (0x3210, 0x7654, 0x0123, 0xC8BA, 0x9999)],
    permuted)

# Comparisons and choices. c is combined.
CMP = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
       "lo": lambda a, b: a < b, "hs": lambda a, b: a >= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
PAIRS = [(CORNERS[32][i % 8], CORNERS[32][(i // 8 + i) % 8], i % 2) for i in range(16)]


def combined(opcode, kind, name, logic, **options):
    function = {"and": lambda p, c: p and c, "or": lambda p, c: p or c, "xor": lambda p, c: p != bool(c)}[logic]
    bits = int(kind[1:])
    alu(opcode, "pred", [REGISTER[bits]] * 2 + ["pred"], PAIRS,
        lambda a, b, c: function(CMP[name](value(a, kind), value(b, kind)), bool(c)), **options)


combined("setp.ne.and.b32", "u32", "ne", "and")
combined("setp.lt.or.s32", "s32", "lt", "or")
combined("setp.hs.xor.u32", "u32", "hs", "xor")
for opcode, kind, name, yes in (("set.eq.u32.b32", "u32", "eq", M32), ("set.lt.f32.s32", "s32", "lt", 0x3F800000),
                                ("set.lo.s32.u32", "u32", "lo", M32)):
    alu(opcode, "b32", ["b32"] * 2, [p[:2] for p in PAIRS],
        lambda a, b, kind=kind, name=name, yes=yes: yes if CMP[name](value(a, kind), value(b, kind)) else 0)
alu("selp.b64", "b64", ["b64", "b64", "pred"], [(1, 2, 0), (1, 2, 1), (M64, 0, 1)], lambda a, b, c: a if c else b)
alu("slct.b32.s32", "b32", ["b32"] * 3, [(1, 2, 0), (1, 2, M32), (1, 2, 5)],
    lambda a, b, c: a if signed(c, 32) >= 0 else b)
alu("slct.b64.f32", "b64", ["b64", "b64", "f32"], [(1, 2, x) for x in (0, 0x80000000, 0x3F800000, 0xBF800000, 0x7FC00000)],
    lambda a, b, c: a if c in (0, 0x80000000, 0x3F800000) else b)

# Moves.
alu("mov.pred", "pred", ["pred"], [(0,), (1,)], lambda a: a)
alu("mov.b64", "b64", ["b32"], [(0x12345678,)], lambda a: 0x23456789, text="mov.b64 $d, 0x23456789;")
alu("mov.b32", "b32", ["b16", "b16"], [(0x1234, 0xABCD)], lambda a, b: b << 16 | a, text="mov.b32 $d, {$a, $b};")
alu("mov.b128", "b64", ["b64", "b64"], [(1, 0x123456789)], lambda a, b: a + 2 * b,
    text=".reg .b128 %q;\nmov.b128 %q, {$a, $b};\nmov.b128 {%rd3, %rd4}, %q;\nadd.u64 $d, %rd3, %rd4;\n"
         "add.u64 $d, $d, %rd4;", name="mov_b128_unpack")

# Conversions of integers, from wider registers.
SAT = {"u8": "s32", "s8": "s32", "u16": "s32", "s16": "u32", "u32": "s64", "s32": "u64", "u64": "s64", "s64": "u64"}
for to, kind in SAT.items():
    bits, wide = int(to[1:]), int(kind[1:])
    alu(f"cvt.sat.{to}.{kind}", REGISTER[bits], [REGISTER[wide]], [(x,) for x in CORNERS[wide] + [100, 300]],
        lambda a, to=to, kind=kind: clamp(value(a, kind), to) & (M16 if to == "s8" else M64))
op("cvt.s64.s16", "s16", 1, lambda a: a, d="b64")
alu("cvt.pack.sat.u16.s32", "b32", ["b32"] * 2, rows(32, 32),
    lambda a, b: clamp(signed(a, 32), "u16") << 16 | clamp(signed(b, 32), "u16"))
alu("cvt.pack.sat.s8.s32.b32", "b32", ["b32"] * 3, rows(32, 32, 32),
    lambda a, b, c: (clamp(signed(a, 32), "s8") & 255) << 8 | (clamp(signed(b, 32), "s8") & 255) | (c & M16) << 16)

"""Float arithmetic in fractions: what PTX says of results, to the bit.

Bits are whole numbers; a value is a Fraction, "inf", "-inf", "nan" or "-0".
"""
from fractions import Fraction
from math import isqrt


class Format:
    def __init__(self, exponent, fraction, nan, largest=None, has_inf=True):
        self.exponent, self.fraction, self.nan = exponent, fraction, nan
        self.bias = (1 << (exponent - 1)) - 1
        self.has_inf = has_inf
        self.sign = 1 << (exponent + fraction)
        top = ((1 << exponent) - 1) << fraction
        self.inf = top
        self.largest = largest if largest is not None else top - 1


F16 = Format(5, 10, 0x7FFF)
BF16 = Format(8, 7, 0x7FFF)
F32 = Format(8, 23, 0x7FFFFFFF)
F64 = Format(11, 52, 0xFFF8000000000000)
E4M3 = Format(4, 3, 0x7F, largest=0x7E, has_inf=False)
E5M2 = Format(5, 2, 0x7F)
E2M1 = Format(2, 1, None, largest=7, has_inf=False)
E2M3 = Format(2, 3, None, largest=31, has_inf=False)
E3M2 = Format(3, 2, None, largest=31, has_inf=False)
TF32 = Format(8, 10, None)


def decode(bits, f):
    sign = -1 if bits & f.sign else 1
    code = bits & (f.sign - 1)
    exponent, fraction = code >> f.fraction, code & ((1 << f.fraction) - 1)
    if f.has_inf and exponent == (1 << f.exponent) - 1:
        return "nan" if fraction else ("inf" if sign > 0 else "-inf")
    if not f.has_inf and f.nan is not None and code == f.nan:
        return "nan"
    if code == 0:
        return Fraction(0) if sign > 0 else "-0"
    if exponent == 0:
        return sign * Fraction(fraction) * Fraction(2) ** (1 - f.bias - f.fraction)
    return sign * Fraction((1 << f.fraction) + fraction) * Fraction(2) ** (exponent - f.bias - f.fraction)


def number(value):
    """A value as a Fraction, of zeros and numbers."""
    return Fraction(0) if value == "-0" else value


def round_whole(a, mode, negative):
    """A fraction >= 0 to a whole number."""
    n, rest = a.numerator // a.denominator, a - a.numerator // a.denominator
    up = {"rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and n % 2),
          "rna": rest >= Fraction(1, 2), "rz": False,
          "rm": negative and rest > 0, "rp": not negative and rest > 0}[mode]
    return n + bool(up)


def encode(value, f, mode="rn", ftz=False, satfinite=False):
    if value == "nan":
        return f.largest if f.nan is None else f.nan
    if value == "-0":
        return f.sign
    if value in ("inf", "-inf"):
        sign = f.sign if value == "-inf" else 0
        return sign | (f.largest if satfinite or not f.has_inf else f.inf)
    if value == 0:
        return 0
    negative, a = value < 0, abs(value)
    sign = f.sign if negative else 0
    e = a.numerator.bit_length() - a.denominator.bit_length()
    while Fraction(2) ** e > a:
        e -= 1
    while Fraction(2) ** (e + 1) <= a:
        e += 1
    e = max(e, 1 - f.bias)
    n = round_whole(a / Fraction(2) ** (e - f.fraction), mode, negative)
    if n < 1 << f.fraction:  # Subnormal.
        return sign | (0 if ftz else n)
    if n == 2 << f.fraction:
        n, e = n // 2, e + 1
    code = ((e + f.bias) << f.fraction) + n - (1 << f.fraction)
    if code > f.largest:
        to_inf = mode in ("rn", "rna") or (mode == "rm" and negative) or (mode == "rp" and not negative)
        code = f.inf if f.has_inf and to_inf and not satfinite else f.largest
    return sign | code


def flushed(bits, f):
    """A subnormal becomes a zero of its sign."""
    return bits & f.sign if (bits & (f.sign - 1)) >> f.fraction == 0 else bits


def is_negative(value):
    return value in ("-0", "-inf") or (not isinstance(value, str) and value < 0)


def add_values(x, y, mode):
    if "nan" in (x, y) or {x, y} == {"inf", "-inf"}:
        return "nan"
    for v in (x, y):
        if v in ("inf", "-inf"):
            return v
    if x == "-0" and y == "-0":
        return "-0"
    total = number(x) + number(y)
    if total == 0 and (x == "-0" or y == "-0" or number(x) != 0):
        return "-0" if mode == "rm" else Fraction(0)
    return total


def mul_values(x, y):
    if "nan" in (x, y):
        return "nan"
    negative = is_negative(x) != is_negative(y)
    infinite = any(v in ("inf", "-inf") for v in (x, y))
    zero = any(v == "-0" or v == 0 for v in (x, y))
    if infinite:
        return "nan" if zero else ("-inf" if negative else "inf")
    if zero:
        return "-0" if negative else Fraction(0)
    return x * y


def div_values(x, y):
    if "nan" in (x, y):
        return "nan"
    infinite = [v in ("inf", "-inf") for v in (x, y)]
    zero = [v == "-0" or v == 0 for v in (x, y)]
    if all(infinite) or all(zero):
        return "nan"
    negative = is_negative(x) != is_negative(y)
    if infinite[0] or zero[1]:
        return "-inf" if negative else "inf"
    if zero[0] or infinite[1]:
        return "-0" if negative else Fraction(0)
    return x / y


def negated(v):
    return {"inf": "-inf", "-inf": "inf", "nan": "nan", "-0": Fraction(0)}.get(v) if isinstance(v, str) else \
        ("-0" if v == 0 else -v)


def sqrt_bits(value, f, mode):
    if value == "nan" or (is_negative(value) and value != "-0"):
        return f.nan
    if value == "inf" or value == "-0" or value == 0:
        return encode(value, f)
    # Enough bits that the rest only says whether something is left.
    scale = 2 * f.fraction + 80 + 2 * f.bias
    scaled = value.numerator * (1 << (2 * scale)) // value.denominator
    root = isqrt(scaled)
    exact = root * root == scaled and (value * (1 << (2 * scale))).denominator == 1
    result = Fraction(root, 1 << scale) + (0 if exact else Fraction(1, 1 << (scale + 2)))
    return encode(result, f, mode)


def apply(op, bits, f, mode="rn", ftz=False, sat=False, relu=False, nan=False, xorsign=False):
    """One instruction of one element."""
    if ftz:
        bits = [flushed(b, f) for b in bits]
    v = [decode(b, f) for b in bits]
    if op in ("abs", "neg"):
        if v[0] == "nan":
            return (bits[0] & ~f.sign) if op == "abs" else bits[0] ^ f.sign
        return bits[0] & ~f.sign if op == "abs" else bits[0] ^ f.sign
    if op in ("min", "max"):
        return min_max(op, bits, v, f, nan, xorsign)
    if op == "sqrt":
        result = sqrt_bits(v[0], f, mode)
        return flushed(result, f) if ftz else result
    value = {"add": lambda: add_values(v[0], v[1], mode),
             "sub": lambda: add_values(v[0], negated(v[1]), mode),
             "mul": lambda: mul_values(v[0], v[1]),
             "fma": lambda: add_values(mul_values(v[0], v[1]), v[2], mode),
             "div": lambda: div_values(v[0], v[1]),
             "rcp": lambda: div_values(Fraction(1), v[0])}[op]()
    result = encode(value, f, mode)
    if ftz:
        result = flushed(result, f)
    return clamped(result, f, sat, relu)


def clamped(bits, f, sat, relu=False):
    value = decode(bits, f)
    if sat:
        if value == "nan" or is_negative(value):
            return 0
        if value == "inf" or value > 1:
            return encode(Fraction(1), f)
    if relu and value != "nan" and is_negative(value):
        return 0
    return bits


def order(value):
    """Numbers with -0 below +0."""
    if value in ("inf", "-inf"):
        return (float(value), 0)
    return (number(value), -1 if value == "-0" else 0)


def min_max(op, bits, v, f, nan, xorsign):
    sign = (bits[0] ^ bits[1]) & f.sign
    if xorsign:
        bits = [b & ~f.sign for b in bits]
        v = [decode(b, f) for b in bits]
    if "nan" in v:
        if nan or v[0] == v[1]:
            return f.nan
        result = bits[1] if v[0] == "nan" else bits[0]
    else:
        pick = min if op == "min" else max
        result = pick(zip(v, bits), key=lambda pair: order(pair[0]))[1]
    return result & ~f.sign | sign if xorsign else result


def compare(name, x, y):
    """Every comparison of setp; those that end in u hold for NaN."""
    unordered = "nan" in (x, y)
    if name == "num":
        return not unordered
    if name == "nan":
        return unordered
    if unordered:
        return name in ("equ", "neu", "ltu", "leu", "gtu", "geu")
    def key(v):
        return float(v) if v in ("inf", "-inf") else number(v)
    a, b = key(x), key(y)
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[name[:2]]


def pair(function, width, *operands):
    """Halves of packed operands, each for itself."""
    mask = (1 << width) - 1
    low = function(*[o & mask for o in operands])
    high = function(*[o >> width & mask for o in operands])
    return low | high << width

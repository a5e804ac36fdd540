"""Files of the suite: a kernel `k` of one pointer and the words it must leave."""
import os
import re

WIDTH = {"pred": 1, "b8": 8, "b16": 16, "b32": 32, "b64": 64, "f32": 32, "f64": 64, "b128": 128}
cases = {}


def raw(opcode, body, expected, block=1, version="8.6", target="sm_100a", module="", name=None):
    """`body` has %lane, %out (of 8 bytes a lane) and registers %r<16>, %rd<16>,
    %f<16>, %h<16>, %d<8>, %p<8>; `expected` is 32-bit words."""
    name = name or re.sub(r"[.:]+", "_", opcode)
    if name in cases:
        raise SystemExit(f"two cases named {name}")
    words = " ".join(f"{word & 0xFFFFFFFF:08x}" for word in expected)
    lines = [f"// {opcode}", f"// block {block}"]
    for i in range(0, len(words), 9 * 10):
        lines.append("// expect " + words[i:i + 9 * 10].strip())
    lines += [f".version {version}", f".target {target}", ".address_size 64"]
    lines += [line.strip() for line in module.strip().splitlines() if line.strip()]
    lines += [".visible .entry k(.param .u64 result)", "{",
              "  .reg .pred %p<8>;", "  .reg .b16 %h<16>;", "  .reg .b32 %r<16>, %lane;",
              "  .reg .b64 %rd<16>, %out, %at;", "  .reg .f32 %f<16>;", "  .reg .f64 %d<8>;",
              "  mov.u32 %lane, %tid.x;", "  ld.param.u64 %out, [result];",
              "  mul.wide.u32 %at, %lane, 8;", "  add.s64 %out, %out, %at;"]
    for line in body.strip().splitlines():
        line = line.strip()
        lines.append(line if line.endswith(":") else "  " + line)
    lines += ["  ret;", "}", ""]
    cases[name] = "\n".join(lines)


def words_of(value, bits=64):
    return [value >> shift & 0xFFFFFFFF for shift in range(0, bits, 32)]


def alu(opcode, d, sources, rows, function, text=None, module="", before="", **options):
    """One lane for each row of operands' bits. `text` stands for the instruction
    with $d, $a, $b, $c; results are words of 64 bits."""
    body, names = before, []
    for i, kind in enumerate(sources):
        letter = "abc"[i]
        values = ", ".join(f"0x{row[i]:X}" for row in rows)
        module += f"\n.global .align 8 .b64 in_{letter}[{len(rows)}] = {{{values}}};"
        body += f"\n.reg .{kind} %{letter};"
        body += f"\nmov.u64 %rd0, in_{letter};\nadd.s64 %rd0, %rd0, %at;\nld.global.b64 %rd1, [%rd0];"
        body += {1: f"\nsetp.ne.u64 %{letter}, %rd1, 0;", 8: f"\ncvt.u8.u64 %{letter}, %rd1;",
                 16: f"\ncvt.u16.u64 %{letter}, %rd1;",
                 32: f"\ncvt.u32.u64 %r0, %rd1;\nmov.b32 %{letter}, %r0;",
                 64: f"\nmov.b64 %{letter}, %rd1;"}[WIDTH[kind]]
        names.append(f"%{letter}")
    body += f"\n.reg .{d} %d;"
    if text is None:
        text = f"{opcode} %d, {', '.join(names)};"
    for letter in "abcd":
        text = text.replace(f"${letter}", f"%{letter}")
    body += "\n" + text
    body += {1: "\nselp.b64 %rd2, 1, 0, %d;", 8: "\ncvt.u64.u8 %rd2, %d;", 16: "\ncvt.u64.u16 %rd2, %d;",
             32: "\nmov.b32 %r1, %d;\ncvt.u64.u32 %rd2, %r1;", 64: "\nmov.b64 %rd2, %d;"}[WIDTH[d]]
    body += "\nst.global.b64 [%out], %rd2;"
    expected = []
    for row in rows:
        expected += words_of(function(*row) & ((1 << WIDTH[d]) - 1))
    raw(opcode, body, expected, block=len(rows), module=module, **options)


def write(folder):
    """Files that are no case's any more go."""
    os.makedirs(folder, exist_ok=True)
    for old in os.listdir(folder):
        if old.endswith(".ptx") and old[:-4] not in cases:
            os.remove(os.path.join(folder, old))
    for name, text in cases.items():
        with open(os.path.join(folder, name + ".ptx"), "w", encoding="ascii") as file:
            file.write(text)


def differing(folder):
    """Names of files that are not as `write` makes them."""
    there = {name[:-4] for name in os.listdir(folder) if name.endswith(".ptx")}
    different = there ^ cases.keys()
    for name in there & cases.keys():
        with open(os.path.join(folder, name + ".ptx"), encoding="ascii") as file:
            if file.read() != cases[name]:
                different.add(name)
    return sorted(different)

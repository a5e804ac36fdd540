"""Modules and launches that kvc sim must refuse, each in one line."""

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
BODY = """.reg .b64 %rd<4>; .reg .b32 %r<4>;
ld.param.u64 %rd0, [out];
ld.param.u32 %r1, [n];
st.global.u32 [%rd0], %r1;
"""


def module(body="", header=HEADER, before="", hints=""):
    return (header + before + ".visible .entry k(.param .u64 out, .param .u32 n) " + hints + "\n{\n" + BODY + body +
            "ret;\n}\n").encode()


def newer(version, target):
    return f".version {version}\n.target {target}\n.address_size 64\n"


GOOD = ["--arg", "zeros:u32[64]", "--arg", "5"]


def sim_cases(bad_args):
    def launch(name, code, message, *args, text=module()):
        return bad_args("sim: " + name, code, message, "sim", "k.ptx", *args, files={"k.ptx": text})

    def refused(name, message, text):
        return launch(name, 1, message, *GOOD, "--limit", "100000", text=text)

    return [
        launch("no arguments", 2, "expected 2 for the kernel's parameters (u64 out, u32 n), got 0"),
        launch("an argument too many", 2, "got 3", *GOOD, "--arg", "1"),
        launch("a fraction for an integer", 2, "32 bits", "--arg", "zeros:u32[64]", "--arg", "5.5"),
        launch("an integer of too many bits", 2, "32 bits", "--arg", "zeros:u32[64]", "--arg", "99999999999"),
        launch("memory of no type", 2, "type of memory", "--arg", "zeros:q32[64]", "--arg", "5"),
        launch("memory of less than no elements", 2, "elements", "--arg", "zeros:u32[-1]", "--arg", "5"),
        launch("memory beyond 64 bits", 2, "2^40", "--arg", "zeros:f32[99999999999999999999]", "--arg", "5"),
        launch("memory without an end", 2, "2^40", "--arg", "zeros:f32[64", "--arg", "5"),
        launch("memory with more behind it", 2, "2^40", "--arg", "out:f32[64]x", "--arg", "5"),
        launch("memory without a size", 2, "2^40", "--arg", "random:f32", "--arg", "5"),
        launch("a type of another width", 2, "a type of 4 bytes", "--arg", "zeros:u32[64]", "--arg", "i64:5"),
        launch("a sign of an unsigned type", 2, "32 bits", "--arg", "zeros:u32[64]", "--arg", "u32:-5"),
        launch("an integer beyond its type", 2, "32 bits", "--arg", "zeros:u32[64]", "--arg", "i32:2147483648"),
        launch("no tensor of a file", 2, "FILE:NAME", "--arg", "inout:k.st", "--arg", "5"),
        launch("an empty output", 2, "--output: expected a path", *GOOD, "--output", ""),
        launch("an empty kernel", 2, "--kernel: expected a value", *GOOD, "--kernel", ""),
        launch("an empty argument", 2, "--arg: expected a value", "--arg", "", "--arg", "5"),
        launch("an empty generation", 2, "--mma: expected a value", *GOOD, "--mma", ""),
        launch("an empty report of ptxas", 2, "--ptxas: expected a path", *GOOD, "--ptxas", ""),
        launch("an empty list of checks", 2, "--check: expected a list", *GOOD, "--check", ""),
        launch("an unknown check", 2, "race, init, bounds, sync, async, fma", *GOOD, "--check", "race,none"),
        launch("a check twice", 2, "each item once", *GOOD, "--check", "race,race"),
        launch("memory that no machine has", 1, "memory: expected enough", "--arg", "zeros:f64[1099511627776]", "--arg", "5"),
        launch("a tensor of no tensor file", 1, "k.ptx", "--arg", "k.ptx:x", "--arg", "5"),
        launch("an output over an argument", 2, "which is also --arg", "--arg", "inout:k.st:x", "--arg", "5", "--output", "./k.st"),
        launch("an output over what ptxas says", 2, "which is also --ptxas", *GOOD, "--ptxas", "{in}", "--output", "./{in}"),
        launch("half a byte", 2, "hexadecimal", "--arg", "bytes:123", "--arg", "5"),
        launch("a pointer into nothing", 1, "k.ptx:9:1: st: expected memory that is allocated", "--arg", "64", "--arg", "5"),
        launch("no blocks", 2, "--grid", *GOOD, "--grid", "0"),
        launch("too many blocks", 1, "65535", *GOOD, "--grid", "1,65536"),
        launch("more blocks than 31 bits", 2, "--grid", *GOOD, "--grid", "2147483648"),
        launch("four extents", 2, "--grid", *GOOD, "--grid", "1,2,3,4"),
        launch("no threads", 2, "--block", *GOOD, "--block", "32,0"),
        launch("1025 threads", 1, "1025 x 1 x 1", *GOOD, "--block", "1025"),
        launch("too many threads in all", 1, "32 x 32 x 2", *GOOD, "--block", "32,32,2"),
        launch("too deep a block", 1, "1 x 1 x 65", *GOOD, "--block", "1,1,65"),
        launch("a grid without end", 1, "100 warp", *GOOD, "--grid", "2147483647,65535,65535", "--limit", "100"),
        launch("too much shared memory", 1, "166912", *GOOD, "--shared", "300000"),
        launch("no such kernel", 2, "--kernel", *GOOD, "--kernel", "none"),
        launch("negative seed", 2, "--seed", *GOOD, "--seed=-1"),
        bad_args("sim: no module", 1, "none.ptx", "sim", "none.ptx"),
        bad_args("sim: a folder", 1, "directory", "sim", "."),
        refused("an empty module", "k.ptx:1:1: module: expected .version", b""),
        refused("noise", "k.ptx:1:1: text: expected PTX", bytes(range(256))),
        refused("cut short", "got the end of the text", module()[:-12]),
        refused("a zero byte", "k.ptx:", module().replace(b"ret", b"r\0t")),
        refused("no kernel", "expected a kernel, got none", HEADER.encode()),
        refused("an unknown instruction", "k.ptx:10:1: instruction: expected PTX, got \"frob\"", module("frob.u32 %r1, %r1;\n")),
        refused("an unknown modifier", "k.ptx:10:5: add: expected", module("add.fast.u32 %r1, %r1, %r1;\n")),
        refused("parentheses without end", "k.ptx:4:", module(before=".global .u32 x = " + "(" * 100000 + ";\n")),
        refused("blocks without end", "64 blocks", module("{" * 100000)),
        refused("a divisor of 0", "divisor", module(before=".global .u32 x = 1/0;\n")),
        refused("a function that calls itself", "calls itself",
                module("call f;\n", before=".func f() { call f; ret; }\n")),
        refused("too many registers", "k.ptx:6:", module().replace(b"%r<4>", b"%r<4000000000>")),
        refused("too much local memory", "local memory", module(".local .b8 x[99999999999];\n")),
        refused("too much global memory", ".global: expected", module(before=".global .b8 x[99999999999999];\n")),
        refused("a loop without end", "100000 warp instructions", module("L: bra L;\n")),
        refused("fewer threads than the block has", ".maxntid", module(hints=".maxntid 16")),
        refused("clusters", "k.ptx:4:51: .reqnctapercluster", module(header=newer("7.8", "sm_90"), hints=".reqnctapercluster 2")),
        refused("wgmma", "k.ptx:10:1: wgmma: expected", module("wgmma.fence.sync.aligned;\n", newer("8.0", "sm_90a"))),
        refused("fma.oob", "k.ptx:10:1: instruction: expected one that the machine executes, got \"fma.rn.oob.f16x2\"",
                module("fma.rn.oob.f16x2 %r1, %r1, %r1, %r1;\n", newer("8.1", "sm_90"))),
        refused("a texture", "k.ptx:10:1: tex: expected",
                module("tex.2d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [t, {%r0,%r1}];\n")),
        refused("too old a target", "k.ptx:10:", module("cp.async.bulk.commit_group;\n")),
    ]

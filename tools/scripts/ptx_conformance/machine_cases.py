"""Lanes, memory, copies, barriers, control: what one kernel leaves."""
from emit import raw, words_of
from integers import M32

LANES = 32


def lanes(opcode, body, function, block=LANES, **options):
    """Every lane leaves 64 bits in %rd2, from `function(lane)`."""
    expected = []
    for lane in range(block):
        expected += words_of(function(lane) & ((1 << 64) - 1))
    raw(opcode, body + "\nst.global.b64 [%out], %rd2;", expected, block=block, **options)


def word(opcode, body, function, **options):
    """The same of 32 bits in %r2."""
    lanes(opcode, body + "\ncvt.u64.u32 %rd2, %r2;", lambda lane: function(lane) & M32, **options)


X = ".global .align 16 .b32 x[64] = {%s};" % ", ".join(str(3 * i + 1) for i in range(64))
POLICY = "createpolicy.fractional.L2::evict_first.b64 %rd9, 1.0;\n"
AT_X = "mov.u64 %rd5, x;\nmul.wide.u32 %rd6, %lane, 4;\nadd.s64 %rd5, %rd5, %rd6;\n"
SHARED = ".shared .align 16 .b8 s[2048];"
AT_S = "mov.u32 %r5, s;\nshl.b32 %r6, %lane, 2;\nadd.u32 %r5, %r5, %r6;\n"

# Addresses.
word("cvta.shared.u64", SHARED + AT_S + "cvt.u64.u32 %rd5, %r5;\ncvta.shared.u64 %rd6, %rd5;\n"
     "st.u32 [%rd6], %lane;\nld.shared.u32 %r2, [%r5];", lambda lane: lane)
word("cvta.to.global.u64", AT_X + "cvta.global.u64 %rd5, %rd5;\ncvta.to.global.u64 %rd6, %rd5;\n"
     "ld.global.u32 %r2, [%rd6];", lambda lane: 3 * lane + 1, module=X)
word("isspacep.shared", SHARED + "mov.u64 %rd5, s;\ncvta.shared.u64 %rd6, %rd5;\nisspacep.shared %p1, %rd6;\n"
     "isspacep.shared %p2, %out;\nselp.b32 %r2, 1, 0, %p1;\nselp.b32 %r3, 2, 0, %p2;\nadd.u32 %r2, %r2, %r3;",
     lambda lane: 1)
word("mapa.shared::cluster.u32", SHARED + AT_S + "mapa.shared::cluster.u32 %r7, %r5, 0;\n"
     "st.shared::cluster.u32 [%r7], %lane;\nld.shared.u32 %r2, [%r5];", lambda lane: lane)
word("mapa.u64", SHARED + AT_S + "cvt.u64.u32 %rd5, %r5;\ncvta.shared.u64 %rd6, %rd5;\nmapa.u64 %rd7, %rd6, 0;\n"
     "st.u32 [%rd7], %lane;\nld.shared.u32 %r2, [%r5];", lambda lane: lane)
word("getctarank.shared::cluster.u32", SHARED + AT_S + "getctarank.shared::cluster.u32 %r2, %r5;", lambda lane: 0)
word("getctarank.u64", SHARED + AT_S + "cvt.u64.u32 %rd5, %r5;\ncvta.shared.u64 %rd6, %rd5;\n"
     "getctarank.u64 %r2, %rd6;", lambda lane: 0)

# Lanes of a warp.
FULL = "0xFFFFFFFF"
word("shfl.sync.down.b32", f"mul.lo.u32 %r3, %lane, 7;\nshfl.sync.down.b32 %r2, %r3, 4, 0x1F, {FULL};",
     lambda lane: 7 * (lane + 4 if lane < 28 else lane))
word("vote.sync.any.pred", f"setp.eq.u32 %p1, %lane, 9;\nvote.sync.any.pred %p2, %p1, {FULL};\n"
     "selp.b32 %r2, 1, 0, %p2;", lambda lane: 1)
word("vote.sync.ballot.b32", f"and.b32 %r3, %lane, 3;\nsetp.eq.u32 %p1, %r3, 1;\n"
     f"vote.sync.ballot.b32 %r2, %p1, {FULL};", lambda lane: 0x22222222)
word("match.any.sync.b32", f"shr.u32 %r3, %lane, 3;\nmatch.any.sync.b32 %r2, %r3, {FULL};",
     lambda lane: 0xFF << lane // 8 * 8)
word("match.all.sync.b64", f"mov.u64 %rd3, 5;\nmatch.all.sync.b64 %r2|%p1, %rd3, {FULL};", lambda lane: M32)
word("redux.sync.max.s32", f"sub.s32 %r3, 10, %lane;\nredux.sync.max.s32 %r2, %r3, {FULL};", lambda lane: 10)
word("redux.sync.xor.b32", f"shl.b32 %r3, 1, %lane;\nredux.sync.xor.b32 %r2, %r3, {FULL};", lambda lane: M32)
word("activemask.b32", "setp.lt.u32 %p1, %lane, 8;\nmov.b32 %r2, 0;\n@%p1 bra LOW;\nbra END;\nLOW:\n"
     "activemask.b32 %r2;\nEND:", lambda lane: 0xFF if lane < 8 else 0)
word("elect.sync", f"elect.sync %r3|%p1, {FULL};\nselp.b32 %r2, 1, 0, %p1;", lambda lane: int(lane == 0))

# Loads of x[lane]; stores of 5 * lane.
for opcode, tail in (("ld.global.cg.b32", ""), ("ld.global.L2::cache_hint.L2::128B.b32", ", %rd9"),
                     ("ld.global.L1::no_allocate.L2::cache_hint.b32", ", %rd9"), ("ld.volatile.b32", ""),
                     ("ld.volatile.global.L2::64B.b32", ""), ("ld.acquire.gpu.b32", ""),
                     ("ld.relaxed.sys.global.L1::evict_last.b32", ""), ("ld.mmio.relaxed.sys.global.b32", ""),
                     ("ld.global.ca.nc.L2::256B.b32", ""), ("ld.global.nc.L1::evict_first.b32", ""),
                     ("ldu.global.b32", "")):
    generic = "cvta.global.u64 %rd5, %rd5;\n" if ".global" not in opcode else ""
    word(opcode, (POLICY if tail else "") + AT_X + generic + f"{opcode} %r2, [%rd5]{tail};",
         lambda lane: 3 * lane + 1, module=X)
for opcode, tail in (("st.global.wt.b32", ""), ("st.global.L2::cache_hint.b32", ", %rd9"),
                     ("st.global.L1::evict_first.b32", ""), ("st.volatile.b32", ""), ("st.release.gpu.b32", ""),
                     ("st.relaxed.sys.global.L1::no_allocate.b32", ""), ("st.mmio.relaxed.sys.global.b32", "")):
    generic = "cvta.global.u64 %rd5, %rd5;\n" if ".global" not in opcode else ""
    word(opcode, (POLICY if tail else "") + AT_X + generic + f"mul.lo.u32 %r3, %lane, 5;\n{opcode} [%rd5], %r3{tail};\n"
         "mov.u64 %rd5, x;\nadd.s64 %rd5, %rd5, %rd6;\nld.global.u32 %r2, [%rd5];", lambda lane: 5 * lane, module=X)
for opcode in ("prefetch.global.L1", "prefetch.global.L2::evict_last"):
    word(opcode, AT_X + f"{opcode} [%rd5];\nld.global.u32 %r2, [%rd5];", lambda lane: 3 * lane + 1, module=X)
word("prefetchu.L1", AT_X + "cvta.global.u64 %rd7, %rd5;\nprefetchu.L1 [%rd7];\nld.global.u32 %r2, [%rd5];",
     lambda lane: 3 * lane + 1, module=X)
ROOM = ".global .align 128 .b8 room[128];"
word("applypriority.global.L2::evict_normal", "mov.u64 %rd5, room;\nst.global.u32 [%rd5], 77;\n"
     "applypriority.global.L2::evict_normal [%rd5], 128;\nld.global.u32 %r2, [%rd5];", lambda lane: 77, module=ROOM,
     block=1)
# What is discarded may be anything until it is written again.
word("discard.global.L2", "mov.u64 %rd5, room;\ndiscard.global.L2 [%rd5], 128;\nst.global.u32 [%rd5], 78;\n"
     "ld.global.u32 %r2, [%rd5];", lambda lane: 78, module=ROOM, block=1)
# The bits of a policy are not public; accesses with it must be as without.
for opcode, text in (("createpolicy.fractional.L2::evict_last.b64", "{o} %rd9, 0.5;"),
                     ("createpolicy.range.global.L2::evict_last.b64", "{o} %rd9, [%rd5], 64, 128;"),
                     ("createpolicy.cvt.L2.b64", "{o} %rd9, 0x12F0000000000000;")):
    word(opcode, AT_X + text.format(o=opcode) + "\nld.global.L2::cache_hint.u32 %r2, [%rd5], %rd9;",
         lambda lane: 3 * lane + 1, module=X)

# Atomics by one thread: the old value and the new one.
ONE = ".global .align 16 .b8 x[32];"


def atomic(opcode, before, operand, after, kind="b32", tail="", red=False, count=1):
    """x holds `before`; vectors of `count` that are alike."""
    bits = int(kind[1:])
    register = {16: "%h", 32: "%r", 64: "%rd"}[bits]
    lines = ["mov.u64 %rd5, x;", f"mov.b{bits} {register}3, {before};", f"mov.b{bits} {register}4, {operand};"]
    lines += [f"st.global.b{bits} [%rd5+{i * bits // 8}], {register}3;" for i in range(count)]
    many = lambda r: r if count == 1 else "{" + ", ".join([r] * count) + "}"
    hint = ", %rd9" if "cache_hint" in opcode else ""
    if red:
        lines.append(f"{opcode} [%rd5], {many(register + '4')}{tail}{hint};")
        lines.append(f"mov.b{bits} {register}7, {register}3;")
    else:
        old = [register + "7"] + [f"{register}{8 + i}" for i in range(count - 1)]
        targets = old[0] if count == 1 else "{" + ", ".join(old) + "}"
        lines.append(f"{opcode} {targets}, [%rd5], {many(register + '4')}{tail}{hint};")
    lines.append(f"ld.global.b{bits} {register}6, [%rd5+{(count - 1) * bits // 8}];")
    lines += [f"st.global.b{bits} [%out], {register}7;", f"st.global.b{bits} [%out+8], {register}6;"]
    expected = words_of(before, bits) + ([0xA5A5A5A5] if bits < 64 else []) + words_of(after, bits)
    if bits == 16:
        expected = [0xA5A50000 | before, 0xA5A5A5A5, 0xA5A50000 | after]
    raw(opcode, (POLICY if hint else "") + "\n".join(lines), expected, module=ONE)


for name, red in (("atom", False), ("red", True)):
    sem = "relaxed.gpu." if red else "acq_rel.gpu."
    atomic(f"{name}.{sem}global.and.b64", 0xFF00FF, 0xF0F0F0, 0xF000F0, "b64", red=red)
    atomic(f"{name}.global.xor.L2::cache_hint.b32", 0xFF00FF, 0xF0F0F0, 0x0FF00F, red=red)
    atomic(f"{name}.{sem}global.add.s32", 5, 0xFFFFFFFD, 2, red=red)
    atomic(f"{name}.global.add.L2::cache_hint.f32", 0x3F800000, 0x40000000, 0x40400000, red=red)
    atomic(f"{name}.global.inc.u32", 7, 7, 0, red=red)
    atomic(f"{name}.global.dec.L2::cache_hint.u32", 0, 9, 9, red=red)
    atomic(f"{name}.global.min.s64", 5, 0xFFFFFFFFFFFFFFFE, 0xFFFFFFFFFFFFFFFE, "b64", red=red)
    atomic(f"{name}.global.max.L2::cache_hint.u32", 5, 0x80000000, 0x80000000, red=red)
    atomic(f"{name}.global.add.noftz.f16", 0x3C00, 0x4000, 0x4200, "b16", red=red)
    atomic(f"{name}.global.add.noftz.L2::cache_hint.bf16x2", 0x3F804000, 0x40004000, 0x40404080, red=red)
    atomic(f"{name}.global.add.v2.f32" if not red else "red.global.add.L2::cache_hint.v2.f32", 0x3F800000, 0x40000000,
           0x40400000, red=red, count=2)
    atomic(f"{name}.global.max.noftz.v4.f16", 0x3C00, 0x4000, 0x4000, "b16", red=red, count=4)
    atomic(f"{name}.global.min.noftz.v2.bf16x2", 0x3F804000, 0x40003F80, 0x3F803F80, red=red, count=2)
atomic("atom.global.exch.b32", 1, 2, 2)
atomic("atom.global.exch.L2::cache_hint.b64", 1, 2, 2, "b64")
atomic("atom.global.cas.b64", 3, 3, 9, "b64", tail=", 9")
raw("atom.global.cas.b16", "mov.u64 %rd5, x;\nmov.b16 %h1, 3;\nmov.b16 %h2, 9;\nst.global.b16 [%rd5], %h1;\n"
    "atom.global.cas.b16 %h3, [%rd5], %h1, %h2;\nld.global.b16 %h4, [%rd5];\ncvt.u32.u16 %r1, %h3;\n"
    "cvt.u32.u16 %r2, %h4;\nst.global.v2.u32 [%out], {%r1, %r2};", [3, 9], module=ONE)

# Copies of x to shared memory, 16 bytes by each of 4 lanes, or all by one.
COPY_AT = "shl.b32 %r6, %lane, 4;\nmov.u32 %r5, s;\nadd.u32 %r5, %r5, %r6;\nmov.u64 %rd5, x;\n" \
          "cvt.u64.u32 %rd6, %r6;\nadd.s64 %rd5, %rd5, %rd6;\n"
COPIES = [("cp.async.ca.shared.global", "cp.async.ca.shared.global [%r5], [%rd5], 16;\ncp.async.wait_all;"),
          ("cp.async.cg.shared.global.L2::128B",
           "cp.async.cg.shared.global.L2::128B [%r5], [%rd5], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;"),
          ("cp.async.commit_group",
           "cp.async.ca.shared.global [%r5], [%rd5], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;"),
          ("cp.async.wait_group", "cp.async.ca.shared.global [%r5], [%rd5], 16;\ncp.async.commit_group;\n"
           "cp.async.commit_group;\ncp.async.wait_group 1;"),
          ("cp.async.wait_all", "cp.async.ca.shared.global [%r5], [%rd5], 16;\ncp.async.wait_all;")]
for opcode, text in COPIES:
    word(opcode, SHARED + COPY_AT + text + "\nld.shared.u32 %r2, [%r5+4];", lambda lane: 3 * (4 * lane + 1) + 1,
         module=X, block=4)
MBAR = ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 s[256];\n"


def barrier(opcode, text, value):
    """One thread leaves %r2."""
    word(opcode, MBAR + text, lambda lane: value, block=1, module=X)


WAIT = "W:\nmbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra W;\n"

INIT = "mbarrier.init.shared.b64 [bar], 1;\n"
TEST = "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\nselp.b32 %r2, 1, 0, %p1;"
barrier("cp.async.mbarrier.arrive.noinc.shared.b64", INIT + "mov.u64 %rd5, x;\n"
        "cp.async.ca.shared.global [s], [%rd5], 16;\ncp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n" + WAIT +
        "ld.shared.u32 %r2, [s+4];", 4)
BULK = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\nmov.u64 %rd5, x;\n"
for opcode in ("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
               "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"):
    barrier(opcode, INIT + BULK + f"{opcode} [s], [%rd5], 64, [bar];\n" + WAIT + "ld.shared.u32 %r2, [s+12];", 10)
barrier("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster", INIT + BULK +
        "mov.b16 %h1, 1;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[s], [%rd5], 64, [bar], %h1;\n" + WAIT + "ld.shared.u32 %r2, [s+12];", 10)
barrier("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", INIT +
        "st.shared.v4.u32 [s], {1, 2, 3, 4};\nfence.proxy.async;\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"
        "mov.u32 %r5, s;\nmapa.shared::cluster.u32 %r5, %r5, 0;\nmov.u32 %r6, bar;\n"
        "mapa.shared::cluster.u32 %r6, %r6, 0;\n"
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5+64], [s], 16, [%r6];\n" +
        WAIT + "ld.shared.u32 %r2, [s+76];", 4)
for opcode in ("cp.async.bulk.global.shared::cta.bulk_group", "cp.async.bulk.commit_group", "cp.async.bulk.wait_group"):
    barrier(opcode, "mov.u64 %rd5, x;\nst.shared.v4.u32 [s], {5, 6, 7, 8};\nfence.proxy.async;\n"
            "cp.async.bulk.global.shared::cta.bulk_group [%rd5], [s], 16;\ncp.async.bulk.commit_group;\n"
            "cp.async.bulk.wait_group 0;\nld.global.u32 %r2, [%rd5+8];", 7)
barrier("cp.async.bulk.prefetch.L2.global", "mov.u64 %rd5, x;\ncp.async.bulk.prefetch.L2.global [%rd5], 64;\n"
        "ld.global.u32 %r2, [%rd5];", 1)

# mbarriers of one or two arrivals: whether the phase is over, before and after.
PROBE = "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\nselp.b32 %r3, 0, 10, %p2;\n"
SUM = TEST + "\nadd.u32 %r2, %r2, %r3;"
MAPPED = "mov.u32 %r6, bar;\nmapa.shared::cluster.u32 %r6, %r6, 0;\n"
TWO = "mbarrier.init.shared.b64 [bar], 2;\n"
barrier("mbarrier.init.shared.b64", TWO + "mbarrier.arrive.shared.b64 %rd3, [bar];\n"
        "mbarrier.pending_count.b64 %r2, %rd3;", 2)
barrier("mbarrier.pending_count.b64", TWO + "mbarrier.arrive.shared.b64 %rd3, [bar];\n"
        "mbarrier.arrive.shared.b64 %rd4, [bar];\nmbarrier.pending_count.b64 %r2, %rd4;", 1)
barrier("mbarrier.inval.shared.b64", INIT + "mbarrier.inval.shared.b64 [bar];\nst.shared.u32 [bar], 42;\n"
        "ld.shared.u32 %r2, [bar];", 42)
for opcode in ("mbarrier.expect_tx.shared.b64", "mbarrier.expect_tx.relaxed.cta.shared.b64"):
    done = opcode.replace("expect_tx", "complete_tx")
    barrier(opcode, INIT + f"{opcode} [bar], 32;\nmbarrier.arrive.shared.b64 _, [bar];\n" + PROBE +
            f"{done} [bar], 32;\n" + SUM, 11)
for opcode in ("mbarrier.arrive.shared.b64", "mbarrier.arrive_drop.release.cta.shared.b64"):
    barrier(opcode, TWO + f"{opcode} %rd3, [bar];\n" + PROBE + f"{opcode} %rd4, [bar];\n" + SUM, 11)
barrier("mbarrier.arrive.shared::cta.b64", TWO + PROBE + "mbarrier.arrive.shared::cta.b64 %rd3, [bar], 2;\n" + SUM, 11)
for opcode in ("mbarrier.arrive.shared::cluster.b64", "mbarrier.arrive.release.cluster.shared::cluster.b64"):
    barrier(opcode, TWO + MAPPED + f"{opcode} _, [%r6];\n" + PROBE + f"{opcode} _, [%r6], 1;\n" + SUM, 11)
for opcode, to, at in (("mbarrier.arrive.expect_tx.shared.b64", "%rd3", "[bar]"),
                       ("mbarrier.arrive.expect_tx.release.cta.shared.b64", "%rd3", "[bar]"),
                       ("mbarrier.arrive.expect_tx.shared::cluster.b64", "_", "[%r6]"),
                       ("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64", "_", "[%r6]")):
    barrier(opcode, INIT + MAPPED + f"{opcode} {to}, {at}, 16;\n" + PROBE +
            "mbarrier.complete_tx.shared.b64 [bar], 16;\n" + SUM, 11)
for opcode in ("mbarrier.arrive.noComplete.shared.b64", "mbarrier.arrive.noComplete.release.cta.shared.b64"):
    barrier(opcode, TWO + f"{opcode} %rd3, [bar], 1;\n" + PROBE + "mbarrier.arrive.shared.b64 _, [bar];\n" + SUM, 11)
for wait in ("test_wait", "try_wait"):
    for opcode, operand in ((f"mbarrier.{wait}.shared.b64", "%rd3"), (f"mbarrier.{wait}.parity.shared.b64", "0"),
                            (f"mbarrier.{wait}.acquire.cta.shared.b64", "%rd3"),
                            (f"mbarrier.{wait}.parity.acquire.cta.shared.b64", "0")):
        barrier(opcode, TWO + f"mbarrier.arrive.shared.b64 %rd3, [bar];\n{opcode} %p2, [bar], {operand};\n"
                f"selp.b32 %r3, 0, 10, %p2;\nmbarrier.arrive.shared.b64 _, [bar];\n{opcode} %p1, [bar], {operand};\n"
                "selp.b32 %r2, 1, 0, %p1;\nadd.u32 %r2, %r2, %r3;", 11)

# Barriers: values of the other warp.
PUT = SHARED + AT_S + "st.shared.u32 [%r5], %lane;\n"
GET = "\nxor.b32 %r6, %lane, 32;\nshl.b32 %r6, %r6, 2;\nmov.u32 %r5, s;\nadd.u32 %r5, %r5, %r6;\nld.shared.u32 %r2, [%r5];"
for opcode, text in (("bar.sync", "bar.sync 0;"), ("barrier.sync.aligned", "barrier.sync.aligned 1, 64;")):
    word(opcode, PUT + text + GET, lambda lane: lane ^ 32, block=64)
for opcode, sync in (("bar.arrive", "bar.sync"), ("barrier.arrive", "barrier.sync")):
    # The first warp tells, the second one hears.
    word(opcode, PUT + f"mov.b32 %r2, 7;\nsetp.lt.u32 %p1, %lane, 32;\n@%p1 {opcode} 1, 64;\n@%p1 bra END;\n"
         f"{sync} 1, 64;" + GET + "\nEND:", lambda lane: 7 if lane < 32 else lane - 32, block=64)
for opcode in ("bar.red.popc.u32", "barrier.red.popc.aligned.u32"):
    word(opcode, f"setp.lt.u32 %p1, %lane, 37;\n{opcode} %r2, 0, %p1;", lambda lane: 37, block=64)
for opcode, value in (("bar.red.and.pred", 0), ("barrier.red.or.pred", 1)):
    word(opcode, f"setp.lt.u32 %p1, %lane, 37;\n{opcode} %p2, 0, %p1;\nselp.b32 %r2, 1, 0, %p2;", lambda lane, v=value: v,
         block=64)
word("bar.warp.sync", PUT + f"bar.warp.sync {FULL};" + GET.replace("32;", "1;"), lambda lane: lane ^ 1)
for opcode in ("barrier.cluster.arrive.release", "barrier.cluster.wait.acquire"):
    word(opcode, PUT + "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" + GET, lambda lane: lane ^ 32,
         block=64)
for opcode in ("membar.gl", "fence.acq_rel.gpu", "fence.acquire.sync_restrict::shared::cluster.cluster",
               "fence.release.sync_restrict::shared::cta.cluster", "fence.mbarrier_init.release.cluster",
               "fence.proxy.alias", "fence.proxy.async", "fence.proxy.async.shared::cta", "membar.proxy.alias"):
    word(opcode, PUT + f"{opcode};\nbar.sync 0;" + GET, lambda lane: lane ^ 32, block=64)

# 8 x 8 matrices of halves; lane l holds columns 2 (l % 4) and the next of row l / 4.
def half(matrix, row, column):
    return 64 * matrix + 8 * row + column


def held(lane, matrix=0, trans=False):
    r, c = lane // 4, 2 * (lane % 4)
    return half(matrix, c, r) | half(matrix, c + 1, r) << 16 if trans else \
        half(matrix, r, c) | half(matrix, r, c + 1) << 16


# Word w of matrix m in memory holds halves 2 w and 2 w + 1.
FILL = SHARED + "mov.u32 %r5, s;\nshl.b32 %r6, %lane, 4;\nadd.u32 %r5, %r5, %r6;\nmul.lo.u32 %r7, %lane, 8;\n" \
    "add.u32 %r8, %r7, 1;\nshl.b32 %r9, %r8, 16;\nor.b32 %r8, %r7, %r9;\nadd.u32 %r9, %r8, 0x20002;\n" \
    "add.u32 %r10, %r8, 0x40004;\nadd.u32 %r11, %r8, 0x60006;\nst.shared.v4.b32 [%r5], {%r8, %r9, %r10, %r11};\n" \
    "bar.warp.sync 0xFFFFFFFF;\n"
for count, trans in ((1, ""), (2, ".trans"), (4, "")):
    names = ["%r12", "%r13", "%r14", "%r15"][:count]
    combine = "\nmov.b32 %r2, %r12;" + "".join(f"\nmad.lo.u32 %r2, %r2, 3, {n};" for n in names[1:])

    def loaded(lane, count=count, trans=trans):
        total = held(lane, 0, bool(trans))
        for m in range(1, count):
            total = total * 3 + held(lane, m, bool(trans))
        return total
    opcode = f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
    word(opcode, FILL + f"{opcode} {{{', '.join(names)}}}, [%r5];" + combine, loaded)
    opcode = f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
    # Each lane's words, numbered; rows are read back by lanes 0 .. 8 count - 1.
    fill = SHARED + "mov.u32 %r5, s;\nshl.b32 %r6, %lane, 4;\nadd.u32 %r5, %r5, %r6;\nst.shared.v4.b32 [%r5], {0, 0, 0, 0};\n"
    fill += "".join(f"add.u32 {n}, %lane, {i * 0x640000 + 0x320000 + i * 100};\n" for i, n in enumerate(names))

    def stored(lane, count=count, trans=trans):
        m, row = lane // 8, lane % 8
        if m >= count:
            return 0
        column = 2  # The word behind the first.
        halves = []
        for c in (column, column + 1):
            r0, c0 = (c, row) if trans else (row, c)
            holder = r0 * 4 + c0 // 2
            value = holder + m * 0x640000 + 0x320000 + m * 100
            halves.append(value >> 16 if c0 % 2 else value & 0xFFFF)
        return halves[0] | halves[1] << 16
    word(opcode, fill + f"bar.warp.sync {FULL};\n{opcode} [%r5], {{{', '.join(names)}}};\nbar.warp.sync {FULL};\n"
         "ld.shared.u32 %r2, [%r5+4];", stored)
word("movmatrix.sync.aligned.m8n8.trans.b16", "shl.b32 %r3, %lane, 1;\nadd.u32 %r4, %r3, 1;\nshl.b32 %r4, %r4, 16;\n"
     "or.b32 %r3, %r3, %r4;\nmovmatrix.sync.aligned.m8n8.trans.b16 %r2, %r3;", lambda lane: held(lane, 0, True))

# Control.
word("bra", "mov.b32 %r2, 1;\nsetp.lt.u32 %p1, %lane, 9;\n@%p1 bra END;\nmov.b32 %r2, 2;\nEND:",
     lambda lane: 1 if lane < 9 else 2)
word("brx.idx", "T: .branchtargets A, B;\nand.b32 %r3, %lane, 1;\nbrx.idx %r3, T;\nA:\nmov.b32 %r2, 5;\nbra END;\nB:\n"
     "mov.b32 %r2, 6;\nEND:", lambda lane: 5 + lane % 2)
TWICE = ".func (.param .b32 result) twice(.param .b32 value)\n{\n.reg .b32 %x;\nld.param.b32 %x, [value];\n" \
        "add.u32 %x, %x, %x;\nst.param.b32 [result], %x;\nret;\n}"
for opcode in ("call", "ret"):
    word(opcode, "{\n.param .b32 argument;\n.param .b32 back;\nst.param.b32 [argument], %lane;\n"
         "call (back), twice, (argument);\nld.param.b32 %r2, [back];\n}", lambda lane: 2 * lane, module=TWICE)
raw("exit", "setp.lt.u32 %p1, %lane, 2;\n@%p1 exit;\nst.global.u32 [%out], %lane;",
    [0xA5A5A5A5] * 4 + [2, 0xA5A5A5A5, 3], block=4)
for opcode, text in (("nanosleep.u32", "nanosleep.u32 20;"), ("pmevent", "pmevent 3;"), ("pmevent.mask", "pmevent.mask 7;"),
                     ("griddepcontrol.wait", "griddepcontrol.wait;")):
    word(opcode, text + "\nadd.u32 %r2, %lane, 1;", lambda lane: lane + 1)
word("setmaxnreg.inc.sync.aligned.u32", "setmaxnreg.inc.sync.aligned.u32 64;\nadd.u32 %r2, %lane, 1;",
     lambda lane: lane + 1, target="sm_90a")

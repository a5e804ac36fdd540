//===- InstructionCheck.cpp - One instruction, every lane -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "InstructionCheck.h"

#include "MachineSupport.h"

#include <random>

using namespace kvc::sim;
using namespace kvc::test;

namespace {

std::string registerOf(unsigned bits, char name) {
  return (bits == 1    ? "%p"
          : bits == 16 ? "%h"
          : bits == 32 ? "%r"
                       : "%rd") +
         std::string(1, name);
}

std::string replaced(std::string text, const std::string &what,
                     const std::string &by) {
  for (size_t at; (at = text.find(what)) != text.npos;)
    text.replace(at, what.size(), by);
  return text;
}

/// The kernel k(out, a, b, c, guard): arrays of u64.
std::string moduleOf(const InstructionCase &instruction) {
  std::string body = R"(
    .reg .pred %pg, %pa, %pb, %pc, %pd;
    .reg .b16 %ha, %hb, %hc, %hd;
    .reg .b32 %ra, %rb, %rc, %rd, %rt;
    .reg .b64 %rda, %rdb, %rdc, %rdd, %rdo, %rdp, %rdt, %rdg;
    mov.u32 %rt, %tid.x;
    mul.wide.u32 %rdt, %rt, 8;
)";
  auto load = [&](const std::string &to, const char *param) {
    body += std::string("    ld.param.u64 %rdp, [") + param +
            "];\n    add.s64 %rdp, %rdp, %rdt;\n    ld.global.b64 " + to +
            ", [%rdp];\n";
  };
  auto narrow = [&](unsigned bits, char name) {
    const std::string to = registerOf(bits, name);
    if (bits == 1)
      body += "    setp.ne.u64 " + to + ", %rdo, 0;\n";
    else if (bits == 64)
      body += "    mov.b64 " + to + ", %rdo;\n";
    else
      body += "    cvt.u" + std::to_string(bits) + ".u64 " + to + ", %rdo;\n";
  };
  std::string text = instruction.text;
  if (text.find('$') == text.npos) {
    text += " $d";
    for (size_t i = 0; i < instruction.sources.size(); ++i)
      text += std::string(", $") + char('a' + i);
  }
  for (size_t i = 0; i < instruction.sources.size(); ++i) {
    const char name = char('a' + i);
    load("%rdo", std::string(1, name).c_str());
    narrow(instruction.sources[i], name);
    text = replaced(text, std::string("$") + name,
                    registerOf(instruction.sources[i], name));
  }
  text = replaced(text, "$d", registerOf(instruction.d, 'd'));
  // What the destination holds where the guard is false.
  body += "    mov.b64 %rdo, 0x5A;\n";
  narrow(instruction.d, 'd');
  load("%rdg", "guard");
  body += "    setp.ne.u64 %pg, %rdg, 0;\n";
  // Several instructions have their guards themselves.
  body += text.starts_with("{") ? text + "\n" : "    @%pg " + text + ";\n";
  const std::string d = registerOf(instruction.d, 'd');
  if (instruction.d == 1)
    body += "    selp.u64 %rdo, 1, 0, " + d + ";\n";
  else if (instruction.d == 64)
    body += "    mov.b64 %rdo, " + d + ";\n";
  else
    body +=
        "    cvt.u64.u" + std::to_string(instruction.d) + " %rdo, " + d + ";\n";
  body += "    ld.param.u64 %rdp, [out];\n    add.s64 %rdp, %rdp, %rdt;\n"
          "    st.global.b64 [%rdp], %rdo;\n    ret;";
  return header(instruction.version, instruction.target) +
         kernel(body, ".param .u64 out, .param .u64 a, .param .u64 b, "
                      ".param .u64 c, .param .u64 guard");
}

u64 draw(Draw kind, unsigned bits, std::mt19937_64 &random) {
  static constexpr u64 corners[] = {0,          1,          2,
                                    31,         32,         0x7F,
                                    0x80,       0xFF,       0x7FFF,
                                    0x8000,     0xFFFF,     0x3F800000,
                                    0x80000000, 0x7FFFFFFF, 0xFFFFFFFF,
                                    0x7F800000, 0xFF800000, 0x7FC00000,
                                    0x00400000, 0x80000001, u64(1) << 63,
                                    ~u64(0),    0x3C007C00, 0xFC000001};
  const u64 any = random() % 4 ? random() : corners[random() % 24];
  switch (kind) {
  case Draw::Small:
    return random() % 80;
  case Draw::Float: {
    // Of moderate size, so that sums and products are finite.
    if (random() % 8 == 0)
      return any;
    if (bits == 64)
      return (random() & ~(u64(0x7FF) << 52)) |
             (u64(1020 + random() % 8) << 52);
    const u32 code = u32(random());
    return (code & 0x807FFFFF) | u32(120 + random() % 14) << 23;
  }
  case Draw::Half:
    return random() % 8 == 0
               ? any
               : (random() & 0x83FF83FF) | (u32(10 + random() % 8) << 26) |
                     (u32(10 + random() % 8) << 10);
  default:
    return any;
  }
}

void check(const InstructionCase &instruction) {
  SCOPED_TRACE(instruction.text);
  constexpr uint32_t threads = 96;
  Device device(moduleOf(instruction));
  std::mt19937_64 random(instruction.text.size());
  std::vector<u64> operands[3], guard(threads);
  for (std::vector<u64> &values : operands)
    values.resize(threads);
  for (uint32_t i = 0; i < threads; ++i) {
    for (size_t s = 0; s < instruction.sources.size(); ++s) {
      const unsigned bits = instruction.sources[s];
      u64 value = draw(instruction.draw, bits, random);
      if (bits == 1)
        value = random() % 2;
      else if (bits < 64)
        value &= (u64(1) << bits) - 1;
      operands[s][i] = value;
    }
    // A warp of all lanes, one of some, one of none but one.
    guard[i] = i < 32 || (i < 64 ? random() % 2 : i == 70);
  }
  const u64 a = device.buffer(operands[0]), b = device.buffer(operands[1]),
            c = device.buffer(operands[2]), g = device.buffer(guard);
  for (SimdLevel level :
       {SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512}) {
    if (!isSupported(level))
      continue;
    device.options.level = level;
    const u64 out = device.buffer(std::vector<u64>(threads));
    device.mustRun("k", {1}, {threads}, out, a, b, c, g);
    const std::vector<u64> results = device.read<u64>(out, threads);
    const u64 mask =
        instruction.d == 64 ? ~u64(0) : (u64(1) << instruction.d) - 1;
    for (uint32_t i = 0; i < threads; ++i) {
      const u64 kept = instruction.d == 1 ? 1 : 0x5A;
      const u64 expected =
          guard[i] ? instruction.expected(operands[0][i], operands[1][i],
                                          operands[2][i]) &
                         mask
                   : kept;
      ASSERT_EQ(results[i], expected)
          << std::hex << "a " << operands[0][i] << " b " << operands[1][i]
          << " c " << operands[2][i] << " lane " << std::dec << i << " "
          << nameOf(level);
    }
  }
}

} // namespace

void kvc::test::checkAll(const std::vector<InstructionCase> &instructions) {
  for (const InstructionCase &instruction : instructions)
    check(instruction);
}

//===- Mutations.cpp - One mistake in a kernel ----------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "Mutations.h"

#include <map>

using namespace kvc::test;

namespace {

using Lines = std::vector<std::string>;

Lines linesOf(const std::string &text) {
  Lines lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

bool has(const std::string &line, std::string_view word) {
  return line.find(word) != std::string::npos;
}

bool startsWith(const std::string &line, std::string_view word) {
  return line.rfind(word, 0) == 0;
}

/// The register that an instruction writes first; empty for what writes none.
std::string written(const std::string &line) {
  for (std::string_view word :
       {"st.", "bar.", "bra", "ret", "cp.", "membar", "red.", "exit", ".", "@",
        "mbarrier.init", "{", "}"})
    if (startsWith(line, word))
      return "";
  const size_t begin = line.find('%');
  if (begin == std::string::npos || line.back() != ';')
    return "";
  return line.substr(begin, line.find_first_of(",;} ", begin) - begin);
}

class Mutator {
public:
  explicit Mutator(const MutantKernel &kernel)
      : kernel(kernel), lines(linesOf(kernel.text)) {
    for (const std::string &line : lines)
      ++writers[written(line)];
  }

  std::vector<Mutant> run() {
    for (size_t i = 0; i < lines.size(); ++i)
      mutateLine(i);
    for (size_t cut : {size_t(1), kernel.input.size() / 2}) {
      mutants.push_back({"allocation",
                         "input " + std::to_string(cut) + " words shorter",
                         kernel, cut, 0});
      if (cut < kernel.outputs || cut == 1)
        mutants.push_back({"allocation",
                           "output " + std::to_string(cut) + " words shorter",
                           kernel, 0, std::min(cut, kernel.outputs)});
    }
    return std::move(mutants);
  }

private:
  void add(std::string kind, size_t line, const std::string &replacement) {
    Lines changed = lines;
    changed[line] = replacement;
    Mutant mutant{
        std::move(kind),
        "line " + std::to_string(line + 1) + ": " + lines[line] +
            (replacement.empty() ? " removed" : " becomes " + replacement),
        kernel, 0, 0};
    mutant.kernel.text.clear();
    for (const std::string &each : changed)
      mutant.kernel.text += each + "\n";
    mutants.push_back(std::move(mutant));
  }

  void replace(std::string kind, size_t line, std::string_view from,
               std::string_view to) {
    std::string changed = lines[line];
    const size_t at = changed.find(from);
    if (at == std::string::npos)
      return;
    changed.replace(at, from.size(), to);
    add(std::move(kind), line, changed);
  }

  void mutateLine(size_t i) {
    const std::string &line = lines[i];
    if (startsWith(line, "bar.") || startsWith(line, "mbarrier.arrive"))
      add("barrier", i, "");
    if (startsWith(line, "bar.warp.sync"))
      replace("barrier", i, "0xffffffff", "0x0000ffff");
    if (startsWith(line, "cp.async.wait")) {
      add("wait", i, "");
      replace("wait", i, "_group 1", "_group 2");
      replace("wait", i, "_group 0", "_group 1");
    }
    if (startsWith(line, "cp.async.commit"))
      add("wait", i, "");
    // Waits for an mbarrier: a test, and a branch back to it.
    if (startsWith(line, "@!") && i > 0 &&
        startsWith(lines[i - 1], "mbarrier.test_wait"))
      add("wait", i, "");
    if (startsWith(line, "membar")) {
      add("fence", i, "");
      replace("fence", i, ".gl", ".cta");
    }
    // Which of two buffers.
    if (startsWith(line, "and.b32") && line.ends_with(", 1;")) {
      add("buffer", i,
          line + " xor.b32 " + written(line) + ", " + written(line) + ", 1;");
    }
    shiftAddress(i);
    if (startsWith(line, "@"))
      unsetGuard(i);
    if (startsWith(line, "shfl"))
      moveLanes(i);
    if (startsWith(line, "@") && !startsWith(lines[i - 1], "mbarrier"))
      dropGuard(i);
    if (startsWith(line, ".shared"))
      shrink(i);
    // What alone sets a register.
    const std::string to = written(line);
    if (!to.empty() && writers[to] == 1)
      add("register", i, "");
  }

  void shiftAddress(size_t i) {
    const std::string &line = lines[i];
    const size_t end = line.find(']');
    if (end == std::string::npos || startsWith(line, "ld.param") ||
        startsWith(line, "."))
      return;
    const bool isWide = has(line, "matrix") || has(line, ", 16;");
    for (const std::string by : {"+", "+-"}) {
      std::string changed = line;
      changed.insert(end, by + std::string(isWide ? "16" : "4"));
      // One offset alone may stand in an address.
      const size_t plus = line.find('+');
      if (plus != std::string::npos && plus < end) {
        const int offset = std::atoi(line.c_str() + plus + 1);
        changed = line.substr(0, plus + 1) +
                  std::to_string(offset + (by == "+" ? 4 : -4)) +
                  line.substr(end);
      }
      add("address", i, changed);
    }
  }

  /// A guarded branch is not taken, anything else always runs.
  void dropGuard(size_t i) {
    const std::string &line = lines[i];
    if (has(line, " bra "))
      add("mask", i, "");
    else
      add("mask", i, line.substr(line.find(' ') + 1));
  }

  /// The guard is a predicate that nothing sets, whatever it happens to be.
  void unsetGuard(size_t i) {
    const std::string rest = lines[i].substr(lines[i].find(' '));
    for (const std::string guard : {"@%p7", "@!%p7"})
      add("guard", i, guard + rest);
  }

  /// Twice as far, and without the first or the last member.
  void moveLanes(size_t i) {
    const std::string &line = lines[i];
    const size_t first = line.find(", ", line.find(", ") + 2) + 2;
    const size_t end = line.find(',', first);
    const int by = std::atoi(line.c_str() + first);
    add("lanes", i,
        line.substr(0, first) + std::to_string(2 * by) + line.substr(end));
    replace("lanes", i, "0xffffffff", "0x7fffffff");
    replace("lanes", i, "0x0000ffff", "0x0000fffe");
  }

  /// The last array loses a word; others may run over into the next one, which
  /// is no mistake of memory but of results.
  void shrink(size_t i) {
    const std::string &line = lines[i];
    const size_t begin = line.find('[') + 1;
    const int bytes = std::atoi(line.c_str() + begin);
    add("allocation", i,
        line.substr(0, begin) + std::to_string(bytes / 2) +
            line.substr(line.find(']')));
  }

  const MutantKernel &kernel;
  const Lines lines;
  std::map<std::string, int> writers;
  std::vector<Mutant> mutants;
};

} // namespace

std::vector<Mutant> kvc::test::mutantsOf(const MutantKernel &kernel) {
  return Mutator(kernel).run();
}

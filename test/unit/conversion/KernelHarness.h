//===- KernelHarness.h - Running level-3 functions --------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Compiles functions written in kvk and upstream dialects with the passes under
// test, the product's lowering to LLVM, its optimiser and its loader, and calls
// them. Caches are filled by addressOf of the layout library, element by
// element.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_CONVERSION_KERNELHARNESS_H
#define KVC_TEST_UNIT_CONVERSION_KERNELHARNESS_H

#include "kvc/Codegen/Target.h"
#include "kvc/JIT/LoadedModule.h"
#include "kvc/Layout/PageLayout.h"
#include "kvc/Spec/Spec.h"
#include "kvc/kernel_abi.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace kvc::test {

/// Slots of an argument struct, in order.
class Args {
public:
  Args &add(const kvc_cache_view &view) {
    const auto *slots = reinterpret_cast<const int64_t *>(&view);
    values.insert(values.end(), slots, slots + sizeof(view) / sizeof(int64_t));
    return *this;
  }
  Args &add(const void *pointer) {
    return add(reinterpret_cast<int64_t>(pointer));
  }
  Args &add(int64_t value) {
    values.push_back(value);
    return *this;
  }
  const void *data() const { return values.data(); }

private:
  std::vector<int64_t> values;
};

/// The text of a function called @KERNEL, with attributes KERNEL where it needs
/// some: kernels have one of few names, which the program chooses.
struct Kernel {
  std::string name, text;
};

/// Functions compiled for one target.
class Program {
public:
  /// Fails the test if something does not compile.
  Program(const std::vector<Kernel> &functions, const std::string &target);
  void call(const std::string &kernel, const Args &args) const;

private:
  void load(llvm::ArrayRef<Kernel> functions, const std::string &target);

  std::vector<std::unique_ptr<LoadedModule>> modules;
  std::map<std::string, kvc_kernel_fn> kernels;
};

/// Targets that this machine runs.
std::vector<std::string> runnableTargets();

/// One sequence of one spec, in pages that lie in reverse order. Every byte
/// that is not written is 0xff: a NaN, a code of ones. Pages beyond `tokens`
/// have numbers that lead nowhere.
class TestCache {
public:
  TestCache(const std::string &json, int64_t tokens, bool hasTable);

  const spec::Spec spec;
  std::vector<kvc_region> regions;
  kvc_cache_view view{};

  /// "!kvc.cache<...>".
  std::string type() const;
  /// "#kvk.storage<...>".
  std::string storage(spec::Tensor tensor, layout::RegionKind kind) const;
  int64_t page(spec::Tensor tensor) const;
  /// The element's bits. `c` is the channel, or the block of scales and zeros.
  uint32_t get(spec::Tensor tensor, layout::RegionKind kind, int64_t t,
               int64_t h, int64_t c) const;
  void set(spec::Tensor tensor, layout::RegionKind kind, int64_t t, int64_t h,
           int64_t c, uint32_t bits);
  /// All bytes, to see what a store left alone.
  std::vector<uint8_t> bytes() const;

private:
  struct Place {
    uint8_t *byte;
    unsigned shift, width;
  };
  Place place(spec::Tensor tensor, layout::RegionKind kind, int64_t t,
              int64_t h, int64_t c) const;

  const layout::PageLayout &layoutOf(spec::Tensor tensor) const {
    return layouts[tensor == spec::Tensor::Key ? 0 : 1];
  }

  const layout::PageLayout layouts[2];
  std::vector<uint8_t> memory[2];
  std::vector<int32_t> table;
};

/// Values as the bits of a storage type, and back.
float fromBits(spec::DType type, uint32_t bits);
uint32_t toBits(spec::DType type, float value);

} // namespace kvc::test

#endif // KVC_TEST_UNIT_CONVERSION_KERNELHARNESS_H

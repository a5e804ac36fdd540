//===- FakeModule.h - Kernels written by hand, for the runtime --*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Scalar kernels over raw f32 caches behind a kernel table, so that plans, runs
// and caches are tested without the compiler. They address memory through
// layout::pageLayout as generated ones do, and check what kernel_abi.h promises
// them: a broken promise is counted, not asserted, since kernels run on any
// thread.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_UNIT_RUNTIME_FAKEMODULE_H
#define KVC_TEST_UNIT_RUNTIME_FAKEMODULE_H

#include "kvc/runtime.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kvc::test {

/// A spec of raw f32 in and out.
struct SpecText {
  int qHeads = 4, kvHeads = 2, headDim = 16, valueDim = 24;
  std::string attention; ///< More keys, `, "window": 5`.
  std::string layout = R"({"kind": "contiguous", "order": "nhd"})";
  std::string codec = "f32";
  std::string query = "f32";

  std::string json() const;
};

/// Handles that free themselves.
template <typename T, kvc_status (*Free)(T *)>
struct Deleter {
  void operator()(T *handle) const { Free(handle); }
};
using SpecPtr = std::unique_ptr<kvc_spec, Deleter<kvc_spec, kvc_spec_free>>;
using ModulePtr =
    std::unique_ptr<kvc_module, Deleter<kvc_module, kvc_module_free>>;
using CachePtr = std::unique_ptr<kvc_cache, Deleter<kvc_cache, kvc_cache_free>>;
using PlanPtr = std::unique_ptr<kvc_plan, Deleter<kvc_plan, kvc_plan_free>>;
using PoolPtr = std::unique_ptr<kvc_thread_pool,
                                Deleter<kvc_thread_pool, kvc_thread_pool_free>>;

SpecPtr parse(const std::string &json);

/// A message buffer of a call that may fail.
struct Message {
  char text[1024] = "";
  kvc_diag diag = KVC_DIAG_INIT(text);
  kvc_diag *get() { return &diag; }
};

/// What a fake kernel table says of itself.
struct Tiles {
  int64_t decodeRows = 4, prefillRows = 8, tokens = 16, split = 32;
  int64_t prefillSplit = 32;
  int64_t appendWorkspace = 0;
};

/// One at a time: kernels find their spec in a global.
class FakeModule {
public:
  explicit FakeModule(const SpecText &text, Tiles tiles = {});
  ~FakeModule();

  kvc_module *get() const { return module.get(); }
  const kvc_spec *spec() const { return parsed.get(); }
  kvc_module_table &table() { return moduleTable; }

  /// Calls of each kernel since the last reset.
  static int64_t decodeCalls();
  static int64_t prefillCalls();
  static int64_t appendCalls();
  static int64_t mergeCalls();
  /// Promises of kernel_abi.h that a call broke.
  static int64_t brokenPromises();
  static void resetCounts();

private:
  std::string json;
  SpecPtr parsed;
  std::vector<kvc_kernel_info> kernels;
  kvc_module_table moduleTable;
  ModulePtr module;
};

} // namespace kvc::test

#endif // KVC_TEST_UNIT_RUNTIME_FAKEMODULE_H

//===- KernelTable.h - The table that a module exports ----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// kvc_module_table of kernel_abi.h, first as data read off a lowered module,
// then as LLVM globals inside that module. The JIT looks this one symbol up, an
// ahead-of-time object exports it and nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_CODEGEN_KERNELTABLE_H
#define KVC_CODEGEN_KERNELTABLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm
namespace mlir {
class ModuleOp;
} // namespace mlir

namespace kvc {

/// One kernel: `kvc.kernel` on its `llvm.func` gives the name, the integer
/// attributes `kvc.tile_rows`, `kvc.tile_tokens`, `kvc.split_tokens` and
/// `kvc.workspace_bytes` what a plan must know; an absent one is 0.
struct KernelEntry {
  std::string name;
  std::string symbol;
  int64_t tileRows = 0, tileTokens = 0, splitTokens = 0;
  std::string operands; ///< Types of the weights of its dots.
  int64_t workspaceBytes = 0;
  int64_t threads = 0; ///< Of a block; 0 on hosts.
};

struct KernelTable {
  std::string specJson; ///< Canonical, on one line.
  std::string layoutHash;
  std::string target;
  std::string score; ///< Text of the score region, "" without one.
  std::vector<KernelEntry> kernels;
};

/// The symbol of the table.
inline constexpr llvm::StringLiteral kTableSymbol = "kvc_module";

/// A second name for the table that no other spec or target shares, so that one
/// program can link several objects: `kvc_module_<name>_<target>_<hash>`, with
/// the first 8 digits of the spec's hash since names need not differ, and every
/// character that C does not allow replaced by an underscore.
std::string uniqueTableSymbol(llvm::StringRef name, llvm::StringRef target,
                              llvm::StringRef specHash);

/// The kernels of a module whose functions are `llvm.func`s, in module order.
std::vector<KernelEntry> readKernels(mlir::ModuleOp module);

/// Calls the entries of a GPU module KIND_NAME, in the table too; characters
/// that C does not allow become underscores.
llvm::Error nameEntries(llvm::Module &module, KernelTable &table,
                        llvm::StringRef name);

/// Adds the table to `module`: `kvc_module` (weak, so that several objects link
/// together) and `uniqueSymbol`. Every other definition becomes internal.
llvm::Error addKernelTable(llvm::Module &module, const KernelTable &table,
                           llvm::StringRef uniqueSymbol);

} // namespace kvc

#endif // KVC_CODEGEN_KERNELTABLE_H

//===- Diagnostics.h - What MLIR has to say ---------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_DIAGNOSTICS_H
#define KVC_COMPILER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>

namespace kvc {

/// While it lives, catches every diagnostic of a context: nothing is printed.
/// The first error is kept; remarks go to a function.
class DiagnosticCatcher {
public:
  using RemarkFunction = std::function<void(const std::string &)>;
  explicit DiagnosticCatcher(mlir::MLIRContext &context,
                             RemarkFunction remark = nullptr);

  /// "PLACE: message" of the first error with its notes; `otherwise` if there
  /// was none.
  std::string firstError(llvm::StringRef otherwise) const {
    return error.empty() ? otherwise.str() : error;
  }

private:
  RemarkFunction remark;
  std::string error;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace kvc

#endif // KVC_COMPILER_DIAGNOSTICS_H

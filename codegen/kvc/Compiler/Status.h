//===- Status.h - Errors that carry a kvc_status ----------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_COMPILER_STATUS_H
#define KVC_COMPILER_STATUS_H

#include "kvc/status.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace kvc {

/// An error of the public API: what kvc_status it is, and its message.
class StatusError : public llvm::ErrorInfo<StatusError> {
public:
  static char ID;
  StatusError(kvc_status status, std::string message)
      : status(status), message(std::move(message)) {}

  kvc_status getStatus() const { return status; }
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  kvc_status status;
  std::string message;
};

inline llvm::Error makeError(kvc_status status, const llvm::Twine &message) {
  return llvm::make_error<StatusError>(status, message.str());
}

/// `error` with its message kept and `status` given to what has none.
llvm::Error withStatus(kvc_status status, llvm::Error error);

/// Consumes `error`: its status (KVC_FAILED for a foreign one) and its message.
std::pair<kvc_status, std::string> takeStatus(llvm::Error error);

} // namespace kvc

#endif // KVC_COMPILER_STATUS_H

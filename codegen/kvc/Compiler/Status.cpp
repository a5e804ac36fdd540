//===- Status.cpp - Errors that carry a kvc_status ------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Compiler/Status.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace kvc {

char StatusError::ID = 0;

Error withStatus(kvc_status status, Error error) {
  if (!error || error.isA<StatusError>())
    return error;
  return makeError(status, toString(std::move(error)));
}

std::pair<kvc_status, std::string> takeStatus(Error error) {
  kvc_status status = KVC_FAILED;
  std::string message;
  handleAllErrors(std::move(error), [&](const ErrorInfoBase &info) {
    if (info.isA<StatusError>())
      status = static_cast<const StatusError &>(info).getStatus();
    if (!message.empty())
      message += "; ";
    message += info.message();
  });
  return {status, message};
}

} // namespace kvc

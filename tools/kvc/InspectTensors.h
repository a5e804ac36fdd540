//===- InspectTensors.h - What a safetensors file holds ---------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_INSPECTTENSORS_H
#define KVC_TOOLS_INSPECTTENSORS_H

#include "kvc/Safetensors.h"

#include <string>

namespace kvc {

/// Every tensor with type, shape, bytes and range, then the file's metadata.
std::string inspectTensors(const safetensors::File &file, bool json);

} // namespace kvc

#endif // KVC_TOOLS_INSPECTTENSORS_H

//===- SafetensorsHeader.h - The JSON header of safetensors -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Private to kvc_safetensors: what the JSON header says, read strictly, before
// it is compared with the file's size; and what reading and writing share.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_SAFETENSORSHEADER_H
#define KVC_TOOLS_SAFETENSORSHEADER_H

#include "kvc/Safetensors.h"

namespace kvc::safetensors::detail {

/// One entry of the header.
struct Entry {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0; ///< Bytes from the end of the header.
  uint64_t offset = 0;         ///< Byte of the file where its key ends.
};

struct Header {
  std::vector<Entry> entries; ///< In the order of the text.
  Metadata metadata;
};

/// Reads the header's text, whose first byte is byte `base` of the file.
Expected<Header> parseHeader(std::string_view text, uint64_t base,
                             const std::string &file);

/// Bytes of a tensor. Nothing if the product leaves 63 bits even with extents
/// of 0 taken as 1, so that strides computed from the shape never overflow.
std::optional<uint64_t> bytesOfShape(DType type,
                                     const std::vector<int64_t> &shape);

/// Text from outside, quoted, printable and of bounded length.
std::string printable(std::string_view text);

/// A string as JSON; nothing if it is not UTF-8.
std::optional<std::string> jsonString(std::string_view text);

} // namespace kvc::safetensors::detail

#endif // KVC_TOOLS_SAFETENSORSHEADER_H

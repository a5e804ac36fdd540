//===- Safetensors.h - Named tensors in a file ------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A strict reader and an atomic writer of the safetensors format: eight bytes
// with the header's length, a JSON header, then the tensors' bytes, little
// endian. A file is refused unless its header and its size agree in every
// respect, so whoever holds a File never checks a size again. Nothing throws.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_SAFETENSORS_H
#define KVC_TOOLS_SAFETENSORS_H

#include "kvc/Spec/ValueOrError.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvc::safetensors {

enum class DType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  U64,
  I64,
  BOOL
};

std::string_view nameOf(DType type);
std::optional<DType> dtypeOf(std::string_view name);
/// Bytes of one element.
int64_t bytesOf(DType type);
bool isFloat(DType type);

/// One tensor, row-major. `data` belongs to the File it was read from, or to
/// the caller of write. It is as aligned as the file's offsets allow: files
/// that write() made align every tensor to its elements, others need not, so
/// readers of foreign files copy elements out.
struct Tensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

/// "[2, 3]", for messages and tables.
std::string shapeText(std::span<const int64_t> shape);

/// Product of the extents.
int64_t elementsOf(const Tensor &tensor);

using Metadata = std::map<std::string, std::string>;

/// What is wrong with a file, and where.
struct Error {
  std::string file;
  std::string tensor;             ///< Empty: the file as a whole.
  std::optional<uint64_t> offset; ///< Byte of the file; absent for I/O errors.
  std::string message;            ///< "what, expected X, got Y", no full stop.

  /// `FILE: tensor "NAME": byte N: MESSAGE`, absent parts left out.
  std::string str() const;
};

template <typename T>
using Expected = ValueOrError<T, Error>;

/// The tensors of one file, and the memory that holds them.
class File {
public:
  /// In the order of their bytes in the file.
  std::span<const Tensor> tensors() const { return list; }
  /// Null if there is none of that name.
  const Tensor *find(std::string_view name) const;
  /// The `__metadata__` entry; empty if absent.
  const Metadata &metadata() const { return meta; }

private:
  friend class Reader;
  struct Free {
    void operator()(std::byte *bytes) const;
  };
  std::unique_ptr<std::byte, Free> memory;
  std::vector<Tensor> list;
  std::map<std::string, size_t, std::less<>> index;
  Metadata meta;
};

/// A header longer than this is refused before it is read.
inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;

/// Reads a regular file. The header is checked against the file's size before
/// any tensor's bytes are read.
Expected<File> read(const std::string &path);

/// Reads a file's bytes, which are copied; `name` stands for the file in
/// errors.
Expected<File> read(std::span<const std::byte> bytes,
                    const std::string &name = "<memory>");

/// The bytes before the tensors' own: length, header, padding to eight bytes.
/// Header entries are sorted by name; `order` receives the tensors' indices in
/// the order in which their bytes follow: widest elements first, then by name,
/// which aligns each tensor without padding.
Expected<std::string> header(std::span<const Tensor> tensors,
                             const Metadata &metadata,
                             std::vector<size_t> &order,
                             const std::string &name = "<memory>");

/// Writes a file in one step: it appears whole, or not at all. Equal tensors
/// give equal bytes.
std::optional<Error> write(const std::string &path,
                           std::span<const Tensor> tensors,
                           const Metadata &metadata = {});

} // namespace kvc::safetensors

#endif // KVC_TOOLS_SAFETENSORS_H

//===- safetensors_fuzz.cpp - The safetensors reader on any bytes ---------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Whatever the bytes: no crash, an error of one printable line, or a file whose
// tensors lie end to end in the bytes and survive being written again.
//
//===----------------------------------------------------------------------===//

#include "kvc/Safetensors.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

using namespace kvc::safetensors;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

static void checkError(const Error &error) {
  std::string text = error.str();
  require(!error.message.empty());
  require(std::all_of(text.begin(), text.end(),
                      [](char c) { return c >= 0x20 && c < 0x7f; }));
}

static void checkFile(const File &file, size_t size) {
  size_t total = 0;
  std::byte mix{};
  for (const Tensor &tensor : file.tensors()) {
    require(tensor.data.size() ==
            size_t(elementsOf(tensor) * bytesOf(tensor.dtype)));
    require(file.find(tensor.name) == &tensor);
    total += tensor.data.size();
    // Touches every byte, so that AddressSanitizer sees them.
    for (std::byte byte : tensor.data)
      mix ^= byte;
  }
  volatile std::byte sink = mix;
  (void)sink;
  require(total <= size);

  std::vector<size_t> order;
  Expected<std::string> head = header(file.tensors(), file.metadata(), order);
  require(bool(head));
  std::string bytes = *head;
  for (size_t i : order) {
    const Tensor &tensor = file.tensors()[i];
    bytes.append(reinterpret_cast<const char *>(tensor.data.data()),
                 tensor.data.size());
  }
  Expected<File> again = read(std::as_bytes(std::span(bytes)));
  require(bool(again));
  require(again->metadata() == file.metadata());
  require(again->tensors().size() == file.tensors().size());
  for (const Tensor &tensor : file.tensors()) {
    const Tensor *other = again->find(tensor.name);
    require(other && other->dtype == tensor.dtype &&
            other->shape == tensor.shape &&
            std::equal(other->data.begin(), other->data.end(),
                       tensor.data.begin(), tensor.data.end()));
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Expected<File> file = read(std::as_bytes(std::span(data, size)));
  if (file)
    checkFile(*file, size);
  else
    checkError(file.error());
  return 0;
}

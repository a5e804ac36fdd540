//===- SafetensorsWrite.cpp - Named tensors into a file -------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/PendingFile.h"
#include "kvc/SafetensorsHeader.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>

using namespace kvc;
using namespace kvc::safetensors;
using namespace kvc::safetensors::detail;

/// One tensor's entry, its bytes at `begin`.
static std::string entryText(const std::string &key, const Tensor &tensor,
                             uint64_t begin) {
  std::string shape = "[";
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    shape += (i ? "," : "") + std::to_string(tensor.shape[i]);
  return key + ":{\"dtype\":\"" + std::string(nameOf(tensor.dtype)) +
         "\",\"shape\":" + shape + "],\"data_offsets\":[" +
         std::to_string(begin) + "," +
         std::to_string(begin + tensor.data.size()) + "]}";
}

Expected<std::string> safetensors::header(std::span<const Tensor> tensors,
                                          const Metadata &metadata,
                                          std::vector<size_t> &order,
                                          const std::string &name) {
  auto wrong = [&](const Tensor &tensor, std::string message) {
    return Error{name, tensor.name, std::nullopt, std::move(message)};
  };
  std::vector<std::string> keys;
  for (const Tensor &tensor : tensors) {
    std::optional<std::string> key = jsonString(tensor.name);
    if (!key)
      return wrong(tensor, "the name, expected UTF-8");
    if (tensor.name == "__metadata__")
      return wrong(tensor, "the name, expected one that is not reserved");
    std::optional<uint64_t> bytes = bytesOfShape(tensor.dtype, tensor.shape);
    if (!bytes || *bytes != tensor.data.size())
      return wrong(tensor, "the data, expected the bytes of shape " +
                               shapeText(tensor.shape) + " of " +
                               std::string(nameOf(tensor.dtype)) + ", got " +
                               std::to_string(tensor.data.size()));
    keys.push_back(std::move(*key));
  }

  std::vector<size_t> byName(tensors.size());
  std::iota(byName.begin(), byName.end(), 0);
  std::sort(byName.begin(), byName.end(), [&](size_t a, size_t b) {
    return tensors[a].name < tensors[b].name;
  });
  for (size_t i = 1; i < byName.size(); ++i)
    if (tensors[byName[i]].name == tensors[byName[i - 1]].name)
      return wrong(tensors[byName[i]],
                   "the name, expected every name once, got it twice");

  order = byName;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(-bytesOf(tensors[a].dtype), tensors[a].name) <
           std::pair(-bytesOf(tensors[b].dtype), tensors[b].name);
  });
  std::vector<uint64_t> begins(tensors.size());
  uint64_t end = 0;
  for (size_t i : order) {
    begins[i] = end;
    end += tensors[i].data.size();
  }

  std::string text = "{";
  if (!metadata.empty()) {
    text += "\"__metadata__\":{";
    bool first = true;
    for (const auto &[key, value] : metadata) {
      std::optional<std::string> keyText = jsonString(key),
                                 valueText = jsonString(value);
      if (!keyText || !valueText)
        return Error{name, "", std::nullopt, "__metadata__, expected UTF-8"};
      text += (first ? "" : ",") + *keyText + ":" + *valueText;
      first = false;
    }
    text += "}";
  }
  for (size_t i : byName)
    text += (text.size() > 1 ? "," : "") +
            entryText(keys[i], tensors[i], begins[i]);
  text += "}";
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxHeaderBytes)
    return Error{name, "", std::nullopt,
                 "the header, expected at most " +
                     std::to_string(kMaxHeaderBytes) + " bytes, got " +
                     std::to_string(text.size())};

  uint64_t length = text.size();
  char prefix[8];
  std::memcpy(prefix, &length, 8);
  return std::string(prefix, 8) + text;
}

std::optional<Error> safetensors::write(const std::string &path,
                                        std::span<const Tensor> tensors,
                                        const Metadata &metadata) {
  try {
    std::vector<size_t> order;
    Expected<std::string> head = header(tensors, metadata, order, path);
    if (!head)
      return head.error();
    PendingFile file(path);
    std::optional<std::string> error = file.open();
    if (!error)
      error = file.append(*head);
    for (size_t i : order)
      if (!error)
        error = file.append(tensors[i].data);
    if (!error)
      error = file.commit();
    if (error)
      return Error{path, "", std::nullopt, *error};
    return std::nullopt;
  } catch (const std::bad_alloc &) {
    return Error{path, "", std::nullopt,
                 "cannot write, expected memory for the header, got none"};
  }
}

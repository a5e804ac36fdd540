//===- ModuleFile.cpp - Modules from a manifest and code ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Checked.h"
#include "kvc/Devices/Memory.h"
#include "kvc/Run/Module.h"
#include "kvc/Spec/Json.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace kvc;
using spec::JsonValue;
using Kind = spec::JsonValue::Kind;

namespace {

/// The table that a manifest describes, and all that it points to.
struct FileTable : kvc_module_storage {
  std::deque<std::string> texts;
  std::vector<kvc_kernel_info> kernels;
  kvc_module_table table = {};

  const char *keep(std::string text) {
    return texts.emplace_back(std::move(text)).c_str();
  }
};

/// Larger manifests and kernels than anyone makes.
constexpr int64_t kMaxFileBytes = int64_t(1) << 30;

kvc_status readWhole(const std::string &path, kvc_diag *diag,
                     std::string &content) {
  // Opening a pipe would wait for its writer.
  std::error_code none;
  if (std::filesystem::exists(path, none) &&
      !std::filesystem::is_regular_file(path, none))
    return fail(diag, KVC_FAILED, "%s: expected a regular file", path.c_str());
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const int64_t bytes = file ? int64_t(file.tellg()) : -1;
  if (bytes < 0 || bytes > kMaxFileBytes)
    return fail(diag, KVC_FAILED, "%s: expected a file of at most %lld bytes",
                path.c_str(), static_cast<long long>(kMaxFileBytes));
  content.resize(size_t(bytes));
  file.seekg(0);
  if (!file.read(content.data(), bytes))
    return fail(diag, KVC_FAILED, "%s: expected %lld bytes, got fewer",
                path.c_str(), static_cast<long long>(bytes));
  return KVC_OK;
}

void printText(const std::string &text, std::string &to) {
  static constexpr char digits[] = "0123456789abcdef";
  to += '"';
  for (char c : text)
    if (const auto byte = static_cast<unsigned char>(c);
        byte < 0x20 || c == '"' || c == '\\')
      to += {'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]};
    else
      to += c;
  to += '"';
}

/// A tree as text again: what reads it gets the same tree.
void print(const JsonValue &value, std::string &to) {
  switch (value.kind) {
  case Kind::None:
    to += "null";
    return;
  case Kind::Boolean:
    to += value.boolean ? "true" : "false";
    return;
  case Kind::Integer:
  case Kind::Number:
    to += value.text;
    return;
  case Kind::String:
    printText(value.text, to);
    return;
  case Kind::List:
    to += '[';
    for (const JsonValue &item : value.items) {
      to += &item == value.items.data() ? "" : ",";
      print(item, to);
    }
    to += ']';
    return;
  case Kind::Object:
    to += '{';
    for (const spec::JsonMember &member : value.members) {
      to += &member == value.members.data() ? "" : ",";
      printText(member.key, to);
      to += ':';
      print(member.value, to);
    }
    to += '}';
    return;
  }
}

/// Reads members of objects; the first that is not there, or of another kind,
/// is the reader's error.
class Manifest {
public:
  Manifest(const char *path, kvc_diag *diag) : path(path), diag(diag) {}

  const JsonValue *find(const JsonValue &object, const char *key, Kind kind,
                        const char *expected) {
    for (const spec::JsonMember &member : object.members)
      if (member.key == key && member.value.kind == kind)
        return &member.value;
    if (status == KVC_OK)
      status = fail(diag, KVC_INVALID_DATA, "%s: \"%s\": expected %s", path,
                    key, expected);
    return nullptr;
  }
  std::string text(const JsonValue &object, const char *key) {
    const JsonValue *value = find(object, key, Kind::String, "a text");
    return value ? value->text : std::string();
  }
  int64_t integer(const JsonValue &object, const char *key) {
    const JsonValue *value = find(object, key, Kind::Integer, "a whole number");
    if (!value || value->fits)
      return value ? value->integer : 0;
    if (status == KVC_OK)
      status = fail(diag, KVC_INVALID_DATA,
                    "%s: \"%s\": expected a number below 2^63", path, key);
    return 0;
  }

  kvc_status status = KVC_OK;

private:
  const char *path;
  kvc_diag *diag;
};

kvc_status readManifest(const char *path, const JsonValue &root, kvc_diag *diag,
                        FileTable &made, std::string &code) {
  Manifest from(path, diag);
  kvc_module_table &table = made.table;
  table.abi_version = static_cast<int32_t>(
      std::clamp<int64_t>(from.integer(root, "abi_version"), 0, kMaxInt32));
  table.layout_hash = made.keep(from.text(root, "layout_hash"));
  code = from.text(root, "code");
  if (const JsonValue *target =
          from.find(root, "target", Kind::Object, "an object"))
    table.target = made.keep(from.text(*target, "name"));
  if (const JsonValue *spec =
          from.find(root, "spec", Kind::Object, "an object")) {
    std::string json;
    print(*spec, json);
    table.spec_json = made.keep(std::move(json));
  }
  table.score = "";
  for (const spec::JsonMember &member : root.members)
    if (member.key == "score")
      table.score = made.keep(from.text(root, "score"));
  const JsonValue *kernels =
      from.find(root, "kernels", Kind::List, "a list of kernels");
  if (!kernels)
    return from.status;
  for (const JsonValue &kernel : kernels->items) {
    kvc_kernel_info info = {};
    info.name = made.keep(from.text(kernel, "name"));
    info.tile_rows = from.integer(kernel, "tile_rows");
    info.tile_tokens = from.integer(kernel, "tile_tokens");
    info.split_tokens = from.integer(kernel, "split_tokens");
    info.operands = made.keep(from.text(kernel, "operands"));
    info.symbol = made.keep(from.text(kernel, "symbol"));
    info.threads = from.integer(kernel, "threads");
    info.shared_bytes = from.integer(kernel, "shared_bytes");
    info.registers = from.integer(kernel, "registers");
    for (const spec::JsonMember &member : kernel.members)
      if (member.key == "workspace_bytes")
        info.workspace_bytes = from.integer(kernel, "workspace_bytes");
    made.kernels.push_back(info);
  }
  table.kernels = made.kernels.data();
  table.num_kernels = static_cast<int32_t>(made.kernels.size());
  return from.status;
}

} // namespace

extern "C" kvc_status kvc_module_open_code(const char *path, kvc_diag *diag,
                                           kvc_module **module) {
  return guarded(diag, [&]() -> kvc_status {
    KVC_TRY(requirePointer(module, "module", diag));
    if (!path || !*path)
      return fail(diag, KVC_INVALID_ARGUMENT,
                  "path: expected a manifest, got nothing");
    std::string text, code;
    KVC_TRY(readWhole(path, diag, text));
    const spec::Expected<JsonValue> root = spec::readJson(text);
    if (!root || root->kind != Kind::Object)
      return fail(diag, KVC_INVALID_DATA, "%s: expected an object of JSON: %s",
                  path,
                  root ? root->str().c_str() : root.error().str().c_str());
    auto table = std::make_unique<FileTable>();
    KVC_TRY(readManifest(path, *root, diag, *table, code));
    // The code lies beside its manifest.
    const std::string folder(path);
    const size_t slash = folder.rfind('/');
    if (code.empty() || code.find('/') != std::string::npos)
      return fail(diag, KVC_INVALID_DATA,
                  "%s: \"code\": expected the name of a file beside it, got "
                  "\"%s\"",
                  path, code.c_str());
    code.insert(0,
                slash == std::string::npos ? "" : folder.substr(0, slash + 1));
    std::string content;
    KVC_TRY(readWhole(code, diag, content));
    // Text has its final NUL; a cubin does not mind one.
    table->table.code_bytes = static_cast<int64_t>(content.size()) + 1;
    table->table.code = table->keep(std::move(content));
    const kvc_module_table *made = &table->table;
    KVC_TRY(kvc_module_create(made, diag, module));
    (*module)->storage = std::move(table);
    return KVC_OK;
  });
}

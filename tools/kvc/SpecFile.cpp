//===- SpecFile.cpp - Specs on the command line ---------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/SpecFile.h"
#include "kvc/Json.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace kvc;

std::string kvc::readFile(const std::string &path, size_t most) {
  auto fail = [&](const std::string &why) {
    throw Failure(path + ": cannot read, expected a regular file, got " + why);
  };
  // Opening a pipe that nobody writes to would wait for ever.
  const int descriptor =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(
      descriptor < 0 ? nullptr : ::fdopen(descriptor, "rb"), std::fclose);
  struct stat info;
  if (!file || ::fstat(descriptor, &info) != 0)
    fail(std::string("an error: ") + std::strerror(errno));
  if (!S_ISREG(info.st_mode))
    fail(S_ISDIR(info.st_mode) ? "a directory" : "a special file");
  std::string text;
  char buffer[1 << 16];
  while (size_t count = std::fread(buffer, 1, sizeof(buffer), file.get())) {
    text.append(buffer, count);
    if (text.size() > most)
      throw Failure(path + ": cannot read, expected at most " +
                    std::to_string(most) + " bytes, got more");
  }
  if (std::ferror(file.get()))
    fail(std::string("an error: ") + std::strerror(errno));
  return text;
}

SpecHandle kvc::parseSpec(const std::string &json, const std::string &place) {
  Diag diag;
  kvc_spec *spec = nullptr;
  diag.check(kvc_spec_parse(json.data(), json.size(), diag, &spec), place);
  return SpecHandle(spec);
}

kvc_spec_info kvc::specInfoOf(const kvc_spec *spec) {
  Diag diag;
  kvc_spec_info info{};
  info.struct_size = sizeof(info);
  diag.check(kvc_spec_get_info(spec, diag, &info));
  return info;
}

kvc_tensor_info kvc::tensorInfoOf(const kvc_spec *spec, kvc_tensor tensor) {
  Diag diag;
  kvc_tensor_info info{};
  info.struct_size = sizeof(info);
  diag.check(kvc_spec_get_tensor(spec, tensor, diag, &info));
  return info;
}

std::vector<kvc_input_info> kvc::schemeInputsOf(const kvc_spec *spec) {
  Diag diag;
  int64_t count = 0;
  diag.check(kvc_spec_input_count(spec, &count));
  std::vector<kvc_input_info> inputs(count);
  for (int64_t i = 0; i < count; ++i) {
    inputs[i].struct_size = sizeof(kvc_input_info);
    diag.check(kvc_spec_get_input(spec, i, diag, &inputs[i]));
  }
  return inputs;
}

kvc_part_info kvc::partInfoOf(const kvc_spec *spec, kvc_tensor tensor,
                              int64_t part) {
  Diag diag;
  kvc_part_info info{};
  info.struct_size = sizeof(info);
  diag.check(kvc_spec_get_part(spec, tensor, part, diag, &info));
  return info;
}

static Json jsonOf(const kvc_spec *spec) {
  const char *text = nullptr;
  Diag().check(kvc_spec_json(spec, &text));
  return parseJson(text);
}

bool kvc::isInterleaved(const kvc_spec *spec) {
  const auto json = jsonOf(spec);
  return json.contains("layout") && json["layout"].value("interleaved", false);
}

std::optional<std::string> kvc::twinOf(const kvc_spec *spec) {
  auto twin = jsonOf(spec);
  const auto original = twin;
  for (const char *tensor : {"key", "value"}) {
    if (!twin.contains(tensor))
      continue;
    // Queries in bf16 come from models whose numbers f16 need not hold.
    const bool isBF16 = specInfoOf(spec).query == KVC_BF16;
    Json scheme{{"codec", isBF16 ? "bf16" : "f16"}};
    // Keys that are stored before RoPE stay so: it is work that both must do.
    if (twin[tensor].contains("rope"))
      scheme["rope"] = twin[tensor]["rope"];
    twin[tensor] = scheme;
  }
  if (twin == original)
    return std::nullopt;
  // Raw segments say nothing in a cache that is raw, but that a ring keeps its
  // sink; rows of other lengths do not interleave.
  const kvc_spec_info info = specInfoOf(spec);
  twin.erase("segments");
  if (info.layout == KVC_RING && info.sink != 0)
    twin["segments"]["sink"] = info.sink;
  if (isInterleaved(spec) && info.head_dim != info.value_dim)
    twin["layout"].erase("interleaved");
  return lineOf(twin);
}

const char *kvc::nameOf(kvc_dtype dtype) {
  static constexpr const char *names[] = {"f32", "f16", "bf16", "e8m0", "e4m3"};
  return names[dtype];
}

//===- OutputFiles.cpp - All destinations of one command ------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/OutputFiles.h"

#include "kvc/CommandLine.h"

#include <filesystem>
#include <system_error>

using namespace kvc;
namespace fs = std::filesystem;

OutputFile::OutputFile(const std::string &path) : path(path), file(path) {
  check(file.open());
}

void OutputFile::write(std::string_view text) { check(file.append(text)); }

void OutputFile::write(std::span<const safetensors::Tensor> tensors) {
  std::vector<size_t> order;
  auto header = safetensors::header(tensors, {}, order, path);
  if (!header)
    throw Failure(header.error().str());
  check(file.append(std::string_view(*header)));
  for (size_t index : order)
    check(file.append(tensors[index].data));
}

void OutputFile::check(const std::optional<std::string> &error) const {
  if (error)
    throw Failure(path + ": " + *error);
}

/// Whether two paths lead to one file, which need not exist yet. What cannot be
/// looked at is no file that could be overwritten.
static bool isSameFile(const std::string &first, const std::string &second) {
  const fs::path a = PendingFile::followLinks(first),
                 b = PendingFile::followLinks(second);
  std::error_code error;
  if (fs::exists(a, error) && fs::exists(b, error))
    return fs::equivalent(a, b, error);
  if (fs::exists(a, error) || fs::exists(b, error))
    return false;
  auto folder = [](const fs::path &path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
  };
  return a.filename() == b.filename() &&
         fs::equivalent(folder(a), folder(b), error);
}

const OutputFiles::Entry *OutputFiles::find(const std::string &path) const {
  for (const Entry &entry : entries)
    if (isSameFile(entry.path, path))
      return &entry;
  return nullptr;
}

void OutputFiles::protect(const std::string &role, const std::string &path) {
  entries.push_back({role, path});
}

OutputFile &OutputFiles::open(const std::string &role,
                              const std::string &path) {
  if (const Entry *entry = find(path))
    failUse(role + ": expected a file of its own, got " + inQuotes(path) +
            ", which is also " + entry->role);
  OutputFile &file = files.emplace_back(path);
  entries.push_back({role, path});
  return file;
}

void OutputFiles::commit() {
  // All that can fail for want of space fails before the first file changes.
  for (OutputFile &file : files)
    file.check(file.file.flush());
  for (OutputFile &file : files)
    file.check(file.file.commit());
}

OutputFolder::OutputFolder(const std::string &path) : path(path) {
  if (path.empty())
    throw Failure("--out: expected a folder's name, got an empty one");
  std::error_code error;
  fs::path folder;
  for (const fs::path &part : fs::path(path)) {
    folder /= part;
    if (fs::create_directory(folder, error))
      made.push_back(folder.string());
    if (error || !fs::is_directory(folder, error)) {
      std::string message = path + ": cannot make " + inQuotes(folder.string());
      message += ": " + (error ? error.message() : "it is no folder");
      for (auto each = made.rbegin(); each != made.rend(); ++each)
        fs::remove(*each, error);
      throw Failure(message);
    }
  }
}

OutputFolder::~OutputFolder() {
  // Only empty folders go: what others put there meanwhile stays.
  std::error_code error;
  for (auto each = made.rbegin(); each != made.rend(); ++each)
    fs::remove(*each, error);
}

std::string OutputFolder::operator/(const std::string &name) const {
  return (fs::path(path) / name).string();
}

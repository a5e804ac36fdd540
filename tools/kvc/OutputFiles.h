//===- OutputFiles.h - All destinations of one command ----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// A command names its inputs, opens all its destinations before it computes
// anything, fills them, and commits them together at the end. Until then no
// destination has appeared or changed. Destinations that are one another or an
// input, through links too, are refused.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TOOLS_OUTPUTFILES_H
#define KVC_TOOLS_OUTPUTFILES_H

#include "kvc/Base/PendingFile.h"
#include "kvc/Safetensors.h"

#include <deque>
#include <string>
#include <string_view>

namespace kvc {

/// One destination. Its writes go to a temporary file; failures are thrown.
class OutputFile {
public:
  explicit OutputFile(const std::string &path);
  void write(std::string_view text);
  void write(std::span<const safetensors::Tensor> tensors);

private:
  friend class OutputFiles;
  void check(const std::optional<std::string> &error) const;

  std::string path;
  PendingFile file;
};

class OutputFiles {
public:
  /// `role` is how messages name the path: "SPEC", "--output".
  void protect(const std::string &role, const std::string &path);
  OutputFile &open(const std::string &role, const std::string &path);
  void commit();

private:
  struct Entry {
    std::string role, path;
  };
  const Entry *find(const std::string &path) const;

  std::deque<Entry> entries;
  std::deque<OutputFile> files;
};

/// A folder for outputs: made with its parents if it does not exist, and
/// removed again unless keep() was called.
class OutputFolder {
public:
  explicit OutputFolder(const std::string &path);
  ~OutputFolder();
  OutputFolder(const OutputFolder &) = delete;
  void keep() { made.clear(); }
  std::string operator/(const std::string &name) const;

private:
  std::string path;
  std::vector<std::string> made; ///< Outermost first.
};

} // namespace kvc

#endif // KVC_TOOLS_OUTPUTFILES_H

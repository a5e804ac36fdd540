//===- Folder.h - A temporary folder for one test ---------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_FOLDER_H
#define KVC_TEST_FOLDER_H

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace kvc::test {

/// A fresh folder, removed with all it holds.
class Folder {
public:
  Folder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "kvc-test-XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw std::runtime_error("cannot make the folder " + pattern);
    path = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  /// Path of a file inside.
  std::string operator/(const std::string &name) const {
    return (path / name).string();
  }
  /// Names of the files inside, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto &entry : std::filesystem::directory_iterator(path))
      result.push_back(entry.path().filename().string());
    std::sort(result.begin(), result.end());
    return result;
  }

private:
  std::filesystem::path path;
};

inline std::string readAll(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void writeAll(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

} // namespace kvc::test

#endif // KVC_TEST_FOLDER_H

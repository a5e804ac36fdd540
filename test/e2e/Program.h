//===- Program.h - Running the kvc program ----------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_E2E_PROGRAM_H
#define KVC_TEST_E2E_PROGRAM_H

#include <string>
#include <vector>

namespace kvc::test {

struct Finished {
  int code;           ///< Exit code; -1 if a signal ended it.
  std::string output; ///< What it wrote to stdout and stderr.
};

/// Runs `kvc ARGUMENTS..` and waits for its end.
Finished runKvc(const std::vector<std::string> &arguments);

/// A new, empty folder that is removed with its content.
class Folder {
public:
  Folder();
  ~Folder();
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  std::string path(const std::string &file) const { return root + "/" + file; }

private:
  std::string root;
};

} // namespace kvc::test

#endif // KVC_TEST_E2E_PROGRAM_H

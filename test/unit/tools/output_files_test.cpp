//===- output_files_test.cpp - All destinations of a command --------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/OutputFiles.h"

#include "kvc/Failure.h"
#include "kvc/Test/Folder.h"

#include <gtest/gtest.h>

using namespace kvc;
using kvc::test::Folder;
using kvc::test::readAll;
using kvc::test::writeAll;

namespace {

using Names = std::vector<std::string>;

TEST(OutputFiles, AppearTogether) {
  Folder folder;
  writeAll(folder / "a", "old");
  OutputFiles files;
  OutputFile &a = files.open("--a", folder / "a");
  OutputFile &b = files.open("--b", folder / "b");
  a.write("new");
  b.write("fresh");
  EXPECT_EQ(readAll(folder / "a"), "old");
  EXPECT_FALSE(std::filesystem::exists(folder / "b"));
  files.commit();
  EXPECT_EQ(readAll(folder / "a"), "new");
  EXPECT_EQ(readAll(folder / "b"), "fresh");
  EXPECT_EQ(folder.names(), (Names{"a", "b"}));
}

TEST(OutputFiles, LeaveNothingWithoutCommit) {
  Folder folder;
  {
    OutputFiles files;
    files.open("--a", folder / "a").write("new");
    EXPECT_THROW(files.open("--b", folder / "none/b"), Failure);
  }
  EXPECT_EQ(folder.names(), Names{});
}

/// Opens `path` after an input `in`, a hard link `hard` and a symbolic link
/// `soft` to it, and a destination `out`.
std::string messageFor(const Folder &folder, const std::string &name) {
  writeAll(folder / "in", "input");
  std::filesystem::create_hard_link(folder / "in", folder / "hard");
  std::filesystem::create_symlink("in", folder / "soft");
  std::filesystem::create_directory(folder / "sub");
  OutputFiles files;
  files.protect("--inputs", folder / "in");
  files.open("--output", folder / "out");
  try {
    files.open("--stats", folder / name);
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.code, 2);
    return failure.what();
  }
  return "opened";
}

TEST(OutputFiles, AreNeitherInputsNorOneAnother) {
  for (const char *name : {"in", "./in", "sub/../in", "hard", "soft"}) {
    Folder folder;
    EXPECT_NE(messageFor(folder, name).find("which is also --inputs"),
              std::string::npos)
        << name;
    EXPECT_EQ(readAll(folder / "in"), "input");
  }
  for (const char *name : {"out", "sub/../out", "soon"}) {
    Folder folder;
    std::filesystem::create_symlink("out", folder / "soon");
    EXPECT_NE(messageFor(folder, name).find("which is also --output"),
              std::string::npos)
        << name;
  }
  Folder folder;
  EXPECT_EQ(messageFor(folder, "other"), "opened");
}

TEST(OutputFolder, IsRemovedUnlessKept) {
  Folder folder;
  std::filesystem::create_directory(folder / "old");
  {
    OutputFolder made(folder / "old/x/y");
    EXPECT_TRUE(std::filesystem::is_directory(made / "."));
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "old"));
  EXPECT_FALSE(std::filesystem::exists(folder / "old/x"));
  {
    OutputFolder made(folder / "old/x/y/");
    writeAll(made / "file", "");
    made.keep();
  }
  EXPECT_TRUE(std::filesystem::exists(folder / "old/x/y/file"));
  writeAll(folder / "file", "");
  EXPECT_THROW(OutputFolder(folder / "file/x"), Failure);
  EXPECT_THROW(OutputFolder(folder / "file"), Failure);
  EXPECT_THROW(OutputFolder(""), Failure);
}

TEST(PendingFile, SignalsRemoveWhatIsPending) {
  Folder folder;
  PendingFile file(folder / "out");
  ASSERT_FALSE(file.open());
  PendingFile moved = std::move(file);
  ASSERT_EQ(folder.names().size(), 1u);
  PendingFile::removeTemporaries();
  EXPECT_EQ(folder.names(), Names{});
}

TEST(PendingFile, FlushThenCommit) {
  Folder folder;
  PendingFile file(folder / "out");
  ASSERT_FALSE(file.open());
  ASSERT_FALSE(file.append("text"));
  ASSERT_FALSE(file.flush());
  EXPECT_TRUE(file.append("more"));
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  ASSERT_FALSE(file.commit());
  EXPECT_EQ(readAll(folder / "out"), "text");
  EXPECT_TRUE(file.commit()) << "it has been committed";
}

} // namespace

//===- pending_file_test.cpp - Outputs appear whole or not at all ---------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/PendingFile.h"
#include "kvc/Safetensors.h"
#include "kvc/Test/Folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using kvc::PendingFile;
using kvc::test::Folder;
using kvc::test::readAll;
using kvc::test::writeAll;

namespace {

using Names = std::vector<std::string>;

TEST(PendingFile, AppearsOnCommit) {
  Folder folder;
  PendingFile file(folder / "out");
  ASSERT_FALSE(file.open());
  ASSERT_FALSE(file.append("one "));
  ASSERT_FALSE(file.append("two"));
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  ASSERT_FALSE(file.commit());
  EXPECT_EQ(readAll(folder / "out"), "one two");
  EXPECT_EQ(folder.names(), Names{"out"});
}

TEST(PendingFile, LeavesNoTraceWithoutCommit) {
  Folder folder;
  writeAll(folder / "out", "old");
  {
    PendingFile file(folder / "out");
    ASSERT_FALSE(file.open());
    ASSERT_FALSE(file.append("new"));
    EXPECT_EQ(folder.names().size(), 2u);
  }
  EXPECT_EQ(folder.names(), Names{"out"});
  EXPECT_EQ(readAll(folder / "out"), "old");
}

TEST(PendingFile, MovesCarryTheFile) {
  Folder folder;
  std::vector<PendingFile> files;
  for (const char *name : {"a", "b", "c"}) {
    PendingFile file(folder / name);
    ASSERT_FALSE(file.open());
    ASSERT_FALSE(file.append(name));
    files.push_back(std::move(file));
  }
  for (PendingFile &file : files)
    ASSERT_FALSE(file.commit());
  EXPECT_EQ(folder.names(), (Names{"a", "b", "c"}));
}

TEST(PendingFile, KeepsModeAndLink) {
  Folder folder;
  writeAll(folder / "real", "old");
  ASSERT_EQ(::chmod((folder / "real").c_str(), 0640), 0);
  std::filesystem::create_symlink("real", folder / "link");
  PendingFile file(folder / "link");
  ASSERT_FALSE(file.open());
  ASSERT_FALSE(file.append("new"));
  ASSERT_FALSE(file.commit());
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(readAll(folder / "real"), "new");
  struct stat info;
  ASSERT_EQ(::stat((folder / "real").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST(PendingFile, FollowsALinkToAFileThatIsNotThereYet) {
  Folder folder;
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::create_symlink("sub/second", folder / "first");
  std::filesystem::create_symlink(folder / "out", folder / "sub/second");
  PendingFile file(folder / "first");
  ASSERT_FALSE(file.open());
  ASSERT_FALSE(file.append("new"));
  ASSERT_FALSE(file.commit());
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "first"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "sub/second"));
  EXPECT_EQ(readAll(folder / "out"), "new");

  std::filesystem::create_symlink("none/out", folder / "nowhere");
  EXPECT_TRUE(PendingFile(folder / "nowhere").open());
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_TRUE(PendingFile(folder / "loop").open());
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "nowhere"));
}

TEST(PendingFile, NewFilesObeyTheMask) {
  Folder folder;
  mode_t old = ::umask(027);
  PendingFile file(folder / "out");
  bool ok = !file.open() && !file.commit();
  ::umask(old);
  ASSERT_TRUE(ok);
  struct stat info;
  ASSERT_EQ(::stat((folder / "out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST(PendingFile, RefusesWhatCannotBeReplaced) {
  Folder folder;
  auto message = [](const std::string &path) {
    return PendingFile(path).open().value_or("opened");
  };
  EXPECT_EQ(message(""),
            "cannot write, expected a file name, got an empty one");
  EXPECT_EQ(message(folder / ""),
            "cannot write, expected a file name, got a directory");
  std::filesystem::create_directory(folder / "sub");
  EXPECT_EQ(message(folder / "sub"),
            "cannot write, expected a regular file, got a directory");
  EXPECT_EQ(message("/dev/null"),
            "cannot write, expected a regular file, got a device");
  EXPECT_EQ(message(folder / "none/out"),
            "cannot write a file beside it: No such file or directory");
  writeAll(folder / "file", "");
  EXPECT_EQ(message(folder / "file/out"), "cannot write: Not a directory");
  EXPECT_EQ(folder.names(), (Names{"file", "sub"}));
}

TEST(PendingFile, NamesAsLongAsTheyCanBe) {
  Folder folder;
  PendingFile file(folder / std::string(255, 'x'));
  ASSERT_FALSE(file.open());
  EXPECT_FALSE(file.commit());
}

TEST(PendingFile, AFailedWriteOfTensorsChangesNothing) {
  Folder folder;
  writeAll(folder / "out", "old");
  std::vector<kvc::safetensors::Tensor> bad = {
      {"x", kvc::safetensors::DType::F32, {1}, {}}};
  EXPECT_TRUE(kvc::safetensors::write(folder / "out", bad));
  EXPECT_EQ(readAll(folder / "out"), "old");
  EXPECT_EQ(folder.names(), Names{"out"});
}

} // namespace

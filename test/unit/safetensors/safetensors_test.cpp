//===- safetensors_test.cpp - Reading and writing tensors -----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Safetensors.h"
#include "kvc/Test/Folder.h"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/stat.h>

using namespace kvc::safetensors;
using kvc::test::Folder;
using kvc::test::readAll;
using kvc::test::writeAll;

namespace {

template <typename T>
std::span<const std::byte> bytesOfVector(const std::vector<T> &values) {
  return std::as_bytes(std::span(values));
}

const std::vector<float> floats = {1, 2, 3, 4, 5, 6};
const std::vector<uint8_t> octets = {7, 8, 9};
const std::vector<uint16_t> halves = {0x3c00};

std::vector<Tensor> sample() {
  return {{"zeta", DType::F32, {2, 3}, bytesOfVector(floats)},
          {"alpha", DType::U8, {3}, bytesOfVector(octets)},
          {"empty", DType::I64, {0, 5}, {}},
          {"scalar", DType::F16, {}, bytesOfVector(halves)}};
}

TEST(Safetensors, WhatWasWrittenIsRead) {
  Folder folder;
  std::string path = folder / "x.safetensors";
  ASSERT_FALSE(write(path, sample(), {{"model", "a \"b\" \n"}, {"", ""}}));
  Expected<File> file = read(path);
  ASSERT_TRUE(file) << file.error().str();
  EXPECT_EQ(file->tensors().size(), 4u);
  for (const Tensor &expected : sample()) {
    const Tensor *tensor = file->find(expected.name);
    ASSERT_TRUE(tensor) << expected.name;
    EXPECT_EQ(tensor->dtype, expected.dtype);
    EXPECT_EQ(tensor->shape, expected.shape);
    EXPECT_TRUE(std::ranges::equal(tensor->data, expected.data));
  }
  EXPECT_FALSE(file->find("beta"));
  EXPECT_EQ(file->metadata(), (Metadata{{"model", "a \"b\" \n"}, {"", ""}}));
}

TEST(Safetensors, WrittenBytesAreCanonical) {
  Folder folder;
  std::vector<Tensor> tensors = sample();
  ASSERT_FALSE(write(folder / "a", tensors));
  std::swap(tensors[0], tensors[2]);
  ASSERT_FALSE(write(folder / "b", tensors));
  std::string bytes = readAll(folder / "a");
  EXPECT_EQ(bytes, readAll(folder / "b"));

  // Names are sorted in the header, whose end is a multiple of eight bytes.
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
  std::string header = bytes.substr(8, length);
  EXPECT_LT(header.find("alpha"), header.find("empty"));
  EXPECT_LT(header.find("empty"), header.find("scalar"));
  EXPECT_LT(header.find("scalar"), header.find("zeta"));
  EXPECT_EQ(bytes.size(), 8 + length + 24 + 3 + 2);
}

TEST(Safetensors, WrittenTensorsAreAligned) {
  Folder folder;
  ASSERT_FALSE(write(folder / "a", sample()));
  Expected<File> file = read(folder / "a");
  ASSERT_TRUE(file);
  for (const Tensor &tensor : file->tensors())
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data.data()) %
                  uintptr_t(bytesOf(tensor.dtype)),
              0u)
        << tensor.name;
}

TEST(Safetensors, EveryDTypeRoundTrips) {
  std::vector<uint64_t> zeros(1);
  std::vector<Tensor> tensors;
  for (int i = 0; i <= int(DType::BOOL); ++i) {
    DType type = DType(i);
    EXPECT_EQ(dtypeOf(nameOf(type)), type);
    tensors.push_back({std::string(nameOf(type)),
                       type,
                       {1, 1},
                       bytesOfVector(zeros).first(size_t(bytesOf(type)))});
  }
  Folder folder;
  ASSERT_FALSE(write(folder / "a", tensors));
  Expected<File> file = read(folder / "a");
  ASSERT_TRUE(file) << file.error().str();
  for (const Tensor &tensor : tensors)
    EXPECT_EQ(file->find(tensor.name)->dtype, tensor.dtype);
  EXPECT_FALSE(dtypeOf("F8"));
}

TEST(Safetensors, NoTensorsAtAll) {
  Folder folder;
  ASSERT_FALSE(write(folder / "a", {}));
  EXPECT_EQ(readAll(folder / "a"),
            std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
  Expected<File> file = read(folder / "a");
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->tensors().empty());
}

TEST(Safetensors, ForeignFilesMayBeUnalignedAndUnsorted) {
  std::string header =
      "{ \"b\" : {\"shape\":[1],\"data_offsets\":[3,7],\"dtype\":\"F32\"},\n"
      "\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,3],\"shape\":[3,1]},"
      "\"none\":{\"dtype\":\"U8\",\"data_offsets\":[3,3],\"shape\":[0]}}";
  uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  float value = 2.5f;
  bytes += header + "xyz";
  bytes.append(reinterpret_cast<const char *>(&value), 4);
  Expected<File> file = read(std::as_bytes(std::span(bytes)));
  ASSERT_TRUE(file) << file.error().str();
  float got = 0;
  std::memcpy(&got, file->find("b")->data.data(), 4);
  EXPECT_EQ(got, value);
  EXPECT_EQ(file->tensors()[0].name, "a");
}

TEST(Safetensors, AFileOutlivesItsMove) {
  Folder folder;
  ASSERT_FALSE(write(folder / "a", sample()));
  Expected<File> file = read(folder / "a");
  ASSERT_TRUE(file);
  File moved = std::move(*file);
  EXPECT_TRUE(
      std::ranges::equal(moved.find("alpha")->data, bytesOfVector(octets)));
}

TEST(Safetensors, UnreadableFilesAreNamed) {
  Folder folder;
  auto message = [](const std::string &path) {
    Expected<File> file = read(path);
    return file ? std::string("read") : file.error().str();
  };
  EXPECT_EQ(message(folder / "none"),
            folder / "none" + ": cannot open: No such file or directory");
  EXPECT_EQ(message(folder / ""),
            folder / "" +
                ": cannot read, expected a regular file, got a directory");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(message(folder / "pipe"),
            folder / "pipe" +
                ": cannot read, expected a regular file, got a special file");
  // A sparse file of 1 TiB that claims nothing: refused from its header alone.
  writeAll(folder / "sparse", std::string("\x02\0\0\0\0\0\0\0{}", 10));
  std::filesystem::resize_file(folder / "sparse", uintmax_t(1) << 40);
  EXPECT_NE(message(folder / "sparse").find("no bytes after the last tensor"),
            std::string::npos);
}

TEST(SafetensorsWriter, RefusesWhatItCouldNotRead) {
  Folder folder;
  auto message = [&](std::vector<Tensor> tensors, Metadata metadata = {}) {
    std::optional<Error> error = write(folder / "a", tensors, metadata);
    return error ? error->message : "written";
  };
  Tensor good = sample()[0];
  Tensor short1 = good, negative = good, reserved = good, bad = good;
  short1.data = short1.data.first(20);
  negative.shape = {-2, -3};
  reserved.name = "__metadata__";
  bad.name = "\xff";
  EXPECT_EQ(message({good, good}),
            "the name, expected every name once, got it twice");
  EXPECT_EQ(message({short1}), "the data, expected the bytes of shape [2, 3] "
                               "of F32, got 20");
  EXPECT_EQ(message({negative}), "the data, expected the bytes of shape "
                                 "[-2, -3] of F32, got 24");
  EXPECT_EQ(message({reserved}), "the name, expected one that is not reserved");
  EXPECT_EQ(message({bad}), "the name, expected UTF-8");
  EXPECT_EQ(message({good}, {{"k", "\xff"}}), "__metadata__, expected UTF-8");
  EXPECT_TRUE(folder.names().empty());
}

} // namespace

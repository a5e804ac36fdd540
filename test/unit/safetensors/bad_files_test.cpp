//===- bad_files_test.cpp - What the safetensors reader refuses -----------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Each bad file differs from a good one in one respect. The error must name the
// file and say what is wrong; where a tensor is at fault, which; and which
// byte.
//
//===----------------------------------------------------------------------===//

#include "kvc/Safetensors.h"
#include "kvc/Test/Folder.h"

#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace kvc::safetensors;
using kvc::test::Folder;
using kvc::test::writeAll;

namespace {

/// A file with this header and so many bytes of tensors.
std::string file(const std::string &header, size_t dataBytes = 0) {
  uint64_t length = header.size();
  std::string result(8, '\0');
  std::memcpy(result.data(), &length, 8);
  return result + header + std::string(dataBytes, '\1');
}

/// The same with a header's length that lies.
std::string lying(uint64_t length, const std::string &rest) {
  std::string result(8, '\0');
  std::memcpy(result.data(), &length, 8);
  return result + rest;
}

/// One entry; 12 bytes from `begin` if nothing else is said.
std::string entry(const std::string &name, int begin = 0, int end = 12,
                  const std::string &shape = "[3]",
                  const std::string &dtype = "F32") {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":[" + std::to_string(begin) + "," +
         std::to_string(end) + "]}";
}

struct BadFile {
  const char *name;
  std::string bytes;
  const char *tensor;      ///< Named in the error; "" for none.
  const char *messagePart; ///< What the message must say.
  std::optional<uint64_t> offset = std::nullopt; ///< Exact byte, if fixed.
};

void PrintTo(const BadFile &bad, std::ostream *os) { *os << bad.name; }

std::vector<BadFile> badFiles() {
  std::string a = entry("a");
  std::vector<BadFile> files = {
      // The eight bytes before the header.
      {"Empty", "", "", "expected at least 8 bytes, got 0", 0},
      {"SevenBytes", std::string(7, '\0'), "", "at least 8 bytes, got 7", 0},
      {"HeaderOfNoBytes", file(""), "", "'{' as its first byte", 8},
      {"HeaderLongerThanFile", lying(100, "{}"), "",
       "at most the 2 bytes that follow, got 100", 0},
      {"HeaderOneByteTooLong", lying(3, "{}"), "", "at most the 2 bytes", 0},
      {"HeaderTooShort", lying(5, "{" + a + "}" + std::string(12, 1)), "",
       "expected '}'"},
      {"HeaderHuge", lying(kMaxHeaderBytes + 1, "{}"), "",
       "expected at most 100000000, got 100000001", 0},
      {"HeaderLengthNearOverflow", lying(~uint64_t(0) - 3, "{}"), "",
       "got 18446744073709551612", 0},

      // JSON.
      {"ByteOrderMark", file("\xEF\xBB\xBF{}"), "", "'{' as its first byte", 8},
      {"SpaceBeforeHeader", file(" {}"), "", "'{' as its first byte", 8},
      {"ArrayAsHeader", file("[]"), "", "'{' as its first byte", 8},
      {"NewlineAfterHeader", file("{}\n"), "", "spaces only", 10},
      {"NulAfterHeader", file(std::string("{}\0", 3)), "", "spaces only", 10},
      {"SecondDocument", file("{}{}"), "", "strict JSON"},
      {"Comment", file("{/**/}"), "", "strict JSON"},
      {"TrailingComma", file("{" + a + ",}", 12), "", "strict JSON"},
      {"Unclosed", file("{\"a\":{}"), "a", "got no dtype"},
      {"BadUtf8InName", file("{" + entry("a\xff") + "}", 12), "", "UTF-8"},
      {"OverlongUtf8InName", file("{" + entry("\xc0\xaf") + "}", 12), "",
       "UTF-8"},
      {"SurrogateUtf8InName", file("{" + entry("\xed\xa0\x80") + "}", 12), "",
       "UTF-8"},
      {"LoneSurrogateEscape", file("{" + entry("\\ud800") + "}", 12), "",
       "strict JSON"},
      {"DeepNesting", file("{\"a\":" + std::string(100000, '[') + "}"), "a",
       "expected an object with dtype, shape and data_offsets, got an array"},
      {"DeepObjects", file("{\"a\":{\"shape\":" + std::string(5000, '{') + "}"),
       "a", "expected an array for shape, got an object"},

      // Names.
      {"DuplicateName", file("{" + a + "," + a + "}", 12), "",
       "every name once, got \"a\" twice"},
      {"DuplicateNameByEscape",
       file("{" + a + "," + entry("\\u0061", 12, 24) + "}", 24), "",
       "got \"a\" twice"},
      {"DuplicateMetadata", file("{\"__metadata__\":{},\"__metadata__\":{}}"),
       "", "got \"__metadata__\" twice"},

      // Entries.
      {"EntryIsNull", file("{\"a\":null}"), "a", "got null"},
      {"EntryIsString", file("{\"a\":\"F32\"}"), "a", "got the string \"F32\""},
      {"NoDType", file("{\"a\":{\"shape\":[],\"data_offsets\":[0,4]}}", 4), "a",
       "got no dtype"},
      {"NoShape", file("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4),
       "a", "got no shape"},
      {"NoOffsets", file("{\"a\":{\"dtype\":\"F32\",\"shape\":[]}}", 4), "a",
       "got no data_offsets"},
      {"UnknownKey",
       file("{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"offsets\":[0,4]}}", 4),
       "a", "got the key \"offsets\""},
      {"DuplicateKey",
       file("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[],"
            "\"data_offsets\":[0,4]}}",
            4),
       "a", "got \"dtype\" twice"},
      {"UnknownDType", file("{" + entry("a", 0, 3, "[3]", "F8_E4M3") + "}", 3),
       "a", "got \"F8_E4M3\""},
      {"LowerCaseDType", file("{" + entry("a", 0, 12, "[3]", "f32") + "}", 12),
       "a", "got \"f32\""},
      {"DTypeIsNumber",
       file("{\"a\":{\"dtype\":32,\"shape\":[],\"data_offsets\":[0,4]}}", 4),
       "a", "a string for dtype, got 32"},
      {"ShapeIsNumber", file("{" + entry("a", 0, 12, "3") + "}", 12), "a",
       "an array for shape, got 3"},
      {"ExtentIsNegative", file("{" + entry("a", 0, 12, "[-3]") + "}", 12), "a",
       "got -3"},
      {"ExtentIsNegativeZero", file("{" + entry("a", 0, 0, "[-0]") + "}"), "a",
       "an extent, an integer"},
      {"ExtentIsFloat", file("{" + entry("a", 0, 12, "[3.0]") + "}", 12), "a",
       "got 3.0"},
      {"ExtentIsExponent", file("{" + entry("a", 0, 12, "[3e0]") + "}", 12),
       "a", "got 3e0"},
      {"ExtentIsString", file("{" + entry("a", 0, 12, "[\"3\"]") + "}", 12),
       "a", "got the string \"3\""},
      {"ExtentIsNested", file("{" + entry("a", 0, 12, "[[3]]") + "}", 12), "a",
       "got an array"},
      {"ExtentIsTwoTo63",
       file("{" + entry("a", 0, 12, "[9223372036854775808]") + "}", 12), "a",
       "got 9223372036854775808"},
      {"ExtentIsTwoTo64",
       file("{" + entry("a", 0, 12, "[18446744073709551616]") + "}", 12), "a",
       "got 18446744073709551616"},
      {"OneOffset",
       file("{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0]}}"),
       "a", "two integers, got 1"},
      {"ThreeOffsets",
       file("{\"a\":{\"dtype\":\"U8\",\"shape\":[0],"
            "\"data_offsets\":[0,0,0]}}"),
       "a", "two integers, got more"},
      {"OffsetIsFloat",
       file("{\"a\":{\"dtype\":\"U8\",\"shape\":[0],"
            "\"data_offsets\":[0,0.0]}}"),
       "a", "a byte offset, an integer"},
      {"OffsetIsTwoTo63",
       file("{\"a\":{\"dtype\":\"U8\",\"shape\":[0],"
            "\"data_offsets\":[0,9223372036854775808]}}"),
       "a", "a byte offset, an integer"},

      // Sizes.
      {"OffsetsReversed", file("{" + entry("a", 12, 0) + "}", 12), "a",
       "begin <= end, got 12 and 0"},
      {"TooFewBytesForShape", file("{" + entry("a", 0, 8) + "}", 8), "a",
       "expected 12 bytes for shape [3] of F32, got 8"},
      {"TooManyBytesForShape", file("{" + entry("a", 0, 16) + "}", 16), "a",
       "expected 12 bytes for shape [3] of F32, got 16"},
      {"BytesForEmptyShape", file("{" + entry("a", 0, 4, "[0]") + "}", 4), "a",
       "expected 0 bytes for shape [0]"},
      {"SizeOverflows64Bits",
       file("{" + entry("a", 0, 0, "[4294967296,4294967296]") + "}"), "a",
       "less than 2^63 bytes, got [4294967296, 4294967296]"},
      {"SizeOverflowsByElement",
       file("{" + entry("a", 0, 0, "[4611686018427387904]") + "}"), "a",
       "less than 2^63 bytes"},
      {"SizeOverflowsBesideZero",
       file("{" + entry("a", 0, 0, "[0,4294967296,4294967296]") + "}"), "a",
       "less than 2^63 bytes"},
      {"EndPastFile", file("{" + a + "}", 11), "a",
       "within the 11 bytes that the file has for tensors, got 12"},
      {"Truncated", file("{" + a + "," + entry("b", 12, 24) + "}", 12), "b",
       "within the 12 bytes"},
      {"Overlap", file("{" + a + "," + entry("b", 8, 20) + "}", 20), "b",
       "begin at 12, got an overlap from 8"},
      {"SameBytes", file("{" + a + "," + entry("b", 0, 12) + "}", 12), "b",
       "begin at 12, got an overlap from 0"},
      {"EmptyTensorInsideAnother",
       file("{" + a + "," + entry("b", 4, 4, "[0]") + "}", 12), "b",
       "got an overlap from 4"},
      {"Hole", file("{" + a + "," + entry("b", 16, 28) + "}", 28), "b",
       "begin at 12, got a hole up to 16"},
      {"HoleAtBeginning", file("{" + entry("a", 4, 16) + "}", 16), "a",
       "begin at 0, got a hole up to 4"},
      {"EmptyTensorPastEnd", file("{" + entry("a", 4, 4, "[0]") + "}"), "a",
       "within the 0 bytes"},
      {"TrailingBytes", file("{" + a + "}", 13), "",
       "no bytes after the last tensor, got 1"},
      {"BytesWithoutTensors", file("{}", 1), "", "no bytes after", 10},

      // Metadata.
      {"MetadataIsString", file("{\"__metadata__\":\"x\"}"), "",
       "an object for __metadata__"},
      {"MetadataValueIsNumber", file("{\"__metadata__\":{\"x\":1}}"), "",
       "a string in __metadata__, got 1"},
      {"MetadataValueIsObject", file("{\"__metadata__\":{\"x\":{}}}"), "",
       "a string in __metadata__, got an object"},
      {"DuplicateMetadataKey",
       file("{\"__metadata__\":{\"x\":\"\",\"x\":\"\"}}"), "",
       "got \"x\" twice"},
  };
  return files;
}

class BadFiles : public testing::TestWithParam<BadFile> {};

TEST_P(BadFiles, AreRefused) {
  const BadFile &bad = GetParam();
  Expected<File> result =
      read(std::as_bytes(std::span(bad.bytes)), "in.safetensors");
  ASSERT_FALSE(result);
  const Error &error = result.error();
  EXPECT_EQ(error.file, "in.safetensors");
  EXPECT_EQ(error.tensor, bad.tensor) << error.str();
  EXPECT_NE(error.message.find(bad.messagePart), std::string::npos)
      << error.str();
  ASSERT_TRUE(error.offset) << error.str();
  EXPECT_LE(*error.offset, bad.bytes.size());
  if (bad.offset)
    EXPECT_EQ(*error.offset, *bad.offset);
  // One printable line, whatever the bytes.
  for (char c : error.str())
    EXPECT_TRUE(c >= 0x20 && c < 0x7f) << error.str();
}

INSTANTIATE_TEST_SUITE_P(Named, BadFiles, testing::ValuesIn(badFiles()),
                         [](const auto &info) { return info.param.name; });

/// The offset of an error inside the header is that of the offending token.
TEST(BadFileOffsets, PointAtTheToken) {
  std::string bytes = file("{\"a\":{\"dtype\":\"F99\"}}");
  Expected<File> result = read(std::as_bytes(std::span(bytes)));
  ASSERT_FALSE(result);
  EXPECT_EQ(*result.error().offset, bytes.find("F99") + 3);
}

/// Every prefix of a good file is a bad file.
TEST(BadFilePrefixes, AreRefused) {
  std::string bytes =
      file("{" + entry("a") + "," + entry("b", 12, 12, "[2,0]") + "}   ", 12);
  ASSERT_TRUE(read(std::as_bytes(std::span(bytes))));
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(read(std::as_bytes(std::span(bytes).first(length)))) << length;
}

/// No change of one byte of the header makes the reader crash or hand out
/// memory that the file does not have.
TEST(BadFileMutations, KeepTheReaderInside) {
  std::string good = file("{\"__metadata__\":{\"k\":\"v\"}," + entry("a") +
                              "," + entry("b", 12, 36, "[2,3]") + "}",
                          36);
  for (size_t at = 0; at + 36 < good.size(); ++at)
    for (int value = 0; value < 256; ++value) {
      std::string bytes = good;
      bytes[at] = char(value);
      Expected<File> result = read(std::as_bytes(std::span(bytes)));
      if (!result)
        continue;
      size_t total = 0;
      for (const Tensor &tensor : result->tensors()) {
        ASSERT_EQ(tensor.data.size(),
                  size_t(elementsOf(tensor) * bytesOf(tensor.dtype)));
        for (std::byte byte : tensor.data)
          ASSERT_EQ(byte, std::byte{1});
        total += tensor.data.size();
      }
      ASSERT_EQ(total, 36u);
    }
}

/// A file may be longer than memory without taking any space itself.
TEST(BadFileSizes, BeyondMemoryAreRefused) {
  Folder folder;
  const uint64_t bytes = uint64_t(1) << 42;
  const std::string header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[" +
                             std::to_string(bytes) + "],\"data_offsets\":[0," +
                             std::to_string(bytes) + "]}}";
  writeAll(folder / "in", file(header));
  ASSERT_EQ(
      ::truncate((folder / "in").c_str(), off_t(8 + header.size() + bytes)), 0);
  Expected<File> result = read(folder / "in");
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("expected memory for " +
                                        std::to_string(bytes) + " bytes"),
            std::string::npos)
      << result.error().str();
}

} // namespace

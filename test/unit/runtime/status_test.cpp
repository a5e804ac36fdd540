//===- status_test.cpp - Messages and growing structs ---------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Checked.h"
#include "kvc/Base/Struct.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

using namespace kvc;

TEST(Status, EveryCodeHasANameOfItsOwn) {
  std::vector<std::string> names;
  for (int code = 0; code <= KVC_WAIT; ++code)
    names.push_back(kvc_status_name(static_cast<kvc_status>(code)));
  for (size_t i = 0; i < names.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_NE(names[i], names[j]);
  EXPECT_LT(names.size(), 10u);
  EXPECT_STREQ(kvc_status_name(static_cast<kvc_status>(99)), "unknown status");
  EXPECT_STRNE(kvc_version(), "");
}

TEST(Status, MessageIsCutAndItsLengthTold) {
  char text[8] = "";
  kvc_diag diag = KVC_DIAG_INIT(text);
  EXPECT_EQ(fail(&diag, KVC_STALE, "%s", "0123456789"), KVC_STALE);
  EXPECT_STREQ(text, "0123456");
  EXPECT_EQ(diag.length, 10u);
}

TEST(Status, MessageMayHaveNoRoomOrNoBuffer) {
  EXPECT_EQ(fail(nullptr, KVC_FAILED, "x"), KVC_FAILED);
  kvc_diag none = {sizeof(kvc_diag), nullptr, 0, 0};
  EXPECT_EQ(fail(&none, KVC_FAILED, "four"), KVC_FAILED);
  EXPECT_EQ(none.length, 4u);
  char text[4] = "abc";
  kvc_diag old = {sizeof(size_t), text, sizeof(text), 7};
  EXPECT_EQ(fail(&old, KVC_FAILED, "four"), KVC_FAILED);
  EXPECT_STREQ(text, "abc");
  EXPECT_EQ(old.length, 7u);
}

TEST(Status, NoExceptionLeavesACall) {
  char text[128] = "";
  kvc_diag diag = KVC_DIAG_INIT(text);
  EXPECT_EQ(guarded(&diag, []() -> kvc_status { throw std::bad_alloc(); }),
            KVC_FAILED);
  EXPECT_NE(std::string(text).find("memory"), std::string::npos);
  EXPECT_EQ(guarded(&diag, []() -> kvc_status { throw 1; }), KVC_FAILED);
}

namespace {
struct Growing {
  size_t struct_size;
  int64_t first, second;
};
} // namespace

TEST(Struct, ShorterOnesAreZeroBehindTheirEnd) {
  Growing given = {sizeof(size_t) + sizeof(int64_t), 5, 6};
  Growing read;
  EXPECT_EQ(readStruct(&given, "x", nullptr, read), KVC_OK);
  EXPECT_EQ(read.first, 5);
  EXPECT_EQ(read.second, 0);
  Growing target = {sizeof(size_t) + sizeof(int64_t), 0, 9};
  EXPECT_EQ(writeStruct(Growing{0, 1, 2}, "x", nullptr, &target), KVC_OK);
  EXPECT_EQ(target.first, 1);
  EXPECT_EQ(target.second, 9) << "the caller has no such field";
  EXPECT_EQ(target.struct_size, sizeof(size_t) + sizeof(int64_t));
}

TEST(Struct, LongerOnesMustSayNothingNew) {
  struct Newer {
    Growing known;
    int64_t third;
  } given = {{sizeof(Newer), 1, 2}, 0};
  Growing read;
  char text[128] = "";
  kvc_diag diag = KVC_DIAG_INIT(text);
  EXPECT_EQ(readStruct(&given.known, "x", &diag, read), KVC_OK);
  given.third = 1;
  EXPECT_EQ(readStruct(&given.known, "x", &diag, read), KVC_UNSUPPORTED);
  EXPECT_NE(std::string(text).find("byte 24"), std::string::npos) << text;
  Newer target = {{sizeof(Newer), 0, 0}, 7};
  EXPECT_EQ(writeStruct(Growing{0, 1, 2}, "x", &diag, &target.known), KVC_OK);
  EXPECT_EQ(target.third, 0);
}

TEST(Struct, SizeMustBeSet) {
  Growing given = {0, 1, 2}, read = {1, 1, 1};
  EXPECT_EQ(readStruct(&given, "x", nullptr, read), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(read.first, 1);
  EXPECT_EQ(readStruct<Growing>(nullptr, "x", nullptr, read),
            KVC_INVALID_ARGUMENT);
  EXPECT_EQ(writeStruct(given, "x", nullptr, &given), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(writeStruct<Growing>(given, "x", nullptr, nullptr),
            KVC_INVALID_ARGUMENT);
}

TEST(Struct, SizeThatWasNeverSetIsRefused) {
  // Reading or clearing that much would leave the caller's memory.
  Growing given = {SIZE_MAX, 1, 2}, read = {1, 3, 3};
  EXPECT_EQ(readStruct(&given, "x", nullptr, read), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(read.first, 3);
  EXPECT_EQ(writeStruct(read, "x", nullptr, &given), KVC_INVALID_ARGUMENT);
  EXPECT_EQ(given.first, 1);
  given.struct_size = kMaxStructBytes + 1;
  EXPECT_EQ(writeStruct(read, "x", nullptr, &given), KVC_INVALID_ARGUMENT);
}

TEST(Checked, RemembersAWrapOnTheWay) {
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  EXPECT_TRUE((Checked(3) * 4 + 5).isValid());
  EXPECT_EQ((Checked(3) * 4 + 5).get(), 17);
  EXPECT_FALSE((Checked(largest) + 1).isValid());
  EXPECT_FALSE((Checked(largest) * 2 * 0).isValid());
  EXPECT_EQ((Checked(largest) * 2).saturated(), largest);
  EXPECT_EQ(divideCeil(largest, 2), largest / 2 + 1);
}

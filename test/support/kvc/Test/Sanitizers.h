//===- Sanitizers.h - What tests know of their build ------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Whether this is compiled for AddressSanitizer, as 0 or 1; and how often a
// test of random values repeats itself there.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_TEST_SANITIZERS_H
#define KVC_TEST_SANITIZERS_H

#if defined(__SANITIZE_ADDRESS__)
#define KVC_TEST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KVC_TEST_ASAN 1
#endif
#endif
#ifndef KVC_TEST_ASAN
#define KVC_TEST_ASAN 0
#endif

namespace kvc::test {

/// `count` values, or an eighth of them where each takes several times as long:
/// the other builds look at results, this one at accesses.
constexpr int fewerUnderAsan(int count) {
  return KVC_TEST_ASAN ? (count + 7) / 8 : count;
}

} // namespace kvc::test

#endif // KVC_TEST_SANITIZERS_H

//===- Parse.h - The parts of the parser and verifier -----------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// Reading a section checks what its JSON alone can say (types, words, ranges,
// keys that exclude each other); verifying checks the values against each
// other. Both stop at the first error and return false then.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SPEC_PARSE_H
#define KVC_SPEC_PARSE_H

#include "kvc/Spec/Reader.h"

namespace kvc::spec {

/// Smallest and largest channels per head.
inline constexpr int64_t kMinChannels = 16, kMaxChannels = 576;

/// Who owns a scheme; decides whether rope may stand in it.
enum class SchemeOwner : uint8_t { Key, Value, Any };

bool readAttention(const JsonValue &value, const std::string &path,
                   Attention &out, Diagnosis &diagnosis);
bool readIO(const JsonValue &value, const std::string &path, IO &out,
            Diagnosis &diagnosis);
/// `channels` of the tensor, 0 if unknown.
bool readScheme(const JsonValue &value, const std::string &path,
                SchemeOwner owner, int64_t channels, Scheme &out,
                Diagnosis &diagnosis);
bool readSegments(const JsonValue &value, const std::string &path,
                  Segments &out, Diagnosis &diagnosis);
bool readLayout(const JsonValue &value, const std::string &path, Layout &out,
                Diagnosis &diagnosis);

bool verifyAttention(const Attention &attention, const std::string &path,
                     Diagnosis &diagnosis);
/// `channels` of the tensor, 0 if unknown: then rules that need it are left
/// out.
bool verifyScheme(const Scheme &scheme, const std::string &path,
                  int64_t channels, Diagnosis &diagnosis);
/// The rules of one part, whose begin and end are set (both 0 if unknown).
bool verifyPart(const PartScheme &part, const std::string &path,
                Diagnosis &diagnosis);
bool verifyLayout(const Layout &layout, const std::string &path,
                  Diagnosis &diagnosis);
/// Rules between sections: segments and layout against schemes and attention.
bool verifySections(const Spec &spec, Diagnosis &diagnosis);

} // namespace kvc::spec

#endif // KVC_SPEC_PARSE_H

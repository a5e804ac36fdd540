//===- Convert.cpp - Element types and what must be finite ----------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Base/Checked.h"
#include "kvc/Base/Diag.h"
#include "kvc/Run/Floats.h"
#include "kvc/Run/Rows.h"

#include <cstring>

using namespace kvc;

//===----------------------------------------------------------------------===//
// Finite
//===----------------------------------------------------------------------===//

namespace {

/// Index of the first element with a full exponent, or `count`. Whole runs are
/// looked at first, without a branch per element.
template <typename Bits>
int64_t firstNonFinite(const Bits *data, int64_t count, Bits exponent) {
  constexpr int64_t run = 1024;
  for (int64_t begin = 0; begin < count; begin += run) {
    int64_t end = std::min(begin + run, count);
    bool isBad = false;
    for (int64_t i = begin; i < end; ++i)
      isBad |= (data[i] & exponent) == exponent;
    if (!isBad)
      continue;
    for (int64_t i = begin; i < end; ++i)
      if ((data[i] & exponent) == exponent)
        return i;
  }
  return count;
}

int64_t firstNonFinite(const void *data, spec::DType dtype, int64_t count) {
  switch (dtype) {
  case spec::DType::F32:
    return firstNonFinite(static_cast<const uint32_t *>(data), count,
                          kExponentF32);
  case spec::DType::F16:
    return firstNonFinite(static_cast<const uint16_t *>(data), count,
                          kExponentF16);
  default:
    return firstNonFinite(static_cast<const uint16_t *>(data), count,
                          kExponentBF16);
  }
}

/// "NaN", "inf" or "-inf".
const char *describe(const void *data, spec::DType dtype, int64_t index) {
  uint32_t bits;
  if (dtype == spec::DType::F32)
    std::memcpy(&bits, static_cast<const uint32_t *>(data) + index, 4);
  else if (dtype == spec::DType::F16)
    bits = widenF16(static_cast<const uint16_t *>(data)[index]);
  else
    bits = uint32_t(static_cast<const uint16_t *>(data)[index]) << 16;
  if (bits & 0x7FFFFF)
    return "NaN";
  return bits >> 31 ? "-inf" : "inf";
}

} // namespace

kvc_status kvc::checkRows(const Rows &rows, int64_t begin, int64_t end,
                          kvc_diag *diag) {
  bool isDense = rows.headStride == rows.channels &&
                 rows.tokenStride == rows.heads * rows.channels;
  int64_t step = isDense ? end - begin : 1;
  int64_t heads = isDense ? 1 : rows.heads;
  int64_t run = isDense ? step * rows.tokenStride : rows.channels;
  for (int64_t token = begin; token < end; token += step)
    for (int64_t head = 0; head < heads; ++head) {
      const char *data =
          rows.token(token) + head * rows.headStride * bytesOf(rows.dtype);
      int64_t bad = firstNonFinite(data, rows.dtype, run);
      if (bad == run)
        continue;
      int64_t element = (token * rows.heads + head) * rows.channels + bad;
      return fail(diag, KVC_INVALID_DATA,
                  "%s[%lld, %lld, %lld]: expected a finite number, got %s",
                  rows.name,
                  static_cast<long long>(element / rows.channels / rows.heads),
                  static_cast<long long>(element / rows.channels % rows.heads),
                  static_cast<long long>(element % rows.channels),
                  describe(data, rows.dtype, bad));
    }
  return KVC_OK;
}

kvc_status kvc::checkPerHead(const char *name, const float *data, int64_t heads,
                             bool allowsMinusInfinity, kvc_diag *diag) {
  if (!data)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "%s: expected %lld numbers, got null", name,
                static_cast<long long>(heads));
  for (int64_t head = 0; head < heads; ++head) {
    uint32_t bits;
    std::memcpy(&bits, data + head, sizeof(bits));
    if ((bits & kExponentF32) != kExponentF32 ||
        (allowsMinusInfinity && bits == (0x80000000 | kExponentF32)))
      continue;
    return fail(diag, KVC_INVALID_DATA,
                "%s[%lld]: expected a finite number%s, got %s", name,
                static_cast<long long>(head),
                allowsMinusInfinity ? " or -inf" : "",
                describe(data, spec::DType::F32, head));
  }
  return KVC_OK;
}

kvc_status kvc::resolveRows(const void *data, int64_t tokenStride,
                            int64_t headStride, int64_t tokens, kvc_diag *diag,
                            Rows &rows) {
  int64_t bytes = bytesOf(rows.dtype);
  if (tokens > 0 && !data)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "%s: expected %lld tokens, got null", rows.name,
                static_cast<long long>(tokens));
  if (reinterpret_cast<uintptr_t>(data) % uintptr_t(bytes) != 0)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "%s: expected an address that is a multiple of %lld, got %p",
                rows.name, static_cast<long long>(bytes), data);
  if (tokenStride < 0 || headStride < 0)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "%s: expected strides of at least 0, got %lld and %lld",
                rows.name, static_cast<long long>(tokenStride),
                static_cast<long long>(headStride));
  rows.data = static_cast<char *>(const_cast<void *>(data));
  rows.headStride = headStride ? headStride : rows.channels;
  rows.tokenStride = tokenStride ? tokenStride : rows.heads * rows.channels;
  Checked size = (Checked(rows.tokenStride) * tokens +
                  Checked(rows.headStride) * rows.heads) *
                 bytes;
  if (!size.isValid())
    return fail(diag, KVC_INVALID_ARGUMENT,
                "%s: expected strides within 2^63 bytes, got %lld and %lld",
                rows.name, static_cast<long long>(tokenStride),
                static_cast<long long>(headStride));
  return KVC_OK;
}

//===----------------------------------------------------------------------===//
// Convert
//===----------------------------------------------------------------------===//

namespace {

kvc_status floatType(const char *what, kvc_dtype dtype, kvc_diag *diag,
                     spec::DType &type) {
  switch (dtype) {
  case KVC_F32:
    type = spec::DType::F32;
    return KVC_OK;
  case KVC_F16:
    type = spec::DType::F16;
    return KVC_OK;
  case KVC_BF16:
    type = spec::DType::BF16;
    return KVC_OK;
  default:
    return fail(diag, KVC_INVALID_ARGUMENT,
                "%s: expected KVC_F32, KVC_F16 or KVC_BF16, got %d", what,
                static_cast<int>(dtype));
  }
}

kvc_status checkFinite(const char *name, const void *data, spec::DType dtype,
                       int64_t count, kvc_diag *diag) {
  if (!name)
    name = "input";
  if (count < 0 || (count > 0 && !data))
    return fail(diag, KVC_INVALID_ARGUMENT,
                "%s: expected data of at least 0 elements, got %lld%s", name,
                static_cast<long long>(count), data ? "" : " at null");
  if (count == 0)
    return KVC_OK;
  int64_t bad = firstNonFinite(data, dtype, count);
  if (bad == count)
    return KVC_OK;
  return fail(diag, KVC_INVALID_DATA,
              "%s[%lld]: expected a finite number, got %s", name,
              static_cast<long long>(bad), describe(data, dtype, bad));
}

template <typename From, typename To, typename Function>
void mapElements(const void *source, void *target, int64_t count,
                 Function function) {
  auto *from = static_cast<const From *>(source);
  auto *to = static_cast<To *>(target);
  for (int64_t i = 0; i < count; ++i)
    to[i] = function(from[i]);
}

/// Calls `use` with the function that widens elements of `from` to f32 bits and
/// with one of their bits.
template <typename Use>
void withWidening(spec::DType from, Use &&use) {
  if (from == spec::DType::F32)
    use([](uint32_t bits) { return bits; }, uint32_t());
  else if (from == spec::DType::F16)
    use([](uint16_t bits) { return widenF16(bits); }, uint16_t());
  else
    use([](uint16_t bits) { return uint32_t(bits) << 16; }, uint16_t());
}

void convert(const void *source, spec::DType from, int64_t count,
             spec::DType to, void *target) {
  withWidening(from, [&](auto widen, auto bits) {
    using From = decltype(bits);
    if (to == spec::DType::F32)
      mapElements<From, uint32_t>(source, target, count, widen);
    else if (to == spec::DType::F16)
      mapElements<From, uint16_t>(source, target, count, [&](From element) {
        return narrowF16(widen(element));
      });
    else
      mapElements<From, uint16_t>(source, target, count, [&](From element) {
        return narrowBF16(widen(element));
      });
  });
}

} // namespace

extern "C" kvc_status kvc_check_finite(const char *name, const void *data,
                                       kvc_dtype dtype, int64_t count,
                                       kvc_diag *diag) {
  spec::DType type{};
  KVC_TRY(floatType("dtype", dtype, diag, type));
  return checkFinite(name, data, type, count, diag);
}

extern "C" kvc_status kvc_convert(const char *name, const void *source,
                                  kvc_dtype from, int64_t count, kvc_dtype to,
                                  kvc_diag *diag, void *target) {
  spec::DType fromType{}, toType{};
  KVC_TRY(floatType("from", from, diag, fromType));
  KVC_TRY(floatType("to", to, diag, toType));
  KVC_TRY(checkFinite(name, source, fromType, count, diag));
  if (count > 0 && !target)
    return fail(diag, KVC_INVALID_ARGUMENT,
                "target: expected room for %lld elements, got null",
                static_cast<long long>(count));
  if (fromType != toType)
    convert(source, fromType, count, toType, target);
  else if (source != target && count > 0)
    std::memcpy(target, source, size_t(count * bytesOf(toType)));
  return KVC_OK;
}

//===- ZeroedArray.h - Arrays that cost what is touched ---------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_MANAGE_ZEROEDARRAY_H
#define KVC_MANAGE_ZEROEDARRAY_H

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace kvc::manage {

/// A fixed number of zeros. Large ones come from the system as zero pages, so
/// what is known of blocks that were never taken costs addresses only.
template <typename T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  ZeroedArray() = default;
  explicit ZeroedArray(int64_t count)
      : data(static_cast<T *>(std::calloc(size_t(count) + 1, sizeof(T)))) {
    if (!data)
      throw std::bad_alloc();
  }

  T &operator[](int64_t index) { return data.get()[index]; }
  const T &operator[](int64_t index) const { return data.get()[index]; }

private:
  struct Free {
    void operator()(T *memory) const { std::free(memory); }
  };
  std::unique_ptr<T[], Free> data;
};

} // namespace kvc::manage

#endif // KVC_MANAGE_ZEROEDARRAY_H

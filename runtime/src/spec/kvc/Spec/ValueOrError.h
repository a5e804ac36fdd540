//===- ValueOrError.h - What a function that may fail gives -----*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SPEC_VALUEORERROR_H
#define KVC_SPEC_VALUEORERROR_H

#include <utility>
#include <variant>

namespace kvc {

/// Either a value or why there is none. Each library has an error of its own
/// that says where; it names its `Expected<T>` an alias of this.
template <typename T, typename E>
class [[nodiscard]] ValueOrError {
public:
  ValueOrError(T value) : storage(std::in_place_index<0>, std::move(value)) {}
  ValueOrError(E error) : storage(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return storage.index() == 0; }
  T &operator*() { return std::get<0>(storage); }
  const T &operator*() const { return std::get<0>(storage); }
  T *operator->() { return &std::get<0>(storage); }
  const T *operator->() const { return &std::get<0>(storage); }
  const E &error() const { return std::get<1>(storage); }

private:
  std::variant<T, E> storage;
};

} // namespace kvc

#endif // KVC_SPEC_VALUEORERROR_H

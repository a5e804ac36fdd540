//===- Types.cpp - The types of PTX ---------------------------------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Sim/Syntax/Types.h"

#include <iterator>

using namespace kvc::sim;

namespace {

struct TypeRow {
  std::string_view name;
  TypeKind kind;
  unsigned bits;
};

constexpr TypeRow kTypeRows[] = {
    {"", TypeKind::None, 0},
#define KVC_SIM_TYPE(id, text, kind, bits) {text, TypeKind::kind, bits},
#include "kvc/Sim/Syntax/Types.def"
#undef KVC_SIM_TYPE
};

const TypeRow &rowOf(Type type) { return kTypeRows[static_cast<size_t>(type)]; }

/// Whether values of these kinds may share a register, sizes aside.
bool kindsAgree(Type used, Type held) {
  if (kindOf(held) == TypeKind::Bits)
    return kindOf(used) != TypeKind::Predicate;
  switch (kindOf(used)) {
  case TypeKind::Bits:
    return kindOf(held) != TypeKind::Predicate;
  case TypeKind::Unsigned:
  case TypeKind::Signed:
    return isInteger(held);
  case TypeKind::Float:
  case TypeKind::Predicate:
    return used == held;
  case TypeKind::Sub:
  case TypeKind::Packed:
  case TypeKind::Alternate:
  case TypeKind::None:
    return false;
  }
  return false;
}

} // namespace

std::string_view kvc::sim::nameOf(Type type) { return rowOf(type).name; }
TypeKind kvc::sim::kindOf(Type type) { return rowOf(type).kind; }
unsigned kvc::sim::bitsOf(Type type) { return rowOf(type).bits; }

std::optional<Type> kvc::sim::typeNamed(std::string_view name) {
  for (size_t i = 1; i < std::size(kTypeRows); ++i)
    if (kTypeRows[i].name == name)
      return static_cast<Type>(i);
  return std::nullopt;
}

bool kvc::sim::isInteger(Type type) {
  return kindOf(type) == TypeKind::Unsigned || kindOf(type) == TypeKind::Signed;
}

bool kvc::sim::isFundamental(Type type) {
  switch (kindOf(type)) {
  case TypeKind::Predicate:
  case TypeKind::Bits:
  case TypeKind::Unsigned:
  case TypeKind::Signed:
  case TypeKind::Float:
    return true;
  default:
    return false;
  }
}

Type kvc::sim::bitsType(unsigned bits) {
  switch (bits) {
  case 8:
    return Type::B8;
  case 16:
    return Type::B16;
  case 32:
    return Type::B32;
  case 64:
    return Type::B64;
  case 128:
    return Type::B128;
  default:
    return Type::None;
  }
}

Type kvc::sim::twiceAsWide(Type type) {
  switch (type) {
  case Type::U16:
    return Type::U32;
  case Type::S16:
    return Type::S32;
  case Type::U32:
    return Type::U64;
  default:
    return Type::S64;
  }
}

bool kvc::sim::fits(Type used, Type held) {
  return bitsOf(used) == bitsOf(held) && kindsAgree(used, held);
}

bool kvc::sim::fitsWider(Type used, Type held) {
  // A wider register holds an extended value, which is no float of its size.
  if (kindOf(held) == TypeKind::Float && bitsOf(held) != bitsOf(used) &&
      kindOf(used) != TypeKind::Bits)
    return false;
  return bitsOf(used) <= bitsOf(held) && kindsAgree(used, held);
}

//===- Parser.h - From text to a module as written --------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SIM_SYNTAX_PARSER_H
#define KVC_SIM_SYNTAX_PARSER_H

#include "kvc/Sim/Syntax/Syntax.h"

namespace kvc::sim {

/// Bytes of a text that the parser takes.
inline constexpr size_t kMaxTextBytes = size_t(1) << 30;
/// Blocks inside of blocks, and parentheses inside of parentheses.
inline constexpr unsigned kMaxNesting = 64;
/// Extents of an array.
inline constexpr unsigned kMaxExtents = 8;
/// Bytes of a variable.
inline constexpr uint64_t kMaxVariableBytes = uint64_t(1) << 40;

/// Reads one module. Never throws on account of the text, and needs no stack in
/// proportion to it.
Expected<Module> parseModule(std::string text);

} // namespace kvc::sim

#endif // KVC_SIM_SYNTAX_PARSER_H

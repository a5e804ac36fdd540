//===- Names.h - The words of a spec ----------------------------*- C++ -*-===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//
//
// How enumerators are spelled, once for reading and for printing.
//
//===----------------------------------------------------------------------===//

#ifndef KVC_SPEC_NAMES_H
#define KVC_SPEC_NAMES_H

#include "kvc/Spec/Spec.h"

namespace kvc::spec {

template <typename T>
struct Named {
  std::string_view name;
  T value;
};

/// The element types of queries, outputs and raw codecs.
inline constexpr Named<DType> kElementNames[] = {
    {"f16", DType::F16}, {"bf16", DType::BF16}, {"f32", DType::F32}};
inline constexpr Named<DType> kScaleTypeNames[] = {{"f16", DType::F16},
                                                   {"bf16", DType::BF16},
                                                   {"f32", DType::F32},
                                                   {"e8m0", DType::E8M0},
                                                   {"e4m3", DType::E4M3}};
inline constexpr Named<Zero> kZeroNames[] = {{"none", Zero::None},
                                             {"min", Zero::Min},
                                             {"code", Zero::Code},
                                             {"mid", Zero::Mid}};
inline constexpr Named<Estimate> kEstimateNames[] = {
    {"amax", Estimate::Amax},
    {"signed", Estimate::Signed},
    {"rms", Estimate::Rms}};
inline constexpr Named<CodesFrom> kCodesFromNames[] = {
    {"stored", CodesFrom::Stored}, {"exact", CodesFrom::Exact}};
inline constexpr Named<Round> kRoundNames[] = {
    {"even", Round::Even}, {"away", Round::Away}, {"up", Round::Up}};
inline constexpr Named<ScaleRound> kScaleRoundNames[] = {
    {"down", ScaleRound::Down}, {"up", ScaleRound::Up}};
inline constexpr Named<LayoutKind> kLayoutKindNames[] = {
    {"contiguous", LayoutKind::Contiguous},
    {"paged", LayoutKind::Paged},
    {"ring", LayoutKind::Ring}};
inline constexpr Named<Order> kOrderNames[] = {{"nhd", Order::Nhd},
                                               {"hnd", Order::Hnd},
                                               {"auto", Order::Auto},
                                               {"ggml", Order::Ggml},
                                               {"token", Order::Token}};
inline constexpr Named<bool> kMaskNames[] = {{"causal", true}, {"none", false}};
inline constexpr Named<bool> kRopeStyleNames[] = {{"half", false},
                                                  {"pairs", true}};

/// A codec without its table.
struct CodecEntry {
  CodecKind kind;
  unsigned bits; ///< 0 for a lut: its table says.
  DType raw = DType::F16;
};
inline constexpr Named<CodecEntry> kCodecNames[] = {
    {"f32", {CodecKind::Raw, 32, DType::F32}},
    {"f16", {CodecKind::Raw, 16, DType::F16}},
    {"bf16", {CodecKind::Raw, 16, DType::BF16}},
    {"int8", {CodecKind::Int, 8}},
    {"int7", {CodecKind::Int, 7}},
    {"int6", {CodecKind::Int, 6}},
    {"int5", {CodecKind::Int, 5}},
    {"int4", {CodecKind::Int, 4}},
    {"int3", {CodecKind::Int, 3}},
    {"int2", {CodecKind::Int, 2}},
    {"fp8_e4m3", {CodecKind::FP8E4M3, 8}},
    {"fp8_e5m2", {CodecKind::FP8E5M2, 8}},
    {"fp4_e2m1", {CodecKind::FP4E2M1, 4}},
    {"lut", {CodecKind::Lut, 0}}};

/// The name of `value` in a table; empty if it has none.
template <typename T, size_t N>
constexpr std::string_view nameIn(const Named<T> (&table)[N], T value) {
  for (const Named<T> &entry : table)
    if (entry.value == value)
      return entry.name;
  return {};
}

} // namespace kvc::spec

#endif // KVC_SPEC_NAMES_H

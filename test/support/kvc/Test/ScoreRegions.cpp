//===- ScoreRegions.cpp - Score regions and what they compute -------------===//
//
// Part of kvc.
//
//===----------------------------------------------------------------------===//

#include "kvc/Test/ScoreRegions.h"

#include <cmath>
#include <limits>

using namespace kvc;
using namespace kvc::test;

namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

constexpr ScoreCase kCases[] = {
    {"HeadBias", R"(
       %distance = arith.subi %query, %key : i32
       %distance_f = arith.sitofp %distance : i32 to f32
       %one = arith.constant 1 : i32
       %next = arith.addi %head, %one : i32
       %next_f = arith.sitofp %next : i32 to f32
       %unit = arith.constant -0.015625 : f32
       %slope = arith.mulf %next_f, %unit : f32
       %bias = arith.mulf %distance_f, %slope : f32
       %result = arith.addf %score, %bias : f32)",
     [](double score, int64_t query, int64_t key, int64_t head, int64_t) {
       return score - double((query - key) * (head + 1)) / 64;
     }},
    {"Documents", R"(
       %size = arith.constant 37 : i32
       %of_query = arith.floordivsi %query, %size : i32
       %of_key = arith.floordivsi %key, %size : i32
       %same = arith.cmpi eq, %of_query, %of_key : i32
       %masked = arith.constant 0xFF800000 : f32
       %result = arith.select %same, %score, %masked : f32)",
     [](double score, int64_t query, int64_t key, int64_t, int64_t) {
       return floorDiv(query, 37) == floorDiv(key, 37) ? score : kMasked;
     }},
    // Every third query sees nothing, in odd heads all see nothing before
    // key 5.
    {"EmptyRows", R"(
       %three = arith.constant 3 : i32
       %one = arith.constant 1 : i32
       %zero = arith.constant 0 : i32
       %five = arith.constant 5 : i32
       %third = arith.remsi %query, %three : i32
       %off = arith.cmpi eq, %third, %one : i32
       %odd = arith.andi %head, %one : i32
       %is_odd = arith.cmpi ne, %odd, %zero : i32
       %early = arith.cmpi slt, %key, %five : i32
       %cut = arith.andi %is_odd, %early : i1
       %any = arith.ori %off, %cut : i1
       %masked = arith.constant 0xFF800000 : f32
       %result = arith.select %any, %masked, %score : f32)",
     [](double score, int64_t query, int64_t key, int64_t head, int64_t) {
       return query % 3 == 1 || (head % 2 == 1 && key < 5) ? kMasked : score;
     }},
    {"Tanh", R"(
       %half = arith.constant 0.5 : f32
       %two = arith.constant 2.0 : f32
       %kv = arith.sitofp %kv_head : i32 to f32
       %scaled = arith.mulf %score, %half : f32
       %curved = math.tanh %scaled : f32
       %wide = arith.mulf %curved, %two : f32
       %result = arith.addf %wide, %kv : f32)",
     [](double score, int64_t, int64_t, int64_t head, int64_t group) {
       const int64_t kvHead = head / group;
       return 2 * std::tanh(score / 2) + double(kvHead);
     }},
    {"KeysAlone", R"(
       %unit = arith.constant 0.125 : f32
       %key_f = arith.sitofp %key : i32 to f32
       %angle = arith.mulf %key_f, %unit : f32
       %sine = math.sin %angle : f32
       %floor = math.floor %angle : f32
       %rest = arith.subf %angle, %floor : f32
       %root = math.sqrt %rest : f32
       %two = arith.constant 2 : i32
       %shifted = arith.shrsi %key, %two : i32
       %mixed = arith.xori %shifted, %key : i32
       %one = arith.constant 1 : i32
       %bit = arith.andi %mixed, %one : i32
       %bit_f = arith.uitofp %bit : i32 to f32
       %a = arith.addf %sine, %root : f32
       %b = arith.addf %a, %bit_f : f32
       %result = arith.addf %score, %b : f32)",
     [](double score, int64_t, int64_t key, int64_t, int64_t) {
       double angle = double(key) / 8;
       return score + std::sin(angle) + std::sqrt(angle - std::floor(angle)) +
              double(((key >> 2) ^ key) & 1);
     }},
    {"Constant", R"(
       %result = arith.constant 0.75 : f32)",
     [](double, int64_t, int64_t, int64_t, int64_t) { return 0.75; }},
    {"QueriesAlone", R"(
       %four = arith.constant 4 : i32
       %up = arith.ceildivsi %query, %four : i32
       %result = arith.sitofp %up : i32 to f32)",
     [](double, int64_t query, int64_t, int64_t, int64_t) {
       return double(-floorDiv(-query, 4));
     }},
};

} // namespace

std::string ScoreCase::text() const {
  return std::string("score(%score: f32, %query: i32, %key: i32, %head: i32, "
                     "%kv_head: i32) {") +
         operations + "\n  kvc.yield %result : f32\n}";
}

ScoreRegion ScoreCase::region(const spec::Attention &attention) const {
  return [function = function, group = attention.group()](
             double score, int64_t query, int64_t key, int64_t head) {
    return function(score, query, key, head, group);
  };
}

std::span<const ScoreCase> kvc::test::scoreCases() { return kCases; }

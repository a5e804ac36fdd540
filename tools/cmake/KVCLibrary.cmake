# How every target of the project is declared: warnings, sanitizers, include roots.

add_library(kvc_options INTERFACE)
target_compile_options(kvc_options INTERFACE -Wall -Wextra -Wno-unused-parameter -ffp-contract=off)
# GCC 12 reports overlaps inside of std::string's own concatenation, values that
# it cannot follow through an early return, and the `if` inside GoogleTest's macros.
target_compile_options(kvc_options INTERFACE
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-maybe-uninitialized;-Wno-dangling-else;-Wno-array-bounds;-Wno-stringop-overflow>")
if(KVC_PRECOMPILED_HEADERS)
  # Times in them would make ccache miss.
  target_compile_options(kvc_options INTERFACE
    "SHELL:$<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-Xclang -fno-pch-timestamp>")
endif()
if(KVC_ENABLE_WERROR)
  target_compile_options(kvc_options INTERFACE -Werror)
endif()
if(KVC_ENABLE_SANITIZERS)
  target_compile_options(kvc_options INTERFACE -fsanitize=${KVC_ENABLE_SANITIZERS} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(kvc_options INTERFACE -fsanitize=${KVC_ENABLE_SANITIZERS})
  if(KVC_BUILD_FUZZERS)
    # Everywhere: headers are precompiled for code of one kind of instrumentation.
    target_compile_options(kvc_options INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fsanitize=fuzzer-no-link>")
  endif()
endif()

# For code that takes longer to compile than it runs: tests, and under sanitizers
# the command line.
add_library(kvc_unoptimised INTERFACE)
target_link_libraries(kvc_unoptimised INTERFACE kvc_options)
target_compile_options(kvc_unoptimised INTERFACE -O0)

# kvc_precompile(NAME FOR kind HEADERS .. [LINK ..]): compiles these headers once
# for all targets of a kind, which share their flags; the first one asks for it.
# Off by default, so that a file that lacks an include does not compile.
function(kvc_precompile name)
  cmake_parse_arguments(ARG "" "FOR" "HEADERS;LINK" ${ARGN})
  if(NOT KVC_PRECOMPILED_HEADERS)
    return()
  endif()
  set(owner kvc_headers_${ARG_FOR})
  if(NOT TARGET ${owner})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${owner}.cpp CONTENT "int main() { return 0; }\n")
    get_target_property(type ${name} TYPE)
    if(type STREQUAL "EXECUTABLE")
      add_executable(${owner} EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/${owner}.cpp)
    else()
      add_library(${owner} OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/${owner}.cpp)
    endif()
    target_link_libraries(${owner} PRIVATE ${ARG_LINK} kvc_options)
    target_precompile_headers(${owner} PRIVATE ${ARG_HEADERS})
  endif()
  target_precompile_headers(${name} REUSE_FROM ${owner})
endfunction()

# kvc_add_library(NAME SRCS .. LINK ..): a static library of the LLVM-free part.
function(kvc_add_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SRCS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} PRIVATE kvc_options)
  kvc_precompile(${name} FOR library HEADERS
    <algorithm> <array> <bit> <charconv> <cmath> <cstring> <functional> <limits> <map> <memory> <mutex>
    <optional> <set> <span> <sstream> <string> <string_view> <unordered_map> <variant> <vector>)
endfunction()

# kvc_add_compiler_library(NAME ROOT dir SRCS .. DEPENDS .. LINK ..): a static
# library of the compiler; ROOT is the top folder that is its include root.
function(kvc_add_compiler_library name)
  cmake_parse_arguments(ARG "" "ROOT" "SRCS;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SRCS})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/${ARG_ROOT} ${PROJECT_BINARY_DIR}/${ARG_ROOT})
  target_link_libraries(${name} PUBLIC kvc_llvm ${ARG_LINK} PRIVATE kvc_options)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  kvc_precompile(${name} FOR compiler LINK kvc_llvm HEADERS
    <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/Math/IR/Math.h>
    <mlir/Dialect/MemRef/IR/MemRef.h> <mlir/Dialect/SCF/IR/SCF.h> <mlir/Dialect/Vector/IR/VectorOps.h>
    <mlir/IR/ImplicitLocOpBuilder.h> <mlir/IR/PatternMatch.h> <mlir/IR/TypeUtilities.h> <mlir/Pass/Pass.h>
    <llvm/ADT/STLExtras.h> <llvm/ADT/StringExtras.h> <llvm/ADT/TypeSwitch.h>)
endfunction()

# kvc_add_unit_test(NAME SRCS .. LINK ..): a GoogleTest program, one ctest entry
# per program so that the closing count stays readable.
function(kvc_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "SRCS;LINK" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} kvc_unoptimised GTest::gtest_main)
  # For headers that need none of the support's libraries.
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/test/support)
  target_compile_definitions(${name} PRIVATE KVC_TEST_DATA="${PROJECT_SOURCE_DIR}/test/data")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test-bin)
  kvc_precompile_test(${name})
  add_test(NAME ${name} COMMAND ${name})
endfunction()

# kvc_precompile_test(NAME): of a GoogleTest program.
function(kvc_precompile_test name)
  kvc_precompile(${name} FOR tests LINK kvc_unoptimised GTest::gtest nlohmann_json::nlohmann_json HEADERS
    <gtest/gtest.h> <nlohmann/json.hpp> <algorithm> <array> <cmath> <cstring> <filesystem> <fstream> <functional>
    <map> <optional> <random> <set> <span> <sstream> <string> <string_view> <variant> <vector>)
endfunction()

# kvc_has_threads(TEST program): a test whose code runs in several threads. Under
# ThreadSanitizer no other test can tell anything.
add_custom_target(kvc_threaded_tests)
function(kvc_has_threads test program)
  set_property(TEST ${test} APPEND PROPERTY LABELS threads)
  add_dependencies(kvc_threaded_tests ${program})
endfunction()

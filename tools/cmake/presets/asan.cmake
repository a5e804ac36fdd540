# Everything without LLVM under AddressSanitizer and UndefinedBehaviorSanitizer, with the fuzzers.
include(${CMAKE_CURRENT_LIST_DIR}/clang.cmake)
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(KVC_BUILD_COMPILER OFF CACHE BOOL "")
set(KVC_BUILD_FUZZERS ON CACHE BOOL "")
set(KVC_ENABLE_SANITIZERS "address,undefined" CACHE STRING "")

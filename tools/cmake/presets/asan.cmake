# Everything without LLVM under AddressSanitizer and UndefinedBehaviorSanitizer,
# with the fuzzers; and kernels, instrumented too, by the compiler of the release
# build, if that is there.
include(${CMAKE_CURRENT_LIST_DIR}/sanitizers.cmake)
set(KVC_BUILD_COMPILER OFF CACHE BOOL "")
cmake_path(SET kvc_jit_library NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../../build/release/lib/libkvc_jit.so")
set(KVC_COMPILER_LIBRARY ${kvc_jit_library} CACHE FILEPATH "")
set(KVC_BUILD_FUZZERS ON CACHE BOOL "")
set(KVC_ENABLE_SANITIZERS "address,undefined" CACHE STRING "")

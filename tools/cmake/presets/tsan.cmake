# Everything without LLVM under ThreadSanitizer.
include(${CMAKE_CURRENT_LIST_DIR}/clang.cmake)
set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "")
set(KVC_BUILD_COMPILER OFF CACHE BOOL "")
set(KVC_ENABLE_SANITIZERS "thread" CACHE STRING "")

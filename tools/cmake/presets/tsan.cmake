# Everything without LLVM under ThreadSanitizer.
include(${CMAKE_CURRENT_LIST_DIR}/sanitizers.cmake)
set(KVC_BUILD_COMPILER OFF CACHE BOOL "")
set(KVC_ENABLE_SANITIZERS "thread" CACHE STRING "")

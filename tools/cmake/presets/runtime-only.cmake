# The runtime and its tools on a machine without LLVM, by the system's gcc.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
set(CMAKE_BUILD_TYPE Release CACHE STRING "")
set(CMAKE_C_COMPILER gcc CACHE STRING "")
set(CMAKE_CXX_COMPILER g++ CACHE STRING "")
set(KVC_BUILD_COMPILER OFF CACHE BOOL "")
# Nor is it looked for where there is one.
set(CMAKE_DISABLE_FIND_PACKAGE_LLVM ON CACHE BOOL "")
set(CMAKE_DISABLE_FIND_PACKAGE_MLIR ON CACHE BOOL "")

# The whole project, optimised.
include(${CMAKE_CURRENT_LIST_DIR}/clang.cmake)
set(CMAKE_BUILD_TYPE Release CACHE STRING "")

# clang 22 where it is installed, else the system's default compiler.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
find_program(clang_program clang-22)
find_program(clangxx_program clang++-22)
if(clang_program AND clangxx_program)
  set(CMAKE_C_COMPILER ${clang_program} CACHE FILEPATH "")
  set(CMAKE_CXX_COMPILER ${clangxx_program} CACHE FILEPATH "")
endif()

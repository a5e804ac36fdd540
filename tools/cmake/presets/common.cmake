# What every kind of build shares. Used by tools/build through `cmake -C`.
find_program(ccache_program ccache)
if(ccache_program)
  set(CMAKE_C_COMPILER_LAUNCHER ${ccache_program} CACHE STRING "")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ccache_program} CACHE STRING "")
endif()
set(KVC_ENABLE_WERROR ON CACHE BOOL "")
set(KVC_BUILD_TESTS ON CACHE BOOL "")
set(KVC_BUILD_TOOLS ON CACHE BOOL "")

# Runs CASE of the project SOURCE; its STEP, configure or build, must fail with a
# text that matches MESSAGE.
include(${CMAKE_CURRENT_LIST_DIR}/configure.cmake)
configure(result output -D CASE=${CASE})
if(STEP STREQUAL "build")
  must_succeed(configure)
  build(result output)
endif()
if(result EQUAL 0 OR NOT output MATCHES "${MESSAGE}")
  message(FATAL_ERROR "${CASE}: expected ${STEP} to fail with \"${MESSAGE}\", got ${result} and\n${output}")
endif()

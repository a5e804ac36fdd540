# Configures and builds SOURCE, runs its PROGRAM with ARGUMENT, and compares what
# it prints with the file EXPECTED.
include(${CMAKE_CURRENT_LIST_DIR}/configure.cmake)
configure(result output)
must_succeed(configure)
build(result output)
must_succeed(build)
set(COMMAND ${SCRATCH}/${PROGRAM} ${ARGUMENT})
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# Builds and runs SOURCE with a spec, changes the spec, builds and runs it again;
# then builds once more, which compiles nothing.
include(${CMAKE_CURRENT_LIST_DIR}/configure.cmake)

set(spec ${SCRATCH}/attention.json)
set(EXPECTED ${SCRATCH}/expected.txt)
set(COMMAND ${SCRATCH}/describe)
foreach(head_dim 32 64)
  configure_file(${SOURCE}/spec.json.in ${spec} @ONLY)
  file(WRITE ${EXPECTED} "described: 5 kernels, head_dim ${head_dim}\n")
  if(head_dim EQUAL 32)
    configure(result output -D SPEC=${spec})
    must_succeed(configure)
  endif()
  build(result output)
  must_succeed(build)
  include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
endforeach()

build(result output)
must_succeed(build)
if(output MATCHES "Compiling")
  message(FATAL_ERROR "a build without changes: expected no kernels to be compiled, got ${output}")
endif()

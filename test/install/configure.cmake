# configure(result output [-D ..]..): configures SOURCE against the installation
# in PREFIX, in a fresh folder SCRATCH. build(result output): builds it. must_succeed(step)
# ends the test where the last of them failed.
file(REMOVE_RECURSE ${SCRATCH})

function(configure result output)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${SCRATCH}
            -D CMAKE_MAKE_PROGRAM=${MAKE_PROGRAM} -D CMAKE_PREFIX_PATH=${PREFIX}
            -D CMAKE_C_COMPILER=${CC} -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=Release
            "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror" "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror" ${ARGN}
    RESULT_VARIABLE rc OUTPUT_VARIABLE text ERROR_VARIABLE text)
  # Messages are wrapped where they are long.
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  set(${result} "${rc}" PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

function(build result output)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${SCRATCH} RESULT_VARIABLE rc OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  set(${result} "${rc}" PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

macro(must_succeed step)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${SOURCE}: ${step}: ${output}")
  endif()
endmacro()

# Runs COMMAND, a list, and compares what it prints with the file EXPECTED.
execute_process(COMMAND ${COMMAND} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
file(READ ${EXPECTED} expected)
if(NOT result EQUAL 0 OR NOT output STREQUAL expected)
  message(FATAL_ERROR "${COMMAND}: expected exit code 0 and\n${expected}\ngot ${result} and\n${output}${errors}")
endif()
message("${output}")

cmake_minimum_required(VERSION 3.25)

# A build step of kvc_add_kernel: compiles SPEC for TARGET by the tool KVC, and
# puts the object and its manifest into FOLDER under names that say the target
# alone, since those that the tool gives depend on what the spec says.
set(made ${FOLDER}/${TARGET}.made)
file(REMOVE_RECURSE ${made})
execute_process(COMMAND ${KVC} compile ${SPEC} --target ${TARGET} --out ${made} --json
  OUTPUT_VARIABLE report RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "kvc compile ${SPEC} --target ${TARGET}: ${result}")
endif()
foreach(index 0 1)
  string(JSON path GET ${report} 0 artefacts ${index} path)
  cmake_path(GET path EXTENSION LAST_ONLY extension)
  file(RENAME ${path} ${FOLDER}/${TARGET}${extension})
endforeach()
file(REMOVE_RECURSE ${made})

# Installs BUILD (configuration CONFIG), then moves it to PREFIX: a package must
# not remember where it was installed.
get_filename_component(scratch ${PREFIX} DIRECTORY)
file(REMOVE_RECURSE ${scratch})
set(config "")
if(CONFIG)
  set(config --config ${CONFIG})
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${scratch}/installed ${config}
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "cmake --install: ${result}")
endif()
file(RENAME ${scratch}/installed ${PREFIX})

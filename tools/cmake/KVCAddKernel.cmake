# kvc_add_kernel(NAME SPEC file [TARGETS level ..])
#
# Makes the static library NAME: the kernels of the attention that the spec file
# says, compiled ahead of time by the `kvc` tool, once per target (the names of
# `kvc compile --target`; default: all levels, so that the program runs on every
# x86-64 machine). Whoever links NAME may include "NAME.h", which declares
#
#   kvc_status NAME_table(kvc_diag *diag, const kvc_module_table **table);
#
# for kvc_module_create: the best of the targets that this machine runs, or
# KVC_UNSUPPORTED with a message where it runs none; and the table of each target
# by its own name. Everything is made at build time, again when the spec or the
# tool changes.
function(kvc_add_kernel name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "SPEC" "TARGETS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kvc_add_kernel(${name}): expected SPEC file [TARGETS level ..], got ${ARG_UNPARSED_ARGUMENTS}")
  elseif(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "kvc_add_kernel(${name}): expected a name that is an identifier of C, got \"${name}\"")
  elseif(NOT ARG_SPEC)
    message(FATAL_ERROR "kvc_add_kernel(${name}): expected SPEC file, got none")
  elseif(NOT TARGET kvc::kvc OR NOT TARGET kvc::jit)
    message(FATAL_ERROR "kvc_add_kernel(${name}): expected a kvc with its compiler, got one that was built with KVC_BUILD_COMPILER or KVC_BUILD_TOOLS off")
  endif()
  cmake_path(ABSOLUTE_PATH ARG_SPEC NORMALIZE OUTPUT_VARIABLE spec)
  get_source_file_property(is_generated ${spec} GENERATED)
  if(NOT is_generated AND NOT EXISTS ${spec})
    message(FATAL_ERROR "kvc_add_kernel(${name}): SPEC ${spec} does not exist")
  endif()
  if(NOT ARG_TARGETS)
    set(ARG_TARGETS x86-64 x86-64-v3 x86-64-v4 x86-64-v4+vnni)
  endif()
  list(REMOVE_DUPLICATES ARG_TARGETS)
  kvc_check_kernel_targets(${name} ${ARG_TARGETS})

  set(scripts ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.kvc)
  set(objects "")
  set(manifests "")
  foreach(target IN LISTS ARG_TARGETS)
    add_custom_command(OUTPUT ${folder}/${target}.o ${folder}/${target}.json
      COMMAND ${CMAKE_COMMAND} -D KVC=$<TARGET_FILE:kvc::kvc> -D SPEC=${spec} -D TARGET=${target} -D FOLDER=${folder}
              -P ${scripts}/KVCCompileKernel.cmake
      DEPENDS ${spec} $<TARGET_FILE:kvc::kvc> ${scripts}/KVCCompileKernel.cmake
      COMMENT "Compiling ${ARG_SPEC} for ${target}"
      VERBATIM)
    list(APPEND objects ${folder}/${target}.o)
    list(APPEND manifests ${folder}/${target}.json)
  endforeach()

  set(header ${folder}/include/${name}.h)
  set(source ${folder}/${name}.c)
  add_custom_command(OUTPUT ${header} ${source}
    COMMAND ${CMAKE_COMMAND} -D NAME=${name} -D SPEC=${spec} "-DTARGETS=${ARG_TARGETS}" -D FOLDER=${folder}
            -P ${scripts}/KVCChooseKernel.cmake
    DEPENDS ${manifests} ${scripts}/KVCChooseKernel.cmake
    COMMENT "Making ${name}.h"
    VERBATIM)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "C" IN_LIST languages)
    set_source_files_properties(${source} PROPERTIES LANGUAGE CXX)
  endif()

  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  add_library(${name} STATIC ${source} ${header} ${objects})
  target_include_directories(${name} PUBLIC ${folder}/include)
  target_link_libraries(${name} PUBLIC kvc::headers)
endfunction()

# Asks an installed tool about targets, by the messages of a call that reads no
# file before it looks at them; one that is built with the project speaks later.
function(kvc_check_kernel_targets name)
  get_target_property(is_imported kvc::kvc IMPORTED)
  if(NOT is_imported)
    return()
  endif()
  get_target_property(tool kvc::kvc LOCATION)
  foreach(target IN LISTS ARGN)
    execute_process(COMMAND ${tool} compile ${CMAKE_CURRENT_BINARY_DIR}/${name}.kvc/none.json
                            --target ${target} --emit obj --out ${CMAKE_CURRENT_BINARY_DIR}/${name}.kvc/none
      OUTPUT_QUIET ERROR_VARIABLE message RESULT_VARIABLE result)
    if(message MATCHES "error: --emit: ")
      message(FATAL_ERROR "kvc_add_kernel(${name}): TARGETS: expected host targets, got ${target}")
    elseif(message MATCHES "error: --target: ([^\n]*)")
      message(FATAL_ERROR "kvc_add_kernel(${name}): TARGETS: ${CMAKE_MATCH_1}")
    endif()
  endforeach()
endfunction()

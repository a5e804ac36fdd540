cmake_minimum_required(VERSION 3.25)

# A build step of kvc_add_kernel: from the manifests of TARGETS in FOLDER makes
# NAME.h, which declares their tables, and NAME.c, which picks one by the machine.
cmake_path(GET SPEC FILENAME spec_file)
string(TOUPPER ${NAME} guard)

# By what a target is, "host" is one of the others. A level's name begins with the
# name of a level below it, so this order is from the highest level to the
# lowest; "portable" comes last. The blank is below all characters of names.
set(ordered "")
foreach(target IN LISTS TARGETS)
  file(READ ${FOLDER}/${target}.json manifest)
  string(JSON level GET ${manifest} target name)
  list(APPEND ordered "${level} ${target}")
endforeach()
list(SORT ordered COMPARE NATURAL ORDER DESCENDING)
list(TRANSFORM ordered REPLACE "^.* " "" OUTPUT_VARIABLE TARGETS)

set(declarations "")
set(choices "")
set(levels "")
set(symbols "")
set(runs_everywhere FALSE)
foreach(target IN LISTS TARGETS)
  file(READ ${FOLDER}/${target}.json manifest)
  string(JSON level GET ${manifest} target name)
  string(JSON needs_count LENGTH ${manifest} target needs)
  string(JSON symbol GET ${manifest} symbols 1)
  if(symbol IN_LIST symbols)
    message(FATAL_ERROR "kvc_add_kernel(${NAME}): TARGETS has ${level} twice: \"host\" is ${level} on this machine")
  endif()
  list(APPEND symbols ${symbol})
  list(APPEND levels ${level})
  string(APPEND declarations "\n/** ${level} */\nextern const kvc_module_table ${symbol};\n")

  set(conditions "")
  while(needs_count GREATER 0)
    math(EXPR needs_count "${needs_count} - 1")
    string(JSON need GET ${manifest} target needs ${needs_count})
    list(PREPEND conditions "__builtin_cpu_supports(\"${need}\")")
  endwhile()
  list(JOIN conditions " &&\n      " conditions)
  if(runs_everywhere)
    continue()
  elseif(conditions)
    string(APPEND choices "  if (${conditions}) {\n    *table = &${symbol};\n    return KVC_OK;\n  }\n")
  else()
    string(APPEND choices "  *table = &${symbol};\n  return KVC_OK;\n")
    set(runs_everywhere TRUE)
  endif()
endforeach()

list(JOIN levels ", " levels)
if(NOT runs_everywhere)
  string(APPEND choices "  return kvc_fail(diag, KVC_UNSUPPORTED, \"${NAME}: expected a machine of level ${levels}; got one below\");\n")
endif()

file(WRITE ${FOLDER}/include/${NAME}.h
"/* Made by kvc_add_kernel from ${spec_file}. */

#ifndef KVC_KERNEL_${guard}_H_
#define KVC_KERNEL_${guard}_H_

#include \"kvc/kernel_abi.h\"
#include \"kvc/status.h\"

#ifdef __cplusplus
extern \"C\" {
#endif
${declarations}
/** The best of these tables that this machine runs, for kvc_module_create.
 *  KVC_UNSUPPORTED where it runs none of them. */
kvc_status ${NAME}_table(kvc_diag *diag, const kvc_module_table **table);

#ifdef __cplusplus
}
#endif

#endif /* KVC_KERNEL_${guard}_H_ */
")

file(WRITE ${FOLDER}/${NAME}.c
"/* Made by kvc_add_kernel from ${spec_file}. */

#include \"${NAME}.h\"

#include <string.h>

static kvc_status kvc_fail(kvc_diag *diag, kvc_status status, const char *message) {
  size_t length = strlen(message), copied;
  if (!diag || diag->struct_size < sizeof(kvc_diag))
    return status;
  diag->length = length;
  if (diag->message && diag->capacity > 0) {
    copied = length < diag->capacity ? length : diag->capacity - 1;
    memcpy(diag->message, message, copied);
    diag->message[copied] = '\\0';
  }
  return status;
}

kvc_status ${NAME}_table(kvc_diag *diag, const kvc_module_table **table) {
  if (!table)
    return kvc_fail(diag, KVC_INVALID_ARGUMENT, \"${NAME}_table: expected a pointer, got null\");
  __builtin_cpu_init();
${choices}}
")

# cmake -D FOLDER=presets -D OUTPUT=PresetTable.cpp -P KVCEmbedPresets.cmake
#
# Writes the presets of a folder, NAME.json each, as a C++ table in the order of
# their names. What a list of presets shows is taken out here, so that listing
# them reads no JSON at run time; runtime/src/spec/presets/README.md says what
# the files hold.

foreach(variable FOLDER OUTPUT)
  if(NOT DEFINED ${variable})
    message(FATAL_ERROR "KVCEmbedPresets: expected -D ${variable}=.., got none")
  endif()
endforeach()

file(GLOB files "${FOLDER}/*.json")
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" text)
  set(fields "R\"kvc(${name})kvc\"")
  foreach(key title source good_for)
    string(JSON value ERROR_VARIABLE error GET "${text}" ${key})
    if(error)
      message(FATAL_ERROR "${file}: expected the string \"${key}\": ${error}")
    endif()
    string(APPEND fields ", R\"kvc(${value})kvc\"")
  endforeach()
  string(JSON scheme ERROR_VARIABLE no_scheme GET "${text}" scheme)
  string(JSON spec ERROR_VARIABLE no_spec GET "${text}" spec)
  if(no_scheme AND NOT no_spec)
    set(top true)
  elseif(no_spec AND NOT no_scheme)
    set(top false)
  else()
    message(FATAL_ERROR "${file}: expected either \"scheme\" or \"spec\", got ${no_scheme} and ${no_spec}")
  endif()
  string(APPEND entries "    {${fields}, ${top}, R\"kvc(${text})kvc\"},\n")
endforeach()

file(WRITE "${OUTPUT}"
"//===- PresetTable.cpp - Made from runtime/src/spec/presets ---------------===//

#include \"kvc/Spec/Presets.h\"

using namespace kvc::spec;

static constexpr Preset kPresets[] = {
${entries}};

std::span<const Preset> kvc::spec::presets() { return kPresets; }
")

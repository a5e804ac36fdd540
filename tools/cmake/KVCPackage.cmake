# What other projects get: names with `kvc::` in front, here and installed, and
# the CMake package that find_package(kvc) reads.
include(KVCAddKernel)

set(kvc_package_targets kvc_abi kvc_runtime_shared kvc_runtime_static)
set_target_properties(kvc_abi PROPERTIES EXPORT_NAME headers)
set_target_properties(kvc_runtime_shared PROPERTIES EXPORT_NAME runtime)
set_target_properties(kvc_runtime_static PROPERTIES EXPORT_NAME runtime_static)
add_library(kvc::headers ALIAS kvc_abi)
add_library(kvc::runtime ALIAS kvc_runtime_shared)
add_library(kvc::runtime_static ALIAS kvc_runtime_static)
if(KVC_BUILD_COMPILER)
  list(APPEND kvc_package_targets kvc_jit_shared)
  set_target_properties(kvc_jit_shared PROPERTIES EXPORT_NAME jit)
  add_library(kvc::jit ALIAS kvc_jit_shared)
endif()
if(TARGET kvc)
  list(APPEND kvc_package_targets kvc)
  set_target_properties(kvc PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  add_executable(kvc::kvc ALIAS kvc)
endif()

set(kvc_package_programs)
if(TARGET kvc-sim-run)
  set(kvc_package_programs kvc-sim-run kvc_cuda)
endif()

# All that `cmake --install` copies, without the tests.
add_custom_target(kvc-package DEPENDS ${kvc_package_targets} ${kvc_package_programs})

if(NOT KVC_INSTALL)
  return()
endif()

include(CMakePackageConfigHelpers)
set(kvc_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/kvc)
install(TARGETS ${kvc_package_targets} EXPORT kvcTargets)
if(kvc_package_programs)
  # The library stays out of the way of a real one.
  install(TARGETS kvc-sim-run)
  install(TARGETS kvc_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/kvc-sim NAMELINK_SKIP)
endif()
install(EXPORT kvcTargets NAMESPACE kvc:: DESTINATION ${kvc_package_folder})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/kvc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(KVC_BUILD_COMPILER)
  install(FILES ${PROJECT_SOURCE_DIR}/codegen/include/kvc/jit.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kvc)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/kvcConfig.cmake.in ${PROJECT_BINARY_DIR}/kvcConfig.cmake
  INSTALL_DESTINATION ${kvc_package_folder})
# Before 1.0 a minor version may break what it likes.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kvcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/kvcConfig.cmake
  ${PROJECT_BINARY_DIR}/kvcConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/KVCAddKernel.cmake
  ${CMAKE_CURRENT_LIST_DIR}/KVCCompileKernel.cmake
  ${CMAKE_CURRENT_LIST_DIR}/KVCChooseKernel.cmake
  DESTINATION ${kvc_package_folder})

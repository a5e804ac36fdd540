# The runtime: static libraries, one above the other, for tools and tests, in
# order: quantise (rounding to the bit), base (statuses, spec handles), devices,
# cache, run. For everybody else all of them as one shared library and one
# archive.

kvc_add_library(kvc_quantise
  SRCS quantise/kvc/Quantise/Floats.cpp quantise/kvc/Quantise/InputRows.cpp
       quantise/kvc/Quantise/PartQuantiser.cpp quantise/kvc/Quantise/TensorQuantiser.cpp
  LINK kvc_spec)
target_include_directories(kvc_quantise PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/quantise)

kvc_add_library(kvc_base
  SRCS base/kvc/Base/Crc32c.cpp base/kvc/Base/PendingFile.cpp base/kvc/Base/PresetsAPI.cpp base/kvc/Base/SpecHandle.cpp base/kvc/Base/Status.cpp
  LINK kvc_quantise)
target_include_directories(kvc_base PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/base)
target_compile_definitions(kvc_base PRIVATE KVC_VERSION="${PROJECT_VERSION}")

find_package(Threads REQUIRED)
kvc_add_library(kvc_host
  SRCS devices/host/HostDevice.cpp devices/host/ThreadPool.cpp devices/kvc/Devices/Memory.cpp
       devices/kvc/Devices/StepTables.cpp
  LINK kvc_base Threads::Threads)
target_include_directories(kvc_host PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/devices)

# NVIDIA devices: the driver is opened at run time.
kvc_add_library(kvc_cuda_device
  SRCS devices/cuda/CudaDevice.cpp devices/cuda/Driver.cpp
  LINK kvc_base ${CMAKE_DL_LIBS})
# Its declarations of the driver's types are its own. A libcuda with checks, that
# of kvc-sim-run, would call that a call through a pointer of another type.
if(KVC_ENABLE_SANITIZERS MATCHES "undefined")
  set_source_files_properties(devices/cuda/CudaDevice.cpp devices/cuda/Driver.cpp PROPERTIES # the last options
    COMPILE_OPTIONS "$<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>")
endif()

kvc_add_library(kvc_cache
  SRCS cache/kvc/Cache/Cache.cpp cache/kvc/Cache/CacheAPI.cpp cache/kvc/Cache/DeviceTables.cpp cache/kvc/Cache/RawRows.cpp cache/kvc/Cache/Regions.cpp cache/kvc/Cache/SchemeRows.cpp
       cache/kvc/Manage/Append.cpp cache/kvc/Manage/Blocks.cpp cache/kvc/Manage/Capacity.cpp cache/kvc/Manage/Check.cpp cache/kvc/Manage/Create.cpp cache/kvc/Manage/Digest.cpp
       cache/kvc/Manage/Groups.cpp cache/kvc/Manage/ManagerAPI.cpp cache/kvc/Manage/PlanningAPI.cpp cache/kvc/Manage/Prefixes.cpp cache/kvc/Manage/Publish.cpp cache/kvc/Manage/Replay.cpp
       cache/kvc/Manage/Restore.cpp cache/kvc/Manage/Retention.cpp cache/kvc/Manage/Sequences.cpp cache/kvc/Manage/Tables.cpp cache/kvc/Manage/Trace.cpp
       cache/kvc/Saved/Layout.cpp cache/kvc/Saved/Load.cpp cache/kvc/Saved/Open.cpp cache/kvc/Saved/RowMask.cpp cache/kvc/Saved/Save.cpp
  LINK kvc_host)
# kvc::Sequence and kvc::manage::Sequence never meet in a file.
set_target_properties(kvc_cache PROPERTIES UNITY_BUILD OFF)
target_include_directories(kvc_cache PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/cache)

kvc_add_library(kvc_runtime
  SRCS run/kvc/Run/Append.cpp run/kvc/Run/Attend.cpp run/kvc/Run/Batch.cpp run/kvc/Run/Convert.cpp run/kvc/Run/DevicePlan.cpp run/kvc/Run/DeviceRun.cpp run/kvc/Run/DeviceStep.cpp
       run/kvc/Run/Items.cpp run/kvc/Run/Module.cpp run/kvc/Run/ModuleFile.cpp run/kvc/Run/Plan.cpp run/kvc/Run/Quantise.cpp run/kvc/Run/SplitPlanner.cpp run/kvc/Run/Unpack.cpp
  LINK kvc_cache ${CMAKE_DL_LIBS})
target_include_directories(kvc_runtime PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/run)

# What the shared library shows is what the public headers declare: the version
# script hides the rest, that of the standard library's templates included.
set(kvc_runtime_objects "")
foreach(library kvc_spec kvc_quantise kvc_base kvc_host kvc_cuda_device kvc_cache kvc_runtime)
  set_target_properties(${library} PROPERTIES
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  list(APPEND kvc_runtime_objects $<TARGET_OBJECTS:${library}>)
endforeach()
add_library(kvc_runtime_shared SHARED
  $<TARGET_OBJECTS:kvc_quantise> $<TARGET_OBJECTS:kvc_base> $<TARGET_OBJECTS:kvc_host> $<TARGET_OBJECTS:kvc_cuda_device> $<TARGET_OBJECTS:kvc_cache> $<TARGET_OBJECTS:kvc_runtime>)
set(kvc_runtime_exports ${CMAKE_CURRENT_SOURCE_DIR}/kvc_runtime.map)
target_link_options(kvc_runtime_shared PRIVATE LINKER:--version-script=${kvc_runtime_exports})
set_target_properties(kvc_runtime_shared PROPERTIES
  OUTPUT_NAME kvc_runtime VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
  LINKER_LANGUAGE CXX LINK_DEPENDS ${kvc_runtime_exports})
target_link_libraries(kvc_runtime_shared PUBLIC kvc_abi PRIVATE kvc_spec kvc_options Threads::Threads ${CMAKE_DL_LIBS})
if(NOT KVC_ENABLE_SANITIZERS)
  target_link_options(kvc_runtime_shared PRIVATE LINKER:-z,defs)
endif()

add_library(kvc_runtime_static STATIC ${kvc_runtime_objects})
set_target_properties(kvc_runtime_static PROPERTIES
  OUTPUT_NAME kvc_runtime LINKER_LANGUAGE CXX ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
target_link_libraries(kvc_runtime_static PUBLIC kvc_abi Threads::Threads ${CMAKE_DL_LIBS})

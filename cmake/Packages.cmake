# SPDX-License-Identifier: Apache-2.0
# All from Debian 12.

find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # As part of the program, its library reads the environment after core/base/parallel.cpp has said
  # how threads wait.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.a
                  OUTPUT_VARIABLE gomp OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(EXISTS "${gomp}")
    set(OpenMP_gomp_LIBRARY "${gomp}" CACHE FILEPATH "GCC's OpenMP library" FORCE)
  endif()
endif()
find_package(OpenMP REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(simdjson REQUIRED)

find_path(EXPECTED_INCLUDE tl/expected.hpp REQUIRED)
add_library(expected INTERFACE)
target_include_directories(expected SYSTEM INTERFACE ${EXPECTED_INCLUDE})

find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
add_library(tomlplusplus INTERFACE)
target_include_directories(tomlplusplus SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE})

find_path(XXHASH_INCLUDE xxhash.h REQUIRED)
find_library(XXHASH_LIBRARY xxhash REQUIRED)
add_library(xxhash INTERFACE)
target_include_directories(xxhash SYSTEM INTERFACE ${XXHASH_INCLUDE})
target_link_libraries(xxhash INTERFACE ${XXHASH_LIBRARY})

find_path(LIBDEFLATE_INCLUDE libdeflate.h REQUIRED)
find_library(LIBDEFLATE_LIBRARY deflate REQUIRED)
add_library(libdeflate INTERFACE)
target_include_directories(libdeflate SYSTEM INTERFACE ${LIBDEFLATE_INCLUDE})
target_link_libraries(libdeflate INTERFACE ${LIBDEFLATE_LIBRARY})

find_path(ZSTD_INCLUDE zstd.h REQUIRED)
find_library(ZSTD_LIBRARY zstd REQUIRED)
add_library(zstd INTERFACE)
target_include_directories(zstd SYSTEM INTERFACE ${ZSTD_INCLUDE})
target_link_libraries(zstd INTERFACE ${ZSTD_LIBRARY})

find_path(SECCOMP_INCLUDE seccomp.h REQUIRED)
find_library(SECCOMP_LIBRARY seccomp REQUIRED)
add_library(seccomp INTERFACE)
target_include_directories(seccomp SYSTEM INTERFACE ${SECCOMP_INCLUDE})
target_link_libraries(seccomp INTERFACE ${SECCOMP_LIBRARY})

add_library(simdjson INTERFACE)
target_link_libraries(simdjson INTERFACE simdjson::simdjson)

# Headers only: libhdf5 itself is loaded at run time by the first file that needs it.
find_path(HDF5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/serial REQUIRED)
add_library(hdf5_headers INTERFACE)
target_include_directories(hdf5_headers SYSTEM INTERFACE ${HDF5_INCLUDE})
target_compile_definitions(hdf5_headers INTERFACE H5_USE_110_API)  # later series have it, too
target_link_libraries(hdf5_headers INTERFACE ${CMAKE_DL_LIBS})

# SPDX-License-Identifier: Apache-2.0
# How all code of ours is compiled. Results must not depend on CPU or compiler habits: no fused
# multiply-add unless written, no fast-math, no -march=native.

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER  # the sloppiness lets it cache what uses a precompiled header;
      # by the depfile it knows what was included, without a preprocessor's run
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 ${CCACHE})
endif()

# A third of the build is reading these again and again. `tidy` goes without, so that an include that
# a file lacks is noticed.
# Targets of one set of flags share one: precompile(TARGET LIKE OTHER).
function(precompile target)  # further headers
  if(NOT TTCHECK_PCH)
    return()
  endif()
  if("${ARGV1}" STREQUAL LIKE)
    target_precompile_headers(${target} REUSE_FROM ${ARGV2})
  else()
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <set> <span> <string>
      <string_view> <utility> <vector> <fmt/format.h> ${ARGN})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # ccache asks for it
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)  # forgets that they are system headers
      target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow
                                               -Wno-stringop-overread)
    endif()
  endif()
endfunction()

add_library(settings INTERFACE)
target_compile_options(settings INTERFACE -ffp-contract=off -fno-math-errno
                                          -fstack-protector-strong)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # a tenth of a compile is collecting its garbage
  target_compile_options(settings INTERFACE --param=ggc-min-heapsize=1048576)
endif()
target_compile_definitions(settings INTERFACE $<$<NOT:$<CONFIG:Debug>>:_FORTIFY_SOURCE=2>
                                              _GLIBCXX_ASSERTIONS)
# To check the format strings while compiling is a tenth of the build; dev and asan do.
target_compile_definitions(settings INTERFACE $<$<CONFIG:Release>:FMT_CONSTEVAL=>)
find_program(MOLD mold)
if(MOLD)
  target_link_options(settings INTERFACE -fuse-ld=mold)
endif()
target_link_options(settings INTERFACE -Wl,-z,relro,-z,now)

set(TTCHECK_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize=")
if(TTCHECK_SANITIZE)
  target_compile_options(settings INTERFACE -fsanitize=${TTCHECK_SANITIZE}
                                            -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(settings INTERFACE -fsanitize=${TTCHECK_SANITIZE})
endif()

if(TTCHECK_FUZZ)  # so that libFuzzer sees which code of ours an input reaches
  target_compile_options(settings INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(settings INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Which code a test comes through, for script/mutants (tests/mutants/trace.cpp).
option(TTCHECK_TRACE "Instrument for script/mutants" OFF)
if(TTCHECK_TRACE)
  add_compile_options(-fsanitize-coverage=trace-pc -fdebug-prefix-map=${PROJECT_SOURCE_DIR}=.)
  add_library(trace STATIC tests/mutants/trace.cpp)
  target_link_libraries(trace PRIVATE fmt::fmt)
  set_target_properties(trace PROPERTIES COMPILE_OPTIONS "")
  target_link_libraries(settings INTERFACE trace)
endif()

# Preconditions (core/base/require.hpp) are checked wherever we work on the program.
if(TTCHECK_SANITIZE OR TTCHECK_FUZZ)
  target_compile_definitions(settings INTERFACE TTCHECK_REQUIRE)
else()
  target_compile_definitions(settings INTERFACE $<$<CONFIG:Debug>:TTCHECK_REQUIRE>)
endif()

add_library(warnings INTERFACE)
target_compile_options(warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion
                                          -Wsign-conversion -Wformat=2 -Wnon-virtual-dtor)
# Compiled together, a name within a function may be like one of another source: `dev` looks at it.
target_compile_options(warnings INTERFACE
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # GCC 12's own stable_sort uses what it deprecates
  target_compile_options(warnings INTERFACE -Wno-deprecated-declarations)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(warnings INTERFACE -Wno-restrict)  # false on `"x" + string` (GCC PR 105651)
endif()
if(TTCHECK_DEVELOPER)
  target_compile_options(warnings INTERFACE -Werror)
endif()

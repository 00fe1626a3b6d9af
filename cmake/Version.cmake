# SPDX-License-Identifier: Apache-2.0
# The source that says which version was built; written when that changes, looked at with each build.
# cmake -D SOURCE=DIR -D NUMBER=0.1.0 -D OUT=FILE -P Version.cmake
set(version ${NUMBER})
if(EXISTS ${SOURCE}/.git)  # an archive may lie in a repository of others
  execute_process(COMMAND git -C ${SOURCE} describe --tags --match v[0-9]* --abbrev=8 --dirty
                  OUTPUT_VARIABLE tagged ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(tagged MATCHES "^v(.+)$")
    set(version ${CMAKE_MATCH_1})
  else()
    execute_process(COMMAND git -C ${SOURCE} describe --always --exclude * --abbrev=8 --dirty
                    OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(commit)
      set(version ${NUMBER}+g${commit})
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY NEWLINE_STYLE UNIX CONTENT
[[#include "core/base/version.hpp"

namespace ttcheck {

std::string_view version() { return "@version@"; }

}  // namespace ttcheck
]])

# SPDX-License-Identifier: Apache-2.0
# Compiling sources together: instantiating the same templates for each source apart is a third of a
# build. Sources that name the same thing in their unnamed namespaces (each parser may have its
# `Reader`) never come together, so that no source has to know what another one calls its own.
# `dev` goes without, since there one source changes at a time; so does `tidy`.

# What a source names at the outermost level: types, constants (at any, lest one shadows another),
# functions.
function(names_of source out)
  file(READ ${source} text)
  string(REGEX MATCHALL "\n(class|struct|enum class) [A-Za-z0-9_]+" types "${text}")
  string(REGEX MATCHALL "\n *(inline |static )?const(expr)? [A-Za-z0-9_:<>,*& ]*k[A-Z][A-Za-z0-9]*" constants "${text}")
  string(REGEX MATCHALL "\n[A-Za-z][A-Za-z0-9_:<>,*& ]*[ *&][A-Za-z0-9_]+\\(" functions "${text}")
  string(REGEX MATCHALL "\nusing [A-Za-z0-9_]+ =" aliases "${text}")
  list(TRANSFORM aliases REPLACE " =$" "")
  list(TRANSFORM functions REPLACE "\\($" "")
  set(names ${types} ${aliases} ${constants} ${functions})
  list(TRANSFORM names REPLACE "^.*[ *&]" "")
  set(${out} ${names} PARENT_SCOPE)
endfunction()

function(unite target most)  # at most so many at once
  if(NOT TTCHECK_UNITY)
    return()
  endif()
  set(groups 0)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    names_of(${source} names)
    set(group 0)
    while(group LESS groups)
      list(LENGTH members_${group} size)
      set(taken ${names_${group}})
      list(REMOVE_ITEM taken ${names} "")
      list(LENGTH taken left)
      list(LENGTH names_${group} had)
      if(size LESS most AND left EQUAL had)
        break()
      endif()
      math(EXPR group "${group} + 1")
    endwhile()
    if(group EQUAL groups)
      math(EXPR groups "${groups} + 1")
    endif()
    list(APPEND members_${group} ${source})
    list(APPEND names_${group} ${names})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

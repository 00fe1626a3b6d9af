# Program, man pages and completions in place. Completions are what the program itself prints.

include(GNUInstallDirs)
install(TARGETS ttcheck RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

file(GLOB man_pages CONFIGURE_DEPENDS man/*.[1-9])
foreach(page ${man_pages})
  cmake_path(GET page EXTENSION LAST_ONLY section)
  string(SUBSTRING ${section} 1 1 section)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(completions ${PROJECT_BINARY_DIR}/completions)
set(completion_files)
foreach(shell bash zsh fish)
  add_custom_command(OUTPUT ${completions}/${shell}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${completions}
    COMMAND $<TARGET_FILE:ttcheck> completion ${shell} > ${completions}/${shell}
    DEPENDS ttcheck VERBATIM)
  list(APPEND completion_files ${completions}/${shell})
endforeach()
add_custom_target(completions ALL DEPENDS ${completion_files})
install(FILES ${completions}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME ttcheck)
install(FILES ${completions}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
        RENAME _ttcheck)
install(FILES ${completions}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
        RENAME ttcheck.fish)

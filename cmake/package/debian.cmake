# SPDX-License-Identifier: Apache-2.0
# What Debian wants beside what is installed: pages and changelogs compressed, and who may do what with it. Run by
# cpack over the tree that becomes the package.

set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
set(doc ${share}/doc/ttcheck)
set(source ${CMAKE_CURRENT_LIST_DIR}/../..)

file(COPY_FILE ${source}/CHANGELOG.md ${doc}/changelog)
string(TIMESTAMP year "%Y" UTC)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH where that is set
file(WRITE ${doc}/changelog.Debian
"ttcheck (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) stable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}; what changed is in changelog.gz.

 -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}
")

file(READ ${source}/THIRD-PARTY.md third)
string(REGEX REPLACE "^# [^\n]*\n+" "" third "${third}")
string(REGEX REPLACE "\n" "\n " third "${third}")
string(REGEX REPLACE "\n (\n|$)" "\n .\\1" third "${third}")
file(WRITE ${doc}/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ttcheck
Comment:
 ${third}
Files: *
Copyright: ${year} the ttcheck authors
License: Apache-2.0

License: Apache-2.0
 Licensed under the Apache License, Version 2.0; on Debian systems its text is in
 /usr/share/common-licenses/Apache-2.0.
")

# Not an upload to Debian's archive, where somebody would have asked for it.
file(WRITE ${share}/lintian/overrides/ttcheck "ttcheck: initial-upload-closes-no-bugs *\n")

file(GLOB pages ${share}/man/*/* ${doc}/changelog ${doc}/changelog.Debian)
execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE ${doc}/LICENSE ${doc}/THIRD-PARTY.md ${doc}/README.md)

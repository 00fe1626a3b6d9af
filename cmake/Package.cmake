# SPDX-License-Identifier: Apache-2.0
# The .deb, by cpack, of the program as it was built for this Debian. script/package makes it, and all else.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ttcheck)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "tell where two trainings of a deep-learning model diverge")
set(CPACK_PACKAGE_DESCRIPTION
    "ttcheck compares checkpoints and traces of deep-learning trainings, offline,
from the files alone: it says whether two runs are the same, differ by what
chance allows, or diverge; where first (step, op, tensor, rank, element), why,
and how sure that is. It reads safetensors, torch.save, distributed
checkpoints, Megatron, DeepSpeed, HDF5 and npy files, and traces of several
tools.")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(TTCHECK_PACKAGER "" CACHE STRING "Who makes the package, as NAME <MAIL>")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${TTCHECK_PACKAGER}")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS libhdf5-103-1)  # loaded by the first HDF5 file
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package/debian.cmake)
include(CPack)

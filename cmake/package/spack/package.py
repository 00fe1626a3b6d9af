# SPDX-License-Identifier: Apache-2.0
"""For Spack, in a repository of packages as packages/ttcheck/package.py: `spack dev-build ttcheck` in a clone."""
from spack.package import *


class Ttcheck(CMakePackage):
    """Tells where two trainings of a deep-learning model diverge, offline, from their checkpoints and traces."""

    license("Apache-2.0")

    # Built from a clone: nothing is fetched.
    version("0.1.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("cli11")
    depends_on("eigen@3.4:")
    depends_on("fmt@9:")
    depends_on("hdf5")
    depends_on("libdeflate")
    depends_on("libseccomp@2.5:")
    depends_on("nlohmann-json")
    depends_on("simdjson")
    depends_on("tl-expected")
    depends_on("tomlplusplus@3:")
    depends_on("xxhash")
    depends_on("zlib-api")
    depends_on("zstd")

    generator("ninja")

    def cmake_args(self):
        return [self.define("TTCHECK_TESTS", False)]

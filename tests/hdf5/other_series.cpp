// SPDX-License-Identifier: Apache-2.0
// In the place of the HDF5 library: one of a series that does not exist, with nothing else in it.

extern "C" int H5get_libversion(unsigned* major, unsigned* minor, unsigned* release) {
  *major = 1;
  *minor = 98;
  *release = 7;
  return 0;
}

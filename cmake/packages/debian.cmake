# SPDX-License-Identifier: Apache-2.0
# cpack --config build/release/CPackConfig.cmake: the packages dpsosp and libdpsosp-dev for Debian.
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_PACKAGE_CONTACT "The dpsosp authors")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME dpsosp)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "python3-matplotlib, python3-jinja2, python3-markdown-it")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libdpsosp-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libeigen3-dev, libboost-dev, libtbb-dev, libhwy-dev, libsqlitecpp-dev, libsqlite3-dev, nlohmann-json3-dev, libfmt-dev, \
libfftw3-dev, libssl-dev, libtomlplusplus-dev, libmsgpack-cxx-dev, libseccomp-dev, libglpk-dev, libpng-dev, libicu-dev")
# What builds an own binary.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "cmake, g++, make")
include(CPack)

# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)
get_property(modules GLOBAL PROPERTY DPSOSP_MODULES)
# An include root a module, as in the tree: what a consumer does not link, it does not find.
foreach(module ${modules})
  install(TARGETS ${module} EXPORT dpsospTargets
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dpsosp/${module})
endforeach()
install(TARGETS dpsosp)
install(EXPORT dpsospTargets NAMESPACE dpsosp:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dpsosp)
configure_package_config_file(cmake/dpsospConfig.cmake.in dpsospConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dpsosp)
write_basic_package_version_file(dpsospConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dpsospConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/dpsospConfigVersion.cmake
  cmake/FindFFTW3.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/dpsosp)

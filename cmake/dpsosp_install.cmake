# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)
get_property(modules GLOBAL PROPERTY DPSOSP_MODULES)
# An include root a module, as in the tree: what a consumer does not link, it does not find. Two
# export sets, so that an author of an algorithm needs none of the run engine's libraries.
set(libraries "")
foreach(module ${modules})
  string(REGEX REPLACE "^dpsosp_" "" name ${module})
  get_property(folder GLOBAL PROPERTY DPSOSP_FOLDER_${name})
  if(folder MATCHES "^networks/(models|training)")
    continue()  # used from the build folder alone
  endif()
  string(APPEND libraries "\"$<TARGET_FILE:${module}>\"\n  ")
  set(export dpsospTargets)
  if(folder MATCHES "^(networks|plots|experiments|checks|audit|lemmas|reproductions|report|cli)")
    set(export dpsospExperimentsTargets)
  endif()
  install(TARGETS ${module} EXPORT ${export}
    COMPONENT development
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dpsosp/${module} COMPONENT development)
endforeach()
install(TARGETS dpsosp dpsosp-guest COMPONENT program)
# `./run dpsosp` builds neither every library nor the manual page.
set(manual "")
if(NOT CMAKE_CROSSCOMPILING)
  set(manual "\"${CMAKE_BINARY_DIR}/cli/documents/dpsosp.1\"")
endif()
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/built.cmake CONTENT "\
set(needed \"$<TARGET_FILE:dpsosp>\" \"$<TARGET_FILE:dpsosp-guest>\" ${manual})
if(NOT CMAKE_INSTALL_COMPONENT STREQUAL \"program\")
  list(APPEND needed ${libraries})
endif()
foreach(file IN LISTS needed)
  if(NOT EXISTS \"\${file}\")
    message(FATAL_ERROR \"\${file} is not built; first: ./run build (or cmake --build ${CMAKE_BINARY_DIR})\")
  endif()
endforeach()
")
# Where a bundle has the libraries that a bare system lacks; elsewhere there is no such folder.
# As RPATH and not RUNPATH, which would not hold for the libraries of libraries.
set_target_properties(dpsosp dpsosp-guest PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/dpsosp-bundle")
foreach(target dpsosp dpsosp-guest)
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
endforeach()
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/dpsosp)
foreach(export dpsospTargets dpsospExperimentsTargets)
  install(EXPORT ${export} NAMESPACE dpsosp:: DESTINATION ${package} COMPONENT development)
endforeach()
configure_package_config_file(cmake/dpsospConfig.cmake.in dpsospConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(dpsospConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dpsospConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/dpsospConfigVersion.cmake
  cmake/FindFFTW3.cmake cmake/FindGLPK.cmake
  DESTINATION ${package} COMPONENT development)
# The package for authors in Python, whom `dpsosp new` sends there.
install(DIRECTORY python/dpsosp DESTINATION ${CMAKE_INSTALL_DATADIR}/dpsosp/python COMPONENT program
  PATTERN __pycache__ EXCLUDE)

# SPDX-License-Identifier: Apache-2.0
# One library and one include root a module: a header of a module that is not linked cannot be found.
# Static, or shared with -DBUILD_SHARED_LIBS=ON, where a change of one source links one library anew.

# Sources are compiled without waiting for the libraries that theirs will be linked with.
set(CMAKE_OPTIMIZE_DEPENDENCIES ON)

# What every target is compiled with. No fused multiply-add: the same source gives the same bits.
add_library(dpsosp_compile_options INTERFACE)
target_compile_features(dpsosp_compile_options INTERFACE cxx_std_20)
target_compile_options(dpsosp_compile_options INTERFACE
  -ffp-contract=off
  $<$<BOOL:${DPSOSP_NATIVE}>:-march=native>)

add_library(dpsosp_warnings INTERFACE)
target_compile_options(dpsosp_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wold-style-cast
  $<$<NOT:$<BOOL:${DPSOSP_UNITY}>>:-Wshadow>  # sources of a batch see each other's anonymous names
  -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers
  $<$<BOOL:${DPSOSP_WERROR}>:-Werror>)

# dpsosp_batches(OUT NAME SOURCES...): OUT lists sources that include these, eight each, by relative
# paths: a compiler cache knows them in every checkout. Left alone are sources in the binary folder
# and those with the property SKIP_UNITY_BUILD_INCLUSION. Most of a file's time goes to parsing the
# same headers: eight at a time take less than half of the time of one at a time. The price is that
# names in anonymous namespaces are unique within a module; the preset dev compiles sources alone.
function(dpsosp_batches out name)
  set(sources "")
  set(count 0)
  foreach(source ${ARGN})
    get_filename_component(source ${source} ABSOLUTE)
    get_source_file_property(alone ${source} SKIP_UNITY_BUILD_INCLUSION)
    cmake_path(IS_PREFIX CMAKE_BINARY_DIR ${source} generated)
    if(generated OR alone OR NOT DPSOSP_UNITY)
      list(APPEND sources ${source})
    else()
      math(EXPR batch "${count} / 8")
      math(EXPR count "${count} + 1")
      file(RELATIVE_PATH path ${CMAKE_CURRENT_BINARY_DIR}/batches ${source})
      string(APPEND text_${batch} "#include \"${path}\"\n")
    endif()
  endforeach()
  math(EXPR batches "(${count} + 7) / 8")
  foreach(batch RANGE ${batches})
    if(batch LESS batches)
      set(file ${CMAKE_CURRENT_BINARY_DIR}/batches/${name}_${batch}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text_${batch}}" @ONLY)
      list(APPEND sources ${file})
    endif()
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# dpsosp_module(NAME [SOURCES ...] [PUBLIC targets] [PRIVATE targets])
#   library dpsosp_NAME, alias dpsosp::NAME, headers below include/dpsosp/. The dpsosp:: targets
#   named are the modules whose headers its sources may include; tests/packaging keeps that exact,
#   and within what docs/design.md allows for its folder.
function(dpsosp_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  set(target dpsosp_${name})
  dpsosp_batches(sources ${name} ${ARG_SOURCES})
  add_library(${target} ${sources})
  add_library(dpsosp::${name} ALIAS ${target})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/include/*.hpp)
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${headers})
  target_link_libraries(${target}
    PUBLIC ${ARG_PUBLIC}
    PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:dpsosp_warnings> $<BUILD_INTERFACE:dpsosp_compile_options>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name}
    DEFINE_SYMBOL ""
    CXX_EXTENSIONS OFF
    POSITION_INDEPENDENT_CODE ON
    VERIFY_INTERFACE_HEADER_SETS ON)
  set_property(GLOBAL APPEND PROPERTY DPSOSP_MODULES ${target})
  foreach(kind PUBLIC PRIVATE)
    list(FILTER ARG_${kind} INCLUDE REGEX "^dpsosp::")
    list(TRANSFORM ARG_${kind} REPLACE "^dpsosp::" "")
    set_property(GLOBAL PROPERTY DPSOSP_${kind}_${name} ${ARG_${kind}})
  endforeach()
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set_property(GLOBAL PROPERTY DPSOSP_FOLDER_${name} ${folder})
endfunction()

# dpsosp_modules_below(FOLDER OUT): the dpsosp:: targets of the modules declared below FOLDER so far.
function(dpsosp_modules_below folder out)
  get_property(modules GLOBAL PROPERTY DPSOSP_MODULES)
  set(found "")
  foreach(module ${modules})
    string(REGEX REPLACE "^dpsosp_" "" name ${module})
    get_property(place GLOBAL PROPERTY DPSOSP_FOLDER_${name})
    if(place MATCHES "^${folder}/")
      list(APPEND found dpsosp::${name})
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# dpsosp_simd_sources(FILES...), before the module: sources that Highway compiles once for each instruction set by
# including them again.
function(dpsosp_simd_sources)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# dpsosp_program(NAME SOURCES ... LIBRARIES ...)
function(dpsosp_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  dpsosp_batches(sources ${name} ${ARG_SOURCES})
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} dpsosp_warnings dpsosp_compile_options)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()

# dpsosp_reproduction(KEY SOURCES ... [PRIVATE targets]): the library dpsosp_reproduction_NAME of
# one paper, NAME being KEY with underscores, with its texts built in: claims.toml,
# arguments.toml, tables.toml, exhibits.toml and sweeps/*.toml of this folder, curves.csv and provenance.csv
# of results/KEY-*, each if it is there. The program needs no files.
function(dpsosp_reproduction key)
  cmake_parse_arguments(ARG "" "" "SOURCES;PRIVATE" ${ARGN})
  string(REPLACE "-" "_" name ${key})
  file(GLOB files CONFIGURE_DEPENDS claims.toml arguments.toml tables.toml exhibits.toml sweeps/*.toml)
  # Named in the command, so that a file that is taken away is noticed, too.
  set(results ${PROJECT_SOURCE_DIR}/results)
  file(GLOB committed CONFIGURE_DEPENDS ${results}/${key}-*/curves.csv ${results}/${key}-*/provenance.csv)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/texts)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake)
  add_custom_command(OUTPUT ${out}/texts.cpp ${out}/texts.hpp
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DIN=${CMAKE_CURRENT_SOURCE_DIR} "-DCOMMITTED=${committed}" -DKEY=${key}
      -DNAME=${name} -P ${script}
    DEPENDS ${files} ${committed} ${script} VERBATIM)
  dpsosp_module(reproduction_${name}
    SOURCES ${ARG_SOURCES} ${out}/texts.cpp
    PUBLIC dpsosp::claims
    PRIVATE dpsosp::building_blocks dpsosp::core dpsosp::plots dpsosp::privacy dpsosp::problem_base dpsosp::problems dpsosp::run
      dpsosp::store dpsosp::study dpsosp::sweep
      ${ARG_PRIVATE} fmt::fmt)
  target_include_directories(dpsosp_reproduction_${name} PRIVATE ${out})
endfunction()

# dpsosp_lemmas(KEY SOURCES ... [PUBLIC targets] [PRIVATE targets]): the library dpsosp_lemmas_NAME of what one paper
# states and no private run decides.
function(dpsosp_lemmas key)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  string(REPLACE "-" "_" name ${key})
  dpsosp_module(lemmas_${name}
    SOURCES ${ARG_SOURCES}
    PUBLIC dpsosp::claims ${ARG_PUBLIC}
    PRIVATE dpsosp::building_blocks dpsosp::core dpsosp::privacy dpsosp::problem_base dpsosp::problems dpsosp::run dpsosp::study
      dpsosp::sweep ${ARG_PRIVATE} fmt::fmt)
endfunction()

# dpsosp_embed(SOURCE HEADER NAME NAMESPACE NAME TEXTS NAME=FILE...): files as strings of
# SOURCE in the binary folder, each returned by the function NAME that HEADER declares.
function(dpsosp_embed source)
  cmake_parse_arguments(ARG "" "HEADER;NAMESPACE" "TEXTS" ${ARGN})
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake)
  set(files "")
  foreach(entry IN LISTS ARG_TEXTS)
    string(REGEX REPLACE "^[^=]*=" "" file "${entry}")
    list(APPEND files ${file})
  endforeach()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${source})
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DHEADER=${ARG_HEADER} -DNAMESPACE=${ARG_NAMESPACE}
      "-DTEXTS=${ARG_TEXTS}" -P ${script}
    DEPENDS ${files} ${script} VERBATIM)
endfunction()

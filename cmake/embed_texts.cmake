# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=FOLDER -DIN=FOLDER -DCOMMITTED=FILES -DKEY=xu-2026 -DNAME=xu_2026 -P embed_texts.cmake:
# the texts of a reproduction, claims.toml, arguments.toml, tables.toml, exhibits.toml and sweeps/*.toml
# of IN, each if it is there, and of COMMITTED every curves.csv with the provenance.csv of its folder, as
# strings of the C++ source OUT/texts.cpp, declared in OUT/texts.hpp.
function(literal text out)
  set(${out} "R\"toml(${text})toml\"" PARENT_SCOPE)
endfunction()

foreach(kind claims arguments tables exhibits)
  set(text "")
  if(EXISTS ${IN}/${kind}.toml)
    file(READ ${IN}/${kind}.toml text)
  endif()
  literal("${text}" ${kind})
endforeach()
file(GLOB files ${IN}/sweeps/*.toml)
list(SORT files)
set(sweeps "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  literal("${text}" text)
  string(APPEND sweeps "      {\"${name}\", ${text}},\n")
endforeach()
set(files ${COMMITTED})
list(FILTER files INCLUDE REGEX "/curves.csv$")
list(SORT files)
set(curves "")
foreach(file IN LISTS files)
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(name ${folder} NAME)
  file(READ ${file} text)
  literal("${text}" text)
  set(provenance "")
  if(EXISTS ${folder}/provenance.csv)
    file(READ ${folder}/provenance.csv provenance)
  endif()
  literal("${provenance}" provenance)
  string(APPEND curves "      {\"${name}\", ${text}, ${provenance}},\n")
endforeach()
file(WRITE ${OUT}/texts.hpp "#pragma once
#include \"dpsosp/claims/texts.hpp\"

namespace dpsosp {
const Texts& ${NAME}_texts();
}  // namespace dpsosp
")
file(WRITE ${OUT}/texts.cpp "#include \"texts.hpp\"

#pragma GCC diagnostic ignored \"-Woverlength-strings\"  // clang's limit is 65536

namespace dpsosp {

const Texts& ${NAME}_texts() {
  static const Texts texts{
      \"${KEY}\",
      ${claims},
      ${arguments},
      ${tables},
      ${exhibits},
      {
${sweeps}      },
      {
${curves}      }};
  return texts;
}

}  // namespace dpsosp
")

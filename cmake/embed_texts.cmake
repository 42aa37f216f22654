# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=FILE.cpp -DIN=FOLDER -P embed_texts.cmake: FOLDER/sweeps/*.toml and FOLDER/claims.toml as
# strings of a C++ source.
file(GLOB files ${IN}/sweeps/*.toml)
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND entries "      {\"${name}\", R\"toml(${text})toml\"},\n")
endforeach()
file(READ ${IN}/claims.toml claims)
file(WRITE ${OUT} "#include \"claims/claims_text.hpp\"
#include \"dpsosp/experiments/sweep.hpp\"

namespace dpsosp {

const std::vector<BuiltInSweep>& built_in_sweeps() {
  static const std::vector<BuiltInSweep> sweeps{
${entries}  };
  return sweeps;
}

std::string_view claims_text() {
  return R\"toml(${claims})toml\";
}

}  // namespace dpsosp
")

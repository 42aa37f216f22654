# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=FILE.cpp -DIN=FOLDER -P embed_texts.cmake: every FOLDER/*.toml as a string of a C++ source.
file(GLOB files ${IN}/*.toml)
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND entries "      {\"${name}\", R\"toml(${text})toml\"},\n")
endforeach()
file(WRITE ${OUT} "#include \"dpsosp/experiments/sweep.hpp\"

namespace dpsosp {

const std::vector<BuiltInSweep>& built_in_sweeps() {
  static const std::vector<BuiltInSweep> sweeps{
${entries}  };
  return sweeps;
}

}  // namespace dpsosp
")

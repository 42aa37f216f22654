# SPDX-License-Identifier: Apache-2.0
# cmake -DOUT=FILE -DHEADER=NAME -DNAMESPACE=NAME -DTEXTS=NAME=FILE;... -P embed_files.cmake:
# each FILE as a string of the C++ source OUT, returned by the function NAME that HEADER declares.
# Strings are cut, since a compiler may refuse one of more than 65 536 bytes.
set(source "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\n")
foreach(entry IN LISTS TEXTS)
  string(REGEX MATCH "^([^=]*)=(.*)$" matched "${entry}")
  set(name "${CMAKE_MATCH_1}")
  set(file "${CMAKE_MATCH_2}")
  file(READ ${file} text)
  string(LENGTH "${text}" length)
  set(pieces "")
  set(start 0)
  while(start LESS length)
    string(SUBSTRING "${text}" ${start} 9000 piece)
    string(APPEND pieces "\n      R\"text(${piece})text\"")
    math(EXPR start "${start} + 9000")
  endwhile()
  string(APPEND source "std::string_view ${name}() {\n  return ${pieces};\n}\n\n")
endforeach()
file(WRITE ${OUT} "${source}}  // namespace ${NAMESPACE}\n")

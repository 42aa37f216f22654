# SPDX-License-Identifier: Apache-2.0
# cmake -DPROGRAM=dpsosp -DOUT=FOLDER -P program_documents.cmake: the manual page and the completions of
# the program, as it prints them.
file(MAKE_DIRECTORY ${OUT})
execute_process(COMMAND ${PROGRAM} help --man OUTPUT_FILE ${OUT}/dpsosp.1 COMMAND_ERROR_IS_FATAL ANY)
foreach(pair bash:dpsosp zsh:_dpsosp fish:dpsosp.fish)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 shell)
  list(GET pair 1 file)
  execute_process(COMMAND ${PROGRAM} help --completions ${shell} OUTPUT_FILE ${OUT}/${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

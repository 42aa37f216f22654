// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <string>
#include <vector>

#include "commands.hpp"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "account")
    return dpsosp::account_command({words.begin() + 1, words.end()});
  std::cerr << "usage: dpsosp account [options]; dpsosp account --help lists them\n";
  return 2;
}

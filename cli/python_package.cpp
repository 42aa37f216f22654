// SPDX-License-Identifier: Apache-2.0
#include "python_package.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

#include "dpsosp/isolation/guest_process.hpp"

namespace dpsosp {

namespace fs = std::filesystem;

std::string python_package() {
  for (const fs::path& program : {fs::read_symlink("/proc/self/exe"), guest_program()})
    for (const char* place : {"../share/dpsosp/python", "../../../python"})
      if (const fs::path folder = program.parent_path() / place;
          fs::exists(folder / "dpsosp/author.py"))
        return fs::weakly_canonical(folder).string();
  return {};
}

int draw_instead(const std::vector<std::string>& words) {
  std::string path = python_package();
  if (const char* others = std::getenv("PYTHONPATH"); others != nullptr && *others != '\0')
    path += fmt::format(":{}", others);
  ::setenv("PYTHONPATH", path.c_str(), 1);
  std::vector<std::string> command{DPSOSP_FIGURE_PYTHON, "-m", "dpsosp.draw"};
  command.insert(command.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::cout.flush();
  ::execvp(arguments.front(), arguments.data());
  std::cerr << fmt::format("figures: cannot run {} ({}); install python3-matplotlib\n",
                           command.front(),
                           std::strerror(errno));
  return 1;
}

}  // namespace dpsosp

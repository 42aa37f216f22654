// SPDX-License-Identifier: Apache-2.0
// Tables that `reproduce --check` compares: the input stands for the committed one.
#include <filesystem>
#include <fstream>

#include "dpsosp/experiments/reference.hpp"
#include "fuzz_target.hpp"

namespace dpsosp::fuzz {
namespace {

namespace fs = std::filesystem;

const std::string fresh =
    "group,method,x median,x low,x high,x n,x failed,x note,slope,verdict\r\n"
    "a,one,1.5,1,2,5,0,,\"-0.500 [-0.520, -0.480]\",as claimed\r\n"
    ",two,0.25,0.2,0.3,5,1,not_finite,\"-1.000 [-1.100, -0.900]\",\"fails, by 3 of 4\"\r\n";

}  // namespace

void read(std::string_view input) {
  read_file_with(input, [](const char* path) {
    const fs::path folder = fs::path(path).parent_path();
    for (const char* side : {"reference", "report"}) fs::create_directories(folder / side / "e");
    fs::copy_file(path, folder / "reference" / "e" / "t.csv", fs::copy_options::overwrite_existing);
    std::ofstream(folder / "report" / "e" / "t.csv") << fresh;
    check_reference(folder / "reference", folder / "report", {"e"});
  });
}

std::vector<std::string> seeds() {
  const auto with = [](const std::string& words) {
    std::string text = fresh;
    return text.replace(text.find("fails, by 3 of 4"), 16, words);
  };
  return {fresh,
          "a,b\r\n1,2\r\n",
          "group\r\na\r\n",
          "a\r\n" + std::string(1000, '\n'),
          with("fails, by \x01 of \x01"),
          with("fails, by 0.0e" + std::string(400, '9') + " of 4"),
          with("fails, by " + std::string(20'000, '3') + " of 4")};
}

}  // namespace dpsosp::fuzz

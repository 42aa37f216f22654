// SPDX-License-Identifier: Apache-2.0
// The input as each kind of file that holds CIFAR: labels, records, rows of a PNG file.
#include <array>

#include "cifar_files.hpp"
#include "fuzz_target.hpp"

namespace dpsosp::fuzz {

void read(std::string_view input) {
  using networks::ImageSet;
  read_file_with(input, [](const char* path) { networks::read_labels(path, 3, 10); });
  read_file_with(input, [](const char* path) {
    ImageSet set{.height = 2, .width = 2};
    networks::append_records(path, std::array{20, 100}, 2, 2, set);
  });
  read_file_with(input, [](const char* path) {
    ImageSet set{.height = 2, .width = 2};
    networks::append_png(path, 2, 2, set);
  });
}

std::vector<std::string> seeds() {
  using namespace std::string_literals;
  return {"[1, 2, 9]\n", "\x01\x02"s + "0123456789ab" + "\x13\x63" + "0123456789ab",
          // 4 x 2 pixels
          "\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x04\x00\x00\x00\x02\x08\x02\x00"
          "\x00\x00\xf0\xca\xea"
          "4\x00\x00\x00\x22IDATx\xda"
          "c``dbfaec\xe7\xe0\xe4\xe2"
          "fHIMK\xcf\xc8\xcc\xca\xce\xc9\xcd\xcb\x07\x00$(\x05"
          "5\x8d\xdb\x09j\x00\x00\x00\x00IEND\xae"
          "B`\x82"s};
}

}  // namespace dpsosp::fuzz

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace dpsosp::test {

/// Whether the system's Python has these modules, "numpy, pandas".
inline bool python_has(const std::string& modules) {
  const std::string command = "/usr/bin/python3 -c 'import " + modules + "' 2>/dev/null";
  return std::system(command.c_str()) == 0;
}

/// Skipped where the system's Python has no NumPy.
class WithNumpy : public testing::Test {
 protected:
  void SetUp() override {
    if (!python_has("numpy")) GTEST_SKIP() << "no NumPy for /usr/bin/python3";
  }
};

}  // namespace dpsosp::test

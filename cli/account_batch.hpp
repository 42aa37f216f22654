// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace dpsosp {

/// The rows of a file in the format of tests/data/accounting_vectors.csv, each with two more
/// columns: `answer` (shortest text of the double; empty where refused) and `status` (`ok` or
/// `unsupported: WHY`). \throws InputError naming the line, before anything is answered, if the
/// file is not in that format.
std::string account_batch(const std::string& path);

}  // namespace dpsosp

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "dpsosp/algorithms/algorithm.hpp"

namespace dpsosp {

/// Serves as the guest of an isolated run: prepares the algorithm that the host names and runs it,
/// with the host's answers behind every handle. To be called once, first thing in main().
///
/// Link this library instead of giving the algorithm a curator: it defines the handles of
/// dpsosp/privacy anew, so the program has no code that reads records.
/// The host is at the other end of the socket that DPSOSP_SOCKET names. What is written to standard
/// output and standard error is shown to whoever starts the run.
/// \param find  the algorithm of a key; throws InputError for an unknown one
/// \return the exit status
int serve_guest(const std::function<std::unique_ptr<Algorithm>(const std::string& key)>& find);

}  // namespace dpsosp

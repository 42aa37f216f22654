// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/wire/parts.hpp"

namespace dpsosp::guest {

/// The host's answer to a question, its first part next. \throws what the host's curator threw
wire::Message& answer_to_last();

/// The channel to the host; a process has one.
wire::Channel& channel();
void connect(int socket);

template <class... Parts>
wire::Message& ask(std::string_view name, const Parts&... parts) {
  channel().post(name, parts...);
  return answer_to_last();
}

/// The root curator of the run.
Curator root_curator(const PublicFacts& facts);

/// The words of the run's public coins, drawn by the host.
std::shared_ptr<const WordFeed> coins();

}  // namespace dpsosp::guest

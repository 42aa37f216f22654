// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "dpsosp/privacy/curator.hpp"
#include "dpsosp/wire/questions.hpp"

namespace dpsosp::guest {

/// The host's answer to a question, its first part next. \throws what the host's curator threw
wire::Message& answer_to_last();

/// The channel to the host; a process has one.
wire::Channel& channel();
void connect(int socket);

/// Asks what is described, with parts of the described types.
template <class... Types, class... Parts>
wire::Message& ask(const wire::Question<Types...>& question, const Parts&... parts) {
  static_assert((wire::is_part<Types, Parts> && ...));
  channel().post(question.name, parts...);
  return answer_to_last();
}

/// The root curator of the run.
Curator root_curator(const PublicFacts& facts);

/// The words of the run's public coins, drawn by the host.
std::shared_ptr<const WordFeed> coins();

}  // namespace dpsosp::guest

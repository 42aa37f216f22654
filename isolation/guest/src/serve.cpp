// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/guest/serve.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "dpsosp/core/errors.hpp"
#include "host_link.hpp"

namespace dpsosp {
namespace {

class Report final : public Observer {
 public:
  void iterate(Index t, ConstVectorRef x) override {
    guest::channel().post(wire::question::iterate.name, t, x);
  }
  void estimate(Index t, ConstVectorRef x, ConstVectorRef gradient) override {
    guest::channel().post(wire::question::estimate.name, t, x, gradient);
  }
};

void expect(wire::Message& message, std::string_view name) {
  if (message.text() != name) throw wire::Broken("the host says something else");
}

/// Before a last word, after which the host ends this process.
void flush_prints() {
  std::cout.flush();
  std::fflush(nullptr);
}

void prepare_and_run(const std::function<std::unique_ptr<Algorithm>(const std::string&)>& find) {
  wire::Channel& host = guest::channel();
  wire::Message& start = host.receive();
  expect(start, "start");
  if (const std::int64_t spoken = start.integer(); spoken != wire::version)
    throw InputError(fmt::format("it speaks version {} of the protocol, the host version {}",
                                 wire::version, spoken));
  const auto algorithm = find(wire::get<std::string>(start));
  const auto how = wire::get<Preparation>(start);
  const auto common_noise = wire::get<std::optional<double>>(start);
  wire::get<std::map<std::string, std::string>>(start);  // defaults, which the fields have
  const auto facts = wire::get<PublicFacts>(start);

  wire::Ready ready;
  ready.scheduled = prepare(*algorithm, how, facts);
  ready.rule = ready.scheduled.rule;
  ready.plan = algorithm->plan(facts);
  if (common_noise) algorithm->set_common_noise(*common_noise);
  ready.parameters = values_of(algorithm->fields());
  host.post("ready", wire::version, ready);

  expect(host.receive(), "run");
  Curator curator = guest::root_curator(facts);
  Report report;
  const Outcome outcome = algorithm->run(curator, Stream(guest::coins()), report);
  flush_prints();
  host.post("done", outcome);
  host.flush();
}

}  // namespace

int serve_guest(const std::function<std::unique_ptr<Algorithm>(const std::string& key)>& find) {
  const char* socket = std::getenv("DPSOSP_SOCKET");
  if (socket == nullptr) {
    std::fputs("DPSOSP_SOCKET is not set; `dpsosp run --program` starts this program\n", stderr);
    return 2;
  }
  guest::connect(std::atoi(socket));
  const auto fail = [](const char* kind, const char* text) {
    flush_prints();
    try {
      guest::channel().post("failed", kind, text);
      guest::channel().flush();
    } catch (const wire::Broken&) {  // nobody is left to hear it
    }
    return 1;
  };
  try {
    prepare_and_run(find);
    return 0;
  } catch (const wire::Broken& e) {
    return fail("broken", e.what());
  } catch (const InputError& e) {
    return fail("input", e.what());
  } catch (const std::exception& e) {
    return fail("exception", e.what());
  }
}

}  // namespace dpsosp

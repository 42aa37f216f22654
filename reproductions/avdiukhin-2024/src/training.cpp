// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/reproductions/training.hpp"

#include <type_traits>

#include "dpsosp/core/errors.hpp"

namespace dpsosp::avdiukhin_2024_figures {

using nlohmann::json;

void to_json(json& out, const Training& training) { out = write_json(training); }

void from_json(const json& in, Training& training) {
  training = read_json<Training>(in, {"training"});
  for_each_member(training, [](std::string_view name, const auto& value) {
    if constexpr (std::is_same_v<decltype(value), const Index&>)
      if (value < 0) reject("training", name, std::to_string(value), "an integer >= 0");
  });
}

void to_json(json& out, const TrainingResult& result) {
  out = write_json(result.summary);
  out.emplace("epochs", write_json(result.epochs));
}

void from_json(const json& in, TrainingResult& result) {
  const json* epochs = json_members::find(in, {"training result"}, "epochs");
  if (epochs == nullptr || !epochs->is_array() || epochs->empty())
    JsonPlace{"training result", "epochs"}.refuse(epochs, "an array, not empty");
  json summary = in;
  summary.erase("epochs");
  result.summary = read_json<TrainingSummary>(summary, {"training result"});
  result.epochs.clear();
  for (const json& epoch : *epochs)
    result.epochs.push_back(read_json<TrainedEpoch>(epoch, {"training result, epoch"}));
}

}  // namespace dpsosp::avdiukhin_2024_figures

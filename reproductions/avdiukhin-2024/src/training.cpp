// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/reproductions/training.hpp"

#include <algorithm>

#include "dpsosp/core/errors.hpp"
#include "dpsosp/experiments/json_number.hpp"
#include "training_members.hpp"

namespace dpsosp::avdiukhin_2024_figures {
namespace {

using nlohmann::json;

json encoded(double value) { return to_json_number(value); }
json encoded(const std::optional<double>& value) { return value ? encoded(*value) : json(nullptr); }
template <class T>
json encoded(const T& value) {
  return value;
}

/// Writes each member into `out`.
struct Encoder {
  json& out;
  template <class T>
  void operator()(const char* name, const T& value) const {
    out[name] = encoded(value);
  }
};

/// Reads each member from `in`.
class Decoder {
 public:
  Decoder(const json& in, const char* what) : in_(in), what_(what) {
    if (!in.is_object()) reject(what_, "value", in.dump(), "an object");
  }

  void operator()(const char* name, std::string& value) const {
    take(name, value, json::value_t::string, "a text");
  }
  void operator()(const char* name, bool& value) const {
    take(name, value, json::value_t::boolean, "true or false");
  }
  void operator()(const char* name, Index& value) const {
    const json& member = at(name, "an integer >= 0");
    if (!member.is_number_integer() || (member.is_number_integer() && member < 0))
      refuse(name, member, "an integer >= 0");
    value = member.get<Index>();
  }
  void operator()(const char* name, double& value) const {
    const json& member = at(name, "a number");
    try {
      value = from_json_number(member);
    } catch (const InputError&) {
      refuse(name, member, R"(a number, "nan", "inf" or "-inf")");
    }
  }
  void operator()(const char* name, std::optional<double>& value) const {
    const auto member = in_.find(name);
    value.reset();
    if (member == in_.end() || member->is_null()) return;
    (*this)(name, value.emplace());
  }

 private:
  const json& at(const char* name, const char* expected) const {
    const auto member = in_.find(name);
    if (member == in_.end()) reject(what_, name, "nothing", expected);
    return *member;
  }
  [[noreturn]] void refuse(const char* name, const json& member, const char* expected) const {
    reject(what_, name, member.dump(), expected);
  }
  template <class T>
  void take(const char* name, T& value, json::value_t kind, const char* expected) const {
    const json& member = at(name, expected);
    if (member.type() != kind) refuse(name, member, expected);
    value = member.get<T>();
  }

  const json& in_;
  const char* what_;
};

}  // namespace

void to_json(json& out, const Training& training) {
  out = json::object();
  each_member_of_training(training, Encoder{out});
}

void from_json(const json& in, Training& training) {
  each_member_of_training(training, Decoder(in, "training"));
  std::vector<std::string> names;
  each_member_of_training(training, [&](const char* name, const auto&) { names.push_back(name); });
  for (const auto& [name, unused] : in.items())
    if (std::ranges::find(names, name) == names.end())
      reject_unknown("parameter of a training run", name, names);
}

void to_json(json& out, const TrainingResult& result) {
  out = json::object();
  each_member_of_summary(result.summary, Encoder{out});
  out["epochs"] = json::array();
  for (const TrainedEpoch& epoch : result.epochs) {
    json& entry = out["epochs"].emplace_back(json::object());
    each_member_of_epoch(epoch, Encoder{entry});
  }
}

void from_json(const json& in, TrainingResult& result) {
  each_member_of_summary(result.summary, Decoder(in, "training result"));
  const auto epochs = in.find("epochs");
  if (epochs == in.end() || !epochs->is_array() || epochs->empty())
    reject("training result",
           "epochs",
           epochs == in.end() ? "nothing" : epochs->dump(),
           "an array, not empty");
  result.epochs.clear();
  for (const json& entry : *epochs) {
    const Decoder decode(entry, "training result, epoch");
    each_member_of_epoch(result.epochs.emplace_back(), decode);
  }
}

}  // namespace dpsosp::avdiukhin_2024_figures

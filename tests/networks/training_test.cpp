// SPDX-License-Identifier: Apache-2.0
// Runs of a second on images that the test writes: ten patterns with noise, in MNIST's format.
#include "dpsosp/networks/training.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../core/forked.hpp"
#include "dpsosp/algorithms/preparation.hpp"
#include "dpsosp/algorithms/registry.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/core/files.hpp"
#include "dpsosp/core/stream.hpp"
#include "dpsosp/experiments/run_key.hpp"
#include "dpsosp/networks/families.hpp"

namespace dpsosp::training_test {
namespace {

using namespace networks;
using nlohmann::json;
namespace fs = std::filesystem;

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>((value >> shift) & 255U);
  return bytes;
}

void write_patterns(const fs::path& folder, const std::string& part, Index count) {
  Stream patterns({.seed = 1, .purpose = Purpose::test});
  Stream stream({.seed = part.size(), .purpose = Purpose::test});
  std::vector<std::string> of_class(10);
  for (std::string& pattern : of_class)
    for (Index k = 0; k < 784; ++k) pattern += static_cast<char>(patterns.below(2) * 128);
  std::string images = big_endian(0x803) + big_endian(static_cast<std::uint32_t>(count)) +
                       big_endian(28) + big_endian(28);
  std::string labels = big_endian(0x801) + big_endian(static_cast<std::uint32_t>(count));
  for (Index i = 0; i < count; ++i) {
    const auto label = static_cast<std::size_t>(stream.below(10));
    labels += static_cast<char>(label);
    for (Index k = 0; k < 784; ++k)
      images += static_cast<char>(static_cast<unsigned char>(
          static_cast<unsigned char>(of_class[label][static_cast<std::size_t>(k)]) / 2 +
          stream.below(60)));
  }
  write_file(folder / (part + "-images-idx3-ubyte"), images);
  write_file(folder / (part + "-labels-idx1-ubyte"), labels);
}

class NoObserver final : public Observer {
  void iterate(Index /*t*/, ConstVectorRef /*x*/) override {}
};

class Training : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder() = fs::temp_directory_path() / ("dpsosp-training-" + std::to_string(getpid()));
    fs::create_directories(folder() / "mnist");
    write_patterns(folder() / "mnist", "train", 400);
    write_patterns(folder() / "mnist", "t10k", 200);
    setenv("DPSOSP_DATA", folder().c_str(), 1);
  }
  static void TearDownTestSuite() { fs::remove_all(folder()); }
  static fs::path& folder() {
    static fs::path path;
    return path;
  }
  static json recipe(json changes = json::object()) {
    json p{{"network", "cnn"},
           {"data", "mnist"},
           {"width", 1},
           {"normalisation", "group"},
           {"smooth", false},
           {"algorithm", "avdiukhin-2024/dp-sgd"},
           {"clip", 1.0},
           {"epsilon", 2.0},
           {"delta", 0.01},
           {"adjacency", "replace_one"},
           {"sampling", "poisson"},
           {"batch", 40},
           {"epochs", 3},
           {"step_size", 1.0},
           {"records", 400},
           {"test_records", 200},
           {"augment", false},
           {"curvature", 0},
           {"initial", ""}};
    p.update(changes);
    return p;
  }
};

TEST_F(Training, LearnsWithoutNoise) {
  const json run = train(recipe({{"epsilon", nullptr}, {"epochs", 12}, {"step_size", 4.0}}), 1);
  EXPECT_EQ(run.at("label"), "none");
  EXPECT_TRUE(run.at("epsilon_replace_one").is_null());
  const json& first = run.at("epochs").front();
  const json& last = run.at("epochs").back();
  EXPECT_LT(first.at("test_accuracy").get<double>(), 0.35);
  EXPECT_GT(last.at("test_accuracy").get<double>(), 0.7);
  EXPECT_LT(last.at("train_loss").get<double>(), first.at("train_loss").get<double>());
}

TEST_F(Training, KeepsTheBudgetThatItIsGiven) {
  const json run = train(recipe(), 1);
  EXPECT_EQ(run.at("label"), "conditional");
  EXPECT_EQ(run.at("steps"), 30);
  // The noise is calibrated by Rényi divergences; what it costs is less by loss distributions.
  EXPECT_LE(run.at("epsilon_replace_one").get<double>(), 2.0);
  EXPECT_GE(run.at("epsilon_replace_one").get<double>(), 1.0);
  EXPECT_LT(run.at("epsilon_add_remove").get<double>(), 2.0);
  EXPECT_GT(run.at("epsilon_small_delta").get<double>(),
            run.at("epsilon_replace_one").get<double>());
  EXPECT_NEAR(run.at("noise").get<double>(), run.at("multiplier").get<double>() / 40.0, 1e-12);
}

TEST_F(Training, SaysWhatAPublishedRecipeIsWorth) {
  const json nominal{{"algorithm", "avdiukhin-2024/noisy-sgd"},
                     {"adjacency", "add_remove"},
                     {"sampling", "fixed"},
                     {"step_size", 0.1}};
  json mixed = nominal;
  mixed["normalisation"] = "batch";
  EXPECT_EQ(train(recipe(mixed), 1).at("label"), "none");
  json far = nominal;
  far["clip"] = 1e4;
  EXPECT_EQ(train(recipe(far), 1).at("label"), "conditional");
  json near = nominal;
  near["clip"] = 1e-2;
  const json run = train(recipe(near), 1);
  EXPECT_EQ(run.at("label"), "violated");
  EXPECT_GT(run.at("epochs").back().at("largest_norm").get<double>(), 1e-2);
  EXPECT_GT(run.at("epochs").back().at("violations").get<int>(), 0);
  const double add_remove = run.at("epsilon_add_remove").get<double>();
  EXPECT_LE(add_remove, 2.0);  // calibrated by Rényi divergences, as above
  EXPECT_GE(add_remove, 1.0);
  EXPECT_GT(run.at("epsilon_replace_one").get<double>(), 2.0 * add_remove);
}

TEST_F(Training, IsARunOfOneCuratorWithAChildAnEpochAndNothingBetween) {
  // The same run by hand, where nobody looks at the records between the epochs.
  const json parameters = recipe({{"epochs", 8}, {"epsilon", 0.5}});
  const json run = train(parameters, 3);
  ImageFamily family(ImageFamily::Data::mnist, ImageFamily::Architecture::small_cnn);
  family.test_records = 200;
  family.width = 1;
  const NetworkInstance instance = family.instance({.records = 400, .seed = 3});
  const Computation computation = family.computation();
  const NetworkRecords records(instance.network, instance.train, computation);
  PublicFacts facts;
  facts.dimension = instance.network->parameters();
  facts.records = 400;
  facts.initial_point = instance.initial;
  const std::vector<PlannedQuery> plan{{BatchPolicy::poisson(0.1), 80}};
  const CalibratedNoise noise = calibrate_common_noise(plan, 400, {0.5, 0.01}, Calibrator::rdp);
  const double z = run.at("multiplier");
  EXPECT_NEAR(z / (2.0 * noise.sensitivity_ratio), 1.0, 1e-6);
  const auto algorithm = find_algorithm("avdiukhin-2024/dp-sgd");
  apply_settings(*algorithm, {{"steps", "10"},
                              {"step_size", "1"},
                              {"clip", "1"},
                              {"sampling", "poisson"},
                              {"batch", "40"},
                              {"noise", fmt::format("{}", z / 2.0)}});
  const std::string hash = RunKey(parameters).hash();
  const StreamKey key{.seed = 3,
                      .run = static_cast<std::uint32_t>(std::stoul(hash.substr(0, 8), nullptr, 16)),
                      .path = std::stoull(hash.substr(8, 16), nullptr, 16)};
  StreamKey steps = key;
  steps.purpose = Purpose::algorithm;
  Curator curator(facts, records, noise.rule, key);
  NoObserver nobody;
  Vector x = instance.initial;
  for (std::uint64_t epoch = 0; epoch < 8; ++epoch) {
    Curator part =
        curator.child({.name = fmt::format("{}", epoch), .share = 1.0 / 8.0, .initial_point = x});
    x = algorithm->run(part, Stream::sealed(steps.child(epoch)), nobody).point;
  }
  const Scores scores = scores_at(*instance.network, x, *instance.train, {}, computation);
  EXPECT_EQ(run.at("epochs").back().at("train_loss"), scores.loss);
  // What all epochs together spent.
  EXPECT_EQ(curator.ledger().queries(), 80);
  EXPECT_LE(curator.ledger().spent(0.01, {.accountant = Accountant::rdp}).epsilon, 0.5);
  EXPECT_LT(curator.remaining().share, 1e-6);
}

TEST_F(Training, ScalesAnImageByConstantsThatDoNotDependOnTheOthers) {
  ImageFamily family(ImageFamily::Data::mnist, ImageFamily::Architecture::small_cnn);
  family.test_records = 200;
  const auto first_images = [&] {
    const std::vector<Index> rows{0, 1, 2, 3, 4};
    return family.instance({.records = 400}).train->chunk(rows, torch::kFloat, 0).input;
  };
  const at::Tensor before = first_images();
  const fs::path file = folder() / "mnist" / "train-images-idx3-ubyte";
  const std::string content = read_file(file);
  std::string other = content;
  std::fill(other.end() - 784, other.end(), static_cast<char>(255));
  write_file(file, other);
  const at::Tensor after = first_images();
  write_file(file, content);
  EXPECT_TRUE(before.equal(after));
}

/// The checkpoint in a folder, where a killed process may have left a draft as well; empty if none.
fs::path checkpoint_in(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".cbor") return entry.path();
  return {};
}

TEST_F(Training, GoesOnFromItsCheckpointWithTheSameBits) {
  const json parameters = recipe({{"epochs", 25}});
  const json whole = train(parameters, 5);
  const fs::path checkpoints = folder() / "checkpoints";
  fs::create_directories(checkpoints);
  setenv("DPSOSP_CHECKPOINTS", checkpoints.c_str(), 1);
  const pid_t child = forked();
  if (child == 0) {
    train(parameters, 5);
    _exit(0);
  }
  while (checkpoint_in(checkpoints).empty() && waitpid(child, nullptr, WNOHANG) == 0) usleep(1000);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ASSERT_FALSE(checkpoint_in(checkpoints).empty());  // it was stopped on the way
  EXPECT_EQ(train(parameters, 5), whole);
  EXPECT_TRUE(checkpoint_in(checkpoints).empty());

  // A file of that name that is no checkpoint is refused, not overwritten.
  const fs::path file = [&] {
    const pid_t again = forked();
    if (again == 0) {
      train(parameters, 5);
      _exit(0);
    }
    while (checkpoint_in(checkpoints).empty() && waitpid(again, nullptr, WNOHANG) == 0)
      usleep(1000);
    kill(again, SIGKILL);
    waitpid(again, nullptr, 0);
    return checkpoint_in(checkpoints);
  }();
  write_file(file, "torn");
  EXPECT_THROW(train(parameters, 5), InputError);
  unsetenv("DPSOSP_CHECKPOINTS");
}

TEST_F(Training, LooksAtTheStartWhereThereIsNoEpoch) {
  // The batch may be larger than what is looked at: no step is made.
  const json run = train(recipe({{"epochs", 0}, {"batch", 1000}, {"records", 50}}), 1);
  EXPECT_EQ(run.at("label"), "none");
  EXPECT_EQ(run.at("steps"), 0);
  ASSERT_EQ(run.at("epochs").size(), 1U);
  EXPECT_GT(run.at("epochs").front().at("audit_norm").get<double>(), 0.0);
  EXPECT_EQ(run.at("epochs").front(),
            train(recipe({{"records", 50}, {"batch", 40}}), 1).at("epochs").front());
}

TEST_F(Training, DrawsOtherNumbersForAnotherSeed) {
  const json a = train(recipe(), 1), b = train(recipe(), 2);
  EXPECT_NE(a.at("epochs"), b.at("epochs"));
  EXPECT_EQ(a, train(recipe(), 1));
}

TEST_F(Training, LooksAtTheCurvatureOfASmoothNetwork) {
  const json run = train(recipe({{"smooth", true}, {"curvature", 32}, {"epochs", 1}}), 1);
  for (const json& row : run.at("epochs")) {
    EXPECT_LT(row.at("lambda_min").get<double>(), 0.0);  // of a network there is always some
    EXPECT_GT(row.at("smooth_gradient_norm").get<double>(), 0.0);
  }
}

TEST_F(Training, RunsAnotherAlgorithmOnTheSameFooting) {
  const json run = train(recipe({{"algorithm", "abadi-2016/dp-adam"}, {"step_size", 0.01}}), 1);
  EXPECT_EQ(run.at("label"), "conditional");
  EXPECT_EQ(run.at("epochs").size(), 4U);
}

std::string refusal(const json& parameters) {
  try {
    train(parameters, 1);
  } catch (const InputError& e) {
    return e.what();
  }
  return "not refused";
}

TEST_F(Training, RefusesInOneLineWhatMakesNoRun) {
  EXPECT_EQ(refusal(recipe({{"batch", 401}})),
            "training: batch = 401, expected 1 to the 400 records");
  EXPECT_EQ(refusal(recipe({{"sampling", "shuffle"}})),
            "training: sampling = shuffle, expected fixed or poisson");
  EXPECT_NE(refusal(recipe({{"network", "transformer"}})).find("mnist-transformer"),
            std::string::npos);
  EXPECT_NE(refusal(recipe({{"records", 4000}})).find("at most 400"), std::string::npos);
  EXPECT_EQ(refusal(recipe({{"epsilon", -1.0}})).find('\n'), std::string::npos);
  json nothing = recipe();
  nothing.erase("clip");
  EXPECT_EQ(refusal(nothing), "training: clip = nothing, expected a number");
}

}  // namespace
}  // namespace dpsosp::training_test

// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/cola.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <sstream>

#include <gtest/gtest.h>

#include "dpsosp/avdiukhin_2024/minibatch_sgd.hpp"
#include "dpsosp/core/settings.hpp"
#include "dpsosp/networks/safetensors.hpp"
#include "dpsosp/problems/registry.hpp"
#include "support.hpp"

namespace dpsosp::cola_test {
namespace {

using namespace networks;

/// Pieces with ids 0, 1, …; "un", "##able" are parts of words.
constexpr std::string_view vocabulary =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\ncat\ndog\nsleeps\nsleep\nbarks\nun\n##able\n.\n";

/// What a run reads, below a folder that $DPSOSP_DATA names while the object lives. Sentences are
/// acceptable where their verb has its s.
class ColaFolder {
 public:
  explicit ColaFolder(bool with_files = true) {
    if (const char* old = std::getenv("DPSOSP_DATA")) old_ = old;
    setenv("DPSOSP_DATA", folder.path().c_str(), 1);
    if (!with_files) return;
    write_cola();
    write_vocabulary();
  }
  ColaFolder(const ColaFolder&) = delete;
  ColaFolder& operator=(const ColaFolder&) = delete;
  ~ColaFolder() {
    if (old_)
      setenv("DPSOSP_DATA", old_->c_str(), 1);
    else
      unsetenv("DPSOSP_DATA");
  }
  void write_cola() const {
    std::ostringstream train;
    for (int i = 0; i < 24; ++i)
      train << "ab\t" << i % 2 << (i % 2 == 1 ? "\t\t" : "\t*\t") << "The "
            << (i % 3 == 0 ? "dog" : "cat") << (i % 2 == 1 ? " sleeps" : " sleep")
            << (i % 4 < 2 ? ".\n" : "\n");
    folder.write("cola_public/raw/in_domain_train.tsv", train.str());
    folder.write("cola_public/raw/in_domain_dev.tsv",
                 "ab\t1\t\tThe dog sleeps.\nab\t0\t*\tThe dog sleep.\n");
    folder.write("cola_public/raw/out_of_domain_dev.tsv",
                 "cd\t1\t\tUnable cat dog the cat the cat.\n");
  }
  void write_vocabulary() const { folder.write("bert-base-uncased/vocab.txt", vocabulary); }

  ScratchFolder folder;

 private:
  std::optional<std::string> old_;
};

ColaFamily small_family() {
  ColaFamily family;
  Fields fields = family.fields();
  for (const auto& [name, text] : std::map<std::string, std::string>{{"length", "8"},
                                                                     {"layers", "1"},
                                                                     {"features", "8"},
                                                                     {"heads", "2"},
                                                                     {"inner", "16"},
                                                                     {"positions", "12"},
                                                                     {"test_records", "3"},
                                                                     {"weights", ""}})
    set_field(fields, family.name(), name, text);
  return family;
}

/// A file of the network's own parameters, all equal, under names and with shapes that `change` may
/// alter.
std::filesystem::path write_weights(const ColaFolder& data, const Network& network,
                                    const std::string& name, float value, const auto& change) {
  std::vector<NamedTensor> tensors;
  for (const Layer::Named& part : network.named())
    tensors.push_back(
        {.name = part.name, .shape = {part.shape.begin(), part.shape.end()}, .values = {}});
  change(tensors);
  const std::vector<float> values(static_cast<std::size_t>(network.parameters()), value);
  for (NamedTensor& tensor : tensors) {
    Index entries = 1;
    for (const Index extent : tensor.shape) entries *= extent;
    tensor.values = std::span(values).first(static_cast<std::size_t>(entries));
  }
  const std::filesystem::path file = data.folder.path() / name;
  write_safetensors(file, tensors);
  return file;
}

TEST(Cola, ReadsSentencesByItsTokenizer) {
  const ColaFolder data;
  const NetworkInstance made = small_family().instance({.records = 24});
  ASSERT_EQ(made.test->size(), 3);
  const Chunk chunk =
      made.test->chunk(std::vector<Index>{0, 1, 2}, torch::TensorOptions(torch::kFloat), 0);
  // The last has eleven tokens and is cut to eight.
  const torch::Tensor expected = torch::tensor({2, 4,  6,  7, 12, 3, 0, 0,  //
                                                2, 4,  6,  8, 12, 3, 0, 0,  //
                                                2, 10, 11, 5, 6,  4, 5, 3},
                                               torch::kLong)
                                     .view({3, 8});
  EXPECT_TRUE(chunk.input.equal(expected)) << chunk.input;
  EXPECT_TRUE(chunk.mask.sum(1).equal(torch::tensor({6, 6, 8}, torch::kLong))) << chunk.mask;
  EXPECT_TRUE(chunk.mask.narrow(1, 0, 6).eq(1).all().item<bool>());
  EXPECT_TRUE(chunk.labels.equal(torch::tensor({1, 0, 1}, torch::kLong)));
}

TEST(Cola, PadsAChunkToItsLongestSentence) {
  const ColaFolder data;
  const NetworkInstance made = small_family().instance({.records = 24});
  const auto options = torch::TensorOptions(torch::kFloat);
  EXPECT_EQ(made.test->chunk(std::vector<Index>{0, 1}, options, 0).input.size(1), 6);
  const Computation twice{.type = torch::kDouble, .device = torch::kCPU};
  const NetworkRecords records(made.network, made.test, twice);
  const double alone = records.norms(made.initial, BatchView(0, 1)).front();
  EXPECT_NEAR(records.norms(made.initial, BatchView(0, 3)).front(), alone, 1e-10 * alone);
}

TEST(Cola, TestsOnTheFirstSentencesOfBothDevelopmentSets) {
  const ColaFolder data;
  ColaFamily family = small_family();
  family.test_records = 2;
  const NetworkInstance made = family.instance({.records = 3});
  EXPECT_EQ(made.test->size(), 2);
  EXPECT_EQ(made.test->label(0), 1);
  EXPECT_EQ(made.test->label(1), 0);
}

TEST(Cola, TakesAnotherBlockForAnotherDataSeed) {
  const ColaFolder data;
  const ColaFamily family = small_family();
  const auto labels = [&](Index records, std::uint64_t data_seed) {
    const NetworkInstance made = family.instance({.records = records, .data_seed = data_seed});
    std::vector<Index> lengths;
    for (Index i = 0; i < made.train->size(); ++i)
      lengths.push_back(made.train->chunk(std::vector<Index>{i}, {}, 0).input.size(1));
    return lengths;
  };
  const std::vector<Index> all = labels(24, 0);
  for (const std::uint64_t seed : {0U, 1U, 4U, 5U})
    EXPECT_EQ(labels(5, seed),
              std::vector<Index>(all.begin() + 5 * (seed % 4), all.begin() + 5 * (seed % 4) + 5))
        << seed;
  EXPECT_EQ(refusal([&] { family.instance({.records = 25}); }),
            "cola-bert: records = 25, expected at most 24");
}

TEST(Cola, LearnsThroughACuratorWithinItsBudget) {
  const ColaFolder data;
  const ColaFamily family = small_family();
  Problem problem = family.make({.records = 24});
  // From weights as small as random ones are at first, the loss hardly moves for hundreds of steps.
  Stream({.seed = 1, .purpose = Purpose::test}).fill_normal(0.5, problem.facts.initial_point);
  avdiukhin_2024::DpSgd algorithm;
  algorithm.parameters = {
      .steps = 40, .step_size = 0.2, .clip = 2.0, .sampling = Sampling::sample, .batch = 12};
  const PrivacyBudget budget{.epsilon = 1000, .delta = 1e-3};
  const CalibratedNoise noise =
      calibrate_common_noise(algorithm.plan(problem.facts), 24, budget, Calibrator::rdp);
  algorithm.set_common_noise(noise.sensitivity_ratio);
  algorithm.check(problem.facts);
  struct : Observer {
    void iterate(Index, ConstVectorRef) override {}
  } nobody;
  const auto run = [&](std::uint64_t seed) {
    Curator curator(problem.facts, *problem.records, noise.rule, {.seed = seed});
    EXPECT_EQ(curator.label(), PrivacyLabel::conditional);
    return algorithm.run(curator, Stream::sealed({.seed = seed, .purpose = Purpose::algorithm}),
                         nobody);
  };
  const Outcome outcome = run(3);
  EXPECT_EQ(outcome.status, Status::steps_done);
  EXPECT_EQ(outcome.steps, 40);
  EXPECT_GT(problem.empirical->value(problem.facts.initial_point), std::log(2.0));
  EXPECT_LT(problem.empirical->value(outcome.point), 0.2);
  EXPECT_EQ(run(3).point, outcome.point);
  EXPECT_NE(run(4).point, outcome.point);
}

TEST(Cola, SaysWhatIsMissingAndWhereToPutIt) {
  const ColaFolder data(false);
  ColaFamily family = small_family();
  const std::string root = data.folder.path().string();
  EXPECT_EQ(family.missing(),
            "needs data: " + root +
                "/cola_public/raw/in_domain_train.tsv is missing; put in_domain_train.tsv, "
                "in_domain_dev.tsv and out_of_domain_dev.tsv of CoLA's public release into " +
                root + "/cola_public/raw");
  EXPECT_EQ(refusal([&] { family.instance({.records = 3}); }), family.missing());
  data.write_cola();
  const std::string folder = "needs data: " + root + "/bert-base-uncased/";
  EXPECT_EQ(
      family.missing(),
      folder + "vocab.txt is missing; put the vocabulary of that model, a piece a line, there");
  EXPECT_EQ(refusal([&] { family.instance({.records = 3}); }), family.missing());
  data.write_vocabulary();
  EXPECT_EQ(family.missing(), "");
  family.weights = ColaFamily().weights;
  EXPECT_EQ(family.missing(),
            folder +
                "model.safetensors is missing; put the weights of bert-base-uncased, or of a "
                "BERT of your own, as safetensors there");
  EXPECT_EQ(refusal([&] { family.instance({.records = 3}); }), family.missing());
}

TEST(Cola, StartsFromThePretrainedFileByOldNamesAndWithAHeadOfItsOwn) {
  const ColaFolder data;
  ColaFamily family = small_family();
  const NetworkInstance random = family.instance({.records = 3, .seed = 4});
  write_weights(data, *random.network, "bert-base-uncased/model.safetensors", 0.5F,
                [](std::vector<NamedTensor>& all) {
                  all.resize(all.size() - 2);  // without classifier
                  all.push_back({.name = "cls.predictions.bias", .shape = {13}, .values = {}});
                  for (NamedTensor& tensor : all)
                    if (tensor.name.ends_with("LayerNorm.weight"))
                      tensor.name.replace(tensor.name.size() - 6, 6, "gamma");
                    else if (tensor.name.ends_with("LayerNorm.bias"))
                      tensor.name.replace(tensor.name.size() - 4, 4, "beta");
                });
  family.weights = ColaFamily().weights;
  const Vector x = family.instance({.records = 3, .seed = 4}).initial;
  const Index head = random.network->head();
  EXPECT_EQ(x.head(head), Vector::Constant(head, 0.5));
  EXPECT_EQ(x.tail(x.size() - head), random.initial.tail(x.size() - head));
}

TEST(Cola, RefusesWeightsOfAnotherNetworkByTheirNames) {
  const ColaFolder data;
  ColaFamily family = small_family();
  const auto network = family.instance({.records = 3}).network;
  const auto refused = [&](const auto& change) {
    const auto file = write_weights(data, *network, "weights.safetensors", 0.5F, change);
    family.weights = "weights.safetensors";
    const std::string line = refusal([&] { family.instance({.records = 3}); });
    return line.starts_with(file.string() + ": ") ? line.substr(file.string().size() + 2) : line;
  };
  EXPECT_EQ(refused([](auto& all) {
              all[0].shape = {14, 8};
            }),
            "tensor bert.embeddings.word_embeddings.weight has shape [14, 8], expected [13, 8]");
  EXPECT_EQ(refused([](auto& all) {
              for (NamedTensor& tensor : all)
                if (tensor.name.ends_with("layer.0.output.LayerNorm.weight"))
                  tensor = {.name = "bert.encoder.layer.0.output.LayerNorm.gamma",
                            .shape = {9},
                            .values = {}};
            }),
            "tensor bert.encoder.layer.0.output.LayerNorm.gamma has shape [9], expected [8]");
  EXPECT_EQ(refused([](auto& all) { all.erase(all.begin() + 1); }),
            "no tensor bert.embeddings.position_embeddings.weight, expected one of shape [12, 8]");
}

TEST(Cola, RefusesSettingsThatMakeNoInstance) {
  const ColaFolder data;
  ColaFamily family = small_family();
  EXPECT_EQ(refusal([&] { family.instance({.records = 3, .dimension = 5}); }),
            "cola-bert: the dimension follows from the sizes of the network; set those");
  family.test_records = 4;
  EXPECT_EQ(refusal([&] { family.instance({.records = 3}); }),
            "cola-bert: test_records = 4, expected 1 to 3");
  family.sizes.length = 1;
  EXPECT_EQ(refusal([&] { family.instance({.records = 3}); }),
            "cola-bert: length = 1, expected >= 2");
}

TEST(Cola, IsAProblemOfTheRoom) {
  for (const ProblemEntry& entry : network_problems())
    EXPECT_EQ(entry.name, entry.create()->name());
  EXPECT_TRUE(
      std::ranges::any_of(network_problems(), [](const auto& e) { return e.name == "cola-bert"; }));
}

}  // namespace
}  // namespace dpsosp::cola_test

// SPDX-License-Identifier: Apache-2.0
#include "dpsosp/networks/cola.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dpsosp/core/data_folder.hpp"
#include "dpsosp/core/errors.hpp"
#include "dpsosp/networks/sentence_examples.hpp"
#include "dpsosp/networks/sentences.hpp"
#include "dpsosp/networks/wordpiece.hpp"
#include "weights.hpp"

namespace dpsosp::networks {
namespace {

constexpr std::string_view no_weights = "random";

/// A file of the published model. \throws InputError "needs data: ..." where it is missing
std::filesystem::path pretrained(std::string_view file) {
  const std::filesystem::path folder = data_folder() / "bert-base-uncased";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(folder / file, ignored))
    throw InputError(
        fmt::format("needs data: {} is missing; put model.safetensors and vocab.txt of "
                    "bert-base-uncased into {}",
                    (folder / file).string(),
                    folder.string()));
  return folder / file;
}

std::shared_ptr<const Examples> encoded(std::span<const Sentence> sentences,
                                        const WordPiece& pieces,
                                        Index length) {
  std::vector<std::vector<std::int64_t>> tokens;
  std::vector<int> labels;
  for (const Sentence& sentence : sentences) {
    EncodedText text = pieces.encode(sentence.text, length);
    text.ids.resize(static_cast<std::size_t>(std::ranges::count(text.mask, 1)));
    tokens.push_back(std::move(text.ids));
    labels.push_back(sentence.label);
  }
  return std::make_shared<SentenceExamples>(std::move(tokens), std::move(labels));
}

}  // namespace

std::string_view ColaFamily::summary() const {
  return "cross entropy of BERT on CoLA, whether a sentence is acceptable (your own files)";
}

ProblemNotes ColaFamily::notes() const {
  return {.group = "Networks",
          .formula =
              "f(w; x, y) = −log softmax(s(w; x))_y, s the two scores of BERT for the "
              "sentence x, y = 1 where speakers accept it. No dropout.",
          .source = "avdiukhin-2024, Section 4",
          .critical_points = "Nothing is known: no constant is proved."};
}

Fields ColaFamily::fields() {
  Fields list = computation_fields();
  list.push_back(field("length", sizes.length, "tokens that a sentence is cut to"));
  list.push_back(field(
      "out_of_domain", out_of_domain, "test sentences of sources without training sentences too"));
  list.push_back(field("layers", sizes.layers, "blocks of the encoder"));
  list.push_back(field("features", sizes.features, "of a token; a multiple of heads"));
  list.push_back(field("heads", sizes.heads, "of the attention"));
  list.push_back(field("inner", sizes.inner, "features within a block"));
  list.push_back(field("positions", sizes.positions, "rows of the table of positions"));
  list.push_back(field("weights",
                       weights,
                       "safetensors file of initial parameters, or random; without it those of "
                       "bert-base-uncased"));
  return list;
}

std::string ColaFamily::missing() const {
  try {
    read_cola(data_folder());
    pretrained("vocab.txt");
    if (weights.empty()) pretrained("model.safetensors");
    return {};
  } catch (const InputError& e) {
    return e.what();
  }
}

NetworkInstance ColaFamily::instance(const InstanceSpec& spec) const {
  if (sizes.length < 2)
    reject(name(), "length", static_cast<double>(sizes.length), ">= 2, for [CLS] and [SEP]");
  Cola cola = read_cola(data_folder());
  const Index from = first_record(spec, std::ssize(cola.train));
  const WordPiece pieces = WordPiece::read(pretrained("vocab.txt"));
  BertOptions options = sizes;
  options.vocabulary = pieces.size();
  NetworkInstance made;
  made.network = bert(options);
  const std::span train(cola.train);
  made.train =
      encoded(train.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(spec.records)),
              pieces,
              sizes.length);
  std::vector<Sentence>& test = cola.in_domain;
  if (out_of_domain) test.insert(test.end(), cola.out_of_domain.begin(), cola.out_of_domain.end());
  made.test = encoded(test, pieces, sizes.length);
  made.initial =
      made.network->initial(Stream({.seed = spec.seed, .purpose = Purpose::initial_point}));
  if (weights.empty())
    load_weights(*made.network, pretrained("model.safetensors"), made.initial);
  else if (weights != no_weights)
    load_weights(*made.network, weights, made.initial);
  return made;
}

}  // namespace dpsosp::networks

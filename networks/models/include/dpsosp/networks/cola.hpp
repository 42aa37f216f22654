// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dpsosp/networks/bert.hpp"
#include "dpsosp/networks/families.hpp"

namespace dpsosp::networks {

/// Whether speakers of English accept a sentence of CoLA, by BERT. Below the data folder it reads
/// cola_public/raw/*.tsv (`read_cola`), bert-base-uncased/vocab.txt and `weights`. The test set is
/// that of the training sentences' sources, then that of others: together GLUE's validation set.
class ColaFamily final : public NetworkFamily {
 public:
  std::string_view name() const override { return "cola-bert"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 8551; }
  Fields fields() override;
  std::string missing() const override;

  /// The vocabulary is that of vocab.txt. Sentences are cut to `length` tokens, at least 2.
  BertOptions sizes;
  Index test_records = 1043;  ///< the first so many of the test set
  /// A safetensors file of initial parameters, below the data folder; empty: random ones.
  std::string weights = "bert-base-uncased/model.safetensors";

 protected:
  bool facts_need_data() const override { return true; }
  std::shared_ptr<const Network> network() const override;
  void load_parameters(const Network& network, Vector& parameters) const override;
  NetworkExamples examples(const InstanceSpec& spec) const override;
};

}  // namespace dpsosp::networks

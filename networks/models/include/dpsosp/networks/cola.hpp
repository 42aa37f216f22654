// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "dpsosp/networks/bert.hpp"
#include "dpsosp/networks/families.hpp"

namespace dpsosp::networks {

/// Whether speakers of English accept a sentence of CoLA, by BERT. Below $DPSOSP_DATA it reads
/// cola_public/raw/*.tsv (`read_cola`) and bert-base-uncased/vocab.txt, and model.safetensors
/// beside that, unless `weights` names others.
class ColaFamily final : public NetworkFamily {
 public:
  std::string_view name() const override { return "cola-bert"; }
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 8551; }
  Fields fields() override;
  int numbers_version() const override { return 1; }
  NetworkInstance instance(const InstanceSpec& spec) const override;
  std::string missing() const override;

  /// The vocabulary is that of vocab.txt. Sentences are cut to `length` tokens, at least 2.
  BertOptions sizes;
  /// Whether the test set has the sentences of other sources too: GLUE's validation set.
  bool out_of_domain = true;
  /// A safetensors file of initial parameters; "random": none; empty: the pretrained model's.
  std::string weights;
};

}  // namespace dpsosp::networks

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dpsosp/core/words.hpp"
#include "dpsosp/networks/network_loss.hpp"
#include "dpsosp/problems/problem.hpp"
#include "dpsosp/problems/registry.hpp"

namespace dpsosp::networks {

/// A network with its training and test records.
struct NetworkInstance {
  std::shared_ptr<const Network> network;
  std::shared_ptr<const Examples> train, test;
  Vector initial;  ///< d
};

struct NetworkExamples {
  std::shared_ptr<const Examples> train, test;
};

/// Problems whose loss is that of a network. Their public facts have no constants: none is known.
class NetworkFamily : public ProblemFamily {
 public:
  /// \throws InputError where the data are missing or the spec asks for more than there are
  NetworkInstance instance(const InstanceSpec& spec) const;

  Computation computation() const;
  /// "auto", "float" or "double"; "cpu" or "cuda".
  enum class Precision { single, twice };
  friend constexpr auto words_of(Precision) {
    using enum Precision;
    return word_list<Precision>("precision", {{single, "float"}, {twice, "double"}});
  }
  enum class Device { cpu, cuda };
  friend constexpr auto words_of(Device) {
    using enum Device;
    return word_list<Device>("device", {{cpu, "cpu"}, {cuda, "cuda"}});
  }
  Precision precision = Precision::single;
  Device device = Device::cpu;
  Index evaluated = 256;  ///< records that stand for all where a point is judged; 0: all

 protected:
  Index dimension(const InstanceSpec& spec) const final;
  void settle(const Stream& random, PublicFacts& facts) const final;
  Constants constants(const PublicFacts&) const final { return {}; }
  void draw(const InstanceSpec& spec, Problem& problem) const final;

  virtual std::shared_ptr<const Network> network() const = 0;
  /// Replaces random parameters by those of a file, if the settings name one.
  virtual void load_parameters(const Network&, Vector& /*parameters*/) const {}
  /// \throws InputError as instance()
  virtual NetworkExamples examples(const InstanceSpec& spec) const = 0;

  Fields computation_fields();
  /// The first training record of an instance: of `available` ones, another data seed takes another
  /// block. \throws InputError for a spec, or `evaluated`, that makes no instance
  Index first_record(const InstanceSpec& spec, Index available) const;

 private:
  void refuse_dimension(const InstanceSpec& spec) const;
  Vector initial(const Network& network, Stream random) const;
};

/// Images of 10 or 100 classes.
class ImageFamily final : public NetworkFamily {
 public:
  enum class Data { cifar10, cifar100, mnist };
  enum class Architecture { cnn, resnet18, small_cnn };
  ImageFamily(Data data, Architecture architecture);

  std::string_view name() const override;
  std::string_view summary() const override;
  ProblemNotes notes() const override;
  Index default_records() const override { return 1000; }
  Fields fields() override;
  std::string missing() const override;

  Index width = 8;
  Normalisation normalisation = Normalisation::group;
  bool smooth = false;
  bool augment = false;
  Index test_records = 2000;  ///< the first so many of the test set
  std::string
      weights;  ///< safetensors file of initial parameters, below the data folder; empty: random

 protected:
  std::shared_ptr<const Network> network() const override;
  void load_parameters(const Network& network, Vector& parameters) const override;
  NetworkExamples examples(const InstanceSpec& spec) const override;

 private:
  Data data_;
  Architecture architecture_;
};

/// The problems of this room.
const std::vector<ProblemEntry>& network_problems();

}  // namespace dpsosp::networks

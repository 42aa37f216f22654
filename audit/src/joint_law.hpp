// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dpsosp/core/stream.hpp"
#include "dpsosp/core/vector.hpp"
#include "noise_law.hpp"

/// Whether numbers that are standard normal one by one are so together. Every probability is exact
/// or an upper bound, whatever the number of draws.
///
/// How many numbers a run draws may depend on them. A sum over all numbers or pairs has mean 0
/// whenever each is in it or not by what was drawn before; so no run and no number is left out for
/// what comes later, such as the length of the run.
namespace dpsosp::audit {

/// The discrete Fourier transform of a series with zeros behind it; half of it, since the series is
/// real.
struct Transform {
  std::size_t padded = 0;  ///< length with the zeros, a power of two
  std::size_t length = 0;  ///< of the series
  std::vector<std::complex<double>> values;
};
/// \param padded  a power of two, at least the length of the series
Transform transform_of(const std::vector<double>& series, std::size_t padded);

/// Sums of products of two series of independent standard normal numbers at every distance, over
/// many runs. A number may be in two products of one sum, as where a series is compared with itself
/// or with those of the last run and the next.
class Distances {
 public:
  /// Both transforms have one padded length, that of both series together or more.
  void add(const Transform& a, const Transform& b);
  /// \param own  the series is compared with itself, at distances from 1
  void test(const std::string& of, bool own, std::vector<Finding>& findings) const;

 private:
  struct OfLength {
    std::vector<std::complex<double>> products;
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> lengths;  // of both, how often
  };
  std::map<std::size_t, OfLength> sums_;  // by padded length
};

/// The power of a series at every frequency, in bands: those of independent standard normal
/// numbers are independent and exactly χ².
class Spectrum {
 public:
  explicit Spectrum(std::uint64_t seed)
      : rest_({.seed = seed, .run = 3, .purpose = Purpose::statistics}) {}
  /// Looks at pieces of one length, which the first series decides and is not looked at for. The
  /// last piece is filled up with normal numbers of the audit: a piece that may end by what it
  /// holds is not normal, but with fresh numbers after it it is.
  void add(const std::vector<double>& series);
  void test(const std::string& of, std::vector<Finding>& findings) const;

 private:
  static constexpr std::size_t bands = 64, least = 8, most = 4096;
  Stream rest_;
  std::size_t size_ = 0;
  std::array<double, bands> power_{};
  std::array<std::int64_t, bands> degrees_{};
};

/// Vectors of one size whose entries should be independent and standard normal together. Longer
/// ones than `most_entries` are folded: sums of entries with random signs take their place.
class Coordinates {
 public:
  static constexpr Index most_entries = 1024;
  /// \param seed  of the directions that are looked at, drawn afresh for each audit
  explicit Coordinates(std::uint64_t seed) : seed_(seed) {}
  void add(ConstVectorRef draw);
  /// The next draw is not compared with the last.
  void begin_run() { last_.resize(0); }
  void test(const std::string& of, std::vector<Finding>& findings) const;

 private:
  static constexpr Index block = 64;
  void flush() const;
  Vector folded(ConstVectorRef draw);
  void test_pairs(const std::string& of, std::vector<Finding>& findings) const;
  void test_eigenvalues(const std::string& of, std::vector<Finding>& findings) const;
  void test_directions(const std::string& of, std::vector<Finding>& findings) const;

  std::uint64_t seed_;
  std::int64_t draws_ = 0;
  std::int64_t successions_ = 0;
  Vector last_, sum_, signs_;
  // Draws and those before them, not yet in the products; zero where there is none.
  mutable Matrix waiting_, before_;
  mutable Index waits_ = 0;
  mutable Matrix products_;    // Σ x xᵀ, below the diagonal and on it
  mutable Matrix successive_;  // Σ x_{t−1} x_tᵀ
};

/// All draws of all runs of an audit.
class JointLaw {
 public:
  explicit JointLaw(std::uint64_t seed) : seed_(seed), spectrum_(seed) {}

  void begin_run();
  /// \param kind  of draws that are compared with each other
  /// \param source  of those whose places in their own series are
  void add(const std::string& kind, const std::string& source, ConstVectorRef draw);
  /// \param algorithm  the numbers of the algorithm's own stream, as many in each run
  void end_run(const std::vector<double>& algorithm);
  void test(std::vector<Finding>& findings) const;

 private:
  static constexpr std::size_t most_sources = 5;       // of a run
  static constexpr std::size_t most_of_source = 4096;  // numbers

  std::uint64_t seed_;
  std::map<std::pair<std::string, Index>, Coordinates> coordinates_;
  Distances own_, sizes_, runs_apart_, algorithm_;
  Spectrum spectrum_;
  std::map<std::pair<std::size_t, std::size_t>, Distances> sources_;

  // Of the current run, and the last.
  std::vector<double> numbers_;
  std::map<std::string, std::size_t> names_;
  std::vector<std::vector<double>> of_source_;
  Transform last_;
  std::vector<double> last_numbers_;
};

}  // namespace dpsosp::audit

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
#include "noise/noise_law.hpp"

/// Whether numbers that are standard normal one by one are so together. Every probability is exact
/// or an upper bound, whatever the number of draws.
///
/// How many numbers a run draws may depend on them. Sums of products are bounded whatever decides
/// that (probability_of_sum), if each product is in its sum or not by what was known before its
/// later factor was drawn: so no run and no number is left out for what comes later, such as the
/// length of the run. The other bounds hold for a number of draws that was decided beforehand.
namespace dpsosp::audit {

/// A series with zeros behind it: its discrete Fourier transform, half of it, since the series is
/// real, and the sums of its first squares.
struct Transform {
  std::size_t padded = 0;  ///< length with the zeros, a power of two
  std::vector<std::complex<double>> values{};
  std::vector<double> squares{};  ///< entry k is the sum of the first k
  std::size_t length() const { return squares.empty() ? 0 : squares.size() - 1; }
};
/// \param padded  a power of two, at least the length of the series
Transform transform_of(const std::vector<double>& series, std::size_t padded);

/// Sums of products of the numbers of two series at every distance, over many runs.
class Distances {
 public:
  /// Which factor of a product was known when the other was drawn.
  enum class Known {
    own,     ///< the series is compared with itself, at distances from 1
    first,   ///< that of the first series
    either,  ///< now one, now the other: the squares of both bound those of the earlier ones
  };
  explicit Distances(Known known) : known_(known) {}
  /// Both transforms have one padded length, that of both series together or more.
  void add(const Transform& a, const Transform& b);
  void test(const std::string& of, std::vector<Finding>& findings) const;

 private:
  struct OfLength {
    std::vector<std::complex<double>> products;
    std::vector<double> squares;      // of the factors that were known, by distance, round about
    std::vector<std::int64_t> pairs;  // likewise
  };
  Known known_;
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
  Vector before_squares_;      // of the entries of these x_{t−1}
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
  Distances own_{Distances::Known::own}, sizes_{Distances::Known::own};
  Distances runs_apart_{Distances::Known::first}, algorithm_{Distances::Known::first};
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

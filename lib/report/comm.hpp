// What `chexbench comm` measured: averages of gradients over ranks, by size, in nccl-tests' terms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/statistics.hpp"
#include "spec/experiment.hpp"

namespace chexbench::report {

// One size on one number of ranks.
struct CommRow {
  int ranks = 0;
  std::uint64_t bytes = 0;
  int repeats = 0;
  int iterations = 0;  // one after the other in each repeat
  double time_s = 0;   // of one, of the slowest rank; median over repeats
  std::optional<measure::Interval> time_s_ci95;
  double fit_error = 0;  // the fitted time / time_s - 1; 0 where nothing was fitted

  double algbw_bytes_per_s() const { return static_cast<double>(bytes) / time_s; }
  // What each link carries: a ring sends every byte 2 (n-1)/n times (nccl-tests, doc/PERFORMANCE.md).
  double busbw_bytes_per_s() const { return algbw_bytes_per_s() * 2 * (ranks - 1) / ranks; }
};

// T = 2 (n-1) alpha + 2 ((n-1)/n) S / beta, fitted by ratios, so that small sizes count as much as large ones.
struct LinkFit {
  double alpha_s = 0;
  double beta_bytes_per_s = 0;
  double median_error = 0;  // of the rows' absolute relative errors
  double worst_error = 0;
  int min_ranks = 0;  // what was fitted: beyond it the model is a guess
  int max_ranks = 0;
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = 0;
};

struct CommResult {
  std::string chexbench_version;
  std::string date_utc;
  std::string library;  // "MPICH 4.0.2", "NCCL"
  std::string memory;   // "host", "GPU"
  std::string dtype;    // "f32", "f16"
  spec::UpdateScheme update = spec::UpdateScheme::all_reduce;
  int hosts = 1;
  std::vector<CommRow> rows;
  std::optional<LinkFit> fit;  // empty where times do not grow with bytes, or the scheme is no ring

  // What the fit's formula holds for; libraries take a ring for large sizes.
  bool is_ring() const { return update == spec::UpdateScheme::all_reduce || update == spec::UpdateScheme::ring; }
};

// For people, with the fit below; for programs, one object; one row a size.
std::string comm_table(const CommResult& result);
std::string comm_json(const CommResult& result);
std::string comm_csv(const CommResult& result);

// The fit in what comm_json() wrote. @throws DataError naming `name` where the text is none, or has no fit
LinkFit link_fit_from_json(const std::string& text, const std::string& name);

}  // namespace chexbench::report

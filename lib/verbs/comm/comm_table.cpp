#include <fmt/format.h>

#include "report/fitted_table.hpp"
#include "verbs/comm/comm_result.hpp"

namespace chexbench::verbs {
namespace {

std::string microseconds(double seconds) {
  const double us = seconds * 1e6;
  return fmt::format("{:.{}f}", us, us < 1000 ? 1 : 0);
}

std::string gigabytes_per_s(double bytes_per_s) { return fmt::format("{:.{}f}", bytes_per_s / 1e9, 3); }

std::string interval(const CommRow& row) {
  if (!row.time_s_ci95) return "";
  return fmt::format("{} to {}", microseconds(row.time_s_ci95->low), microseconds(row.time_s_ci95->high));
}

std::string fit_text(const CommResult& result) {
  if (!result.is_ring()) return "No fit: alpha and beta are those of a ring.\n";
  if (!result.fit) return "No fit: these times do not grow with bytes; measure larger sizes (--max-bytes).\n";
  const LinkFit& fit = *result.fit;
  return fmt::format(
      "Fit of T = 2(n-1) alpha + 2((n-1)/n) S/beta: alpha {:.3g} s, beta {:.3g} GB/s; off by {:.0f} % (median of "
      "all rows), {:.0f} % at worst. It covers {} to {} ranks and {} to {} bytes.\n",
      fit.alpha_s, fit.beta_bytes_per_s / 1e9, 100 * fit.median_error, 100 * fit.worst_error, fit.min_ranks,
      fit.max_ranks, fit.min_bytes, fit.max_bytes);
}

}  // namespace

std::string comm_table(const CommResult& result, const report::LineWidth& width) {
  report::TextTable table{
      .header = {"ranks", "bytes", "time_us", "time_us_ci95", "algbw_GB_s", "busbw_GB_s", "fit_off_by"},
      .rows = {},
      .expendable = {3, 4}};
  for (const CommRow& row : result.rows) {
    table.rows.push_back({std::to_string(row.ranks), std::to_string(row.bytes), microseconds(row.time_s), interval(row),
                          gigabytes_per_s(row.algbw_bytes_per_s()), gigabytes_per_s(row.busbw_bytes_per_s()),
                          result.fit ? fmt::format("{:+.0f} %", 100 * row.fit_error) : ""});
  }
  return fmt::format("averages of {} gradients in {} memory by {} of {}, {} host{}\n\n", result.dtype, result.memory,
                     to_string(result.update), result.library, result.hosts, result.hosts == 1 ? "" : "s") +
         report::fitted_text(table, width, "--format csv") + "\n" + fit_text(result);
}

}  // namespace chexbench::verbs

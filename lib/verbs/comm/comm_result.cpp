#include "verbs/comm/comm_result.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "report/csv_table.hpp"
#include "report/text_table.hpp"
#include "verbs/to_json.hpp"

namespace chexbench::verbs {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of keys below, for readers

// Visits the fields of a row with their names; JSON and CSV share this list.
template <class Visitor>
void visit_row(Visitor&& visit, const CommRow& row) {
  visit("ranks", row.ranks);
  visit("bytes", row.bytes);
  visit("time_s", row.time_s);
  visit("time_s_ci95_low", row.time_s_ci95 ? std::optional(row.time_s_ci95->low) : std::nullopt);
  visit("time_s_ci95_high", row.time_s_ci95 ? std::optional(row.time_s_ci95->high) : std::nullopt);
  visit("algbw_bytes_per_s", row.algbw_bytes_per_s());
  visit("busbw_bytes_per_s", row.busbw_bytes_per_s());
  visit("repeats", row.repeats);
  visit("iterations", row.iterations);
  visit("fit_error", row.fit_error);
}

Json fit_to_json(const LinkFit& fit) {
  return {{"alpha_s", fit.alpha_s},           {"beta_bytes_per_s", fit.beta_bytes_per_s},
          {"median_error", fit.median_error}, {"worst_error", fit.worst_error},
          {"min_ranks", fit.min_ranks},       {"max_ranks", fit.max_ranks},
          {"min_bytes", fit.min_bytes},       {"max_bytes", fit.max_bytes}};
}

LinkFit fit_from(const Json& object) {
  LinkFit fit;
  object.at("alpha_s").get_to(fit.alpha_s);
  object.at("beta_bytes_per_s").get_to(fit.beta_bytes_per_s);
  object.at("median_error").get_to(fit.median_error);
  object.at("worst_error").get_to(fit.worst_error);
  object.at("min_ranks").get_to(fit.min_ranks);
  object.at("max_ranks").get_to(fit.max_ranks);
  object.at("min_bytes").get_to(fit.min_bytes);
  object.at("max_bytes").get_to(fit.max_bytes);
  if (!(fit.alpha_s >= 0 && std::isfinite(fit.alpha_s) && fit.beta_bytes_per_s > 0)) {
    throw DataError("its fit has no alpha_s of at least 0, or no beta_bytes_per_s above 0");
  }
  return fit;
}

}  // namespace

std::string comm_json(const CommResult& result) {
  Json object = {{"chexbench_version", result.chexbench_version},
                 {"date_utc", result.date_utc},
                 {"library", result.library},
                 {"memory", result.memory},
                 {"dtype", result.dtype},
                 {"update", to_string(result.update)},
                 {"hosts", result.hosts},
                 {"fit", result.fit ? fit_to_json(*result.fit) : Json(nullptr)},
                 {"rows", Json::array()}};
  for (const CommRow& row : result.rows) visit_row(ToJson{object["rows"].emplace_back(Json::object())}, row);
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string comm_csv(const CommResult& result) {
  report::CsvRow header;
  visit_row([&header](const char* name, const auto&) { header(name); }, CommRow{.ranks = 1, .time_s = 1});
  std::string text = std::move(header).line();
  for (const CommRow& row : result.rows) {
    report::CsvRow line;
    visit_row([&line](const char*, const auto& value) { line(value); }, row);
    text += std::move(line).line();
  }
  return text;
}

LinkFit link_fit_from_json(const std::string& text, const std::string& name) {
  try {
    const Json object = Json::parse(text);
    if (object.at("fit").is_null())
      throw DataError("it has no fit: its times do not grow with bytes, or the scheme is no ring");
    return fit_from(object.at("fit"));
  } catch (const Json::exception& error) {
    throw DataError(
        fmt::format("{}: not what `chexbench comm --format json` writes: {}", name, printable(error.what(), 400)));
  } catch (const DataError& error) {
    throw DataError(fmt::format("{}: {}", name, error.what()));
  }
}

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

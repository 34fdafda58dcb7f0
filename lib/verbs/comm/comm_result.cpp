#include "verbs/comm/comm_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "measure/statistics.hpp"
#include "report/csv_table.hpp"
#include "report/text_table.hpp"
#include "verbs/to_json.hpp"

namespace chexbench::verbs {
namespace {

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

// Visits the fields of a fit with their names, to write or to read them.
template <class Visitor, class Fit>
void visit_fit(Visitor&& visit, Fit& fit) {
  visit("alpha_s", fit.alpha_s);
  visit("beta_bytes_per_s", fit.beta_bytes_per_s);
  visit("median_error", fit.median_error);
  visit("worst_error", fit.worst_error);
  visit("min_ranks", fit.min_ranks);
  visit("max_ranks", fit.max_ranks);
  visit("min_bytes", fit.min_bytes);
  visit("max_bytes", fit.max_bytes);
}

LinkFit fit_from(const Json& object) {
  LinkFit fit;
  visit_fit([&object](const char* name, auto& value) { object.at(name).get_to(value); }, fit);
  if (!(fit.alpha_s >= 0 && std::isfinite(fit.alpha_s) && fit.beta_bytes_per_s > 0)) {
    throw DataError("its fit has no alpha_s of at least 0, or no beta_bytes_per_s above 0");
  }
  return fit;
}

std::string microseconds(double seconds) { return rate_text(seconds * 1e6); }

std::string gigabytes_per_s(double bytes_per_s) { return report::decimal(bytes_per_s / 1e9); }

// Returns "2" or "2 to 4".
template <class Count>
std::string count_range(Count least, Count most) {
  const auto text = [](Count count) { return grouped(static_cast<std::uint64_t>(count)); };
  return least == most ? text(least) : fmt::format("{} to {}", text(least), text(most));
}

std::string interval(const CommRow& row) {
  if (!row.time_s_ci95) return "";
  return fmt::format("{} to {}", microseconds(row.time_s_ci95->low), microseconds(row.time_s_ci95->high));
}

std::string fit_text(const CommResult& result) {
  if (!result.is_ring()) return "No fit: alpha and beta are those of a ring.\n";
  if (!result.fit) return "No fit: these times do not grow with bytes; measure larger sizes (--max-bytes).\n";
  const LinkFit& fit = *result.fit;
  return fmt::format(
      "Fit of T = 2(n-1) alpha + 2((n-1)/n) S/beta: alpha {:.3g} us, beta {:.3g} GB/s; off by {:.0f} % (median of "
      "all rows), {:.0f} % at worst. Valid for {} ranks and {} bytes.\n",
      1e6 * fit.alpha_s, fit.beta_bytes_per_s / 1e9, 100 * fit.median_error, 100 * fit.worst_error,
      count_range(fit.min_ranks, fit.max_ranks), count_range(fit.min_bytes, fit.max_bytes));
}

constexpr double kSeenShare = 0.1;  // minimum share of transfer in the largest size's time to determine the bandwidth

struct Link {
  double alpha_s = 0;
  double beta_bytes_per_s = 0;
};

// Return the modelled seconds of one all-reduce: its transfer over a link alone, and together with the latencies.
double transfer_s(const CommRow& row, const Link& link) {
  return 2.0 * (row.ranks - 1) / row.ranks * static_cast<double>(row.bytes) / link.beta_bytes_per_s;
}
double ring_s(const CommRow& row, const Link& link) {
  return 2 * (row.ranks - 1) * link.alpha_s + transfer_s(row, link);
}

// Half and double are equally far from the measured value; a plain relative error would prefer values that are too low.
double squared_log_ratio(double modelled, double measured) {
  const double distance = std::log(modelled / measured);
  return distance * distance;
}

void describe_errors(std::vector<CommRow>& rows, LinkFit& fit) {
  std::vector<double> errors;
  for (CommRow& row : rows) {
    row.fit_error = ring_s(row, {.alpha_s = fit.alpha_s, .beta_bytes_per_s = fit.beta_bytes_per_s}) / row.time_s - 1;
    errors.push_back(std::abs(row.fit_error));
  }
  fit.median_error = measure::median(errors);
  fit.worst_error = std::ranges::max(errors);
}

// Returns the link with the smallest error(link). Searches a grid of logarithms, narrowing it around the best point:
// the overlap with backward makes the model a chain of maxima, on which gradient methods fail.
template <class Error>
Link search_link(Error error) {
  constexpr int kSteps = 16;
  const double five_orders = std::log(1e5);
  Link best{.alpha_s = 1e-5, .beta_bytes_per_s = 1e9};
  double best_error = error(best);
  for (double half_width = five_orders; half_width > 1e-6; half_width /= 2) {
    const Link center = best;
    for (int i = -kSteps; i <= kSteps; ++i) {
      for (int j = -kSteps; j <= kSteps; ++j) {
        const Link link{.alpha_s = center.alpha_s * std::exp(half_width * i / kSteps),
                        .beta_bytes_per_s = center.beta_bytes_per_s * std::exp(half_width * j / kSteps)};
        const double candidate_error = error(link);
        if (candidate_error >= best_error) continue;
        best_error = candidate_error;
        best = link;
      }
    }
  }
  const Link without_latency{.alpha_s = 0, .beta_bytes_per_s = best.beta_bytes_per_s};
  return error(without_latency) <= best_error * (1 + 1e-9) ? without_latency : best;
}

}  // namespace

std::string comm_json(const CommResult& result) {
  Json object = {{"chexbench_version", CHEXBENCH_VERSION},
                 {"date_utc", result.date_utc},
                 {"library", result.library},
                 {"memory", result.memory},
                 {"dtype", result.dtype},
                 {"update", to_string(result.update)},
                 {"hosts", result.hosts},
                 {"fit", nullptr},
                 {"rows", Json::array()}};
  if (result.fit) visit_fit(ToJson{object["fit"] = Json::object()}, *result.fit);
  for (const CommRow& row : result.rows) visit_row(ToJson{object["rows"].emplace_back(Json::object())}, row);
  return indented_json(object);
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

std::string comm_table(const CommResult& result, const report::LineWidth& width) {
  report::TextTable table{
      .header = {"ranks", "bytes", "time us", "95 % interval", "algbw GB/s", "busbw GB/s", "fit off by"},
      .rows = {},
      .expendable = {3, 4}};
  for (const CommRow& row : result.rows) {
    table.rows.push_back({std::to_string(row.ranks), grouped(row.bytes), microseconds(row.time_s), interval(row),
                          gigabytes_per_s(row.algbw_bytes_per_s()), gigabytes_per_s(row.busbw_bytes_per_s()),
                          result.fit ? fmt::format("{:+.0f} %", 100 * row.fit_error) : ""});
  }
  return fmt::format("averages of {} gradients in {} memory by {} of {}, {} host{}\n\n", result.dtype, result.memory,
                     to_string(result.update), result.library, result.hosts, result.hosts == 1 ? "" : "s") +
         report::fitted_text(table, width, "--format csv") + "\n" + fit_text(result);
}

std::optional<LinkFit> fit_link(std::vector<CommRow>& rows) {
  if (rows.size() < 2) return std::nullopt;
  const Link link = search_link([&rows](const Link& candidate) {
    double sum = 0;
    for (const CommRow& row : rows) sum += squared_log_ratio(ring_s(row, candidate), row.time_s);
    return sum;
  });
  const CommRow& largest = *std::ranges::max_element(rows, {}, &CommRow::bytes);
  if (transfer_s(largest, link) < kSeenShare * largest.time_s) return std::nullopt;
  const auto [few, many] = std::ranges::minmax(rows, {}, &CommRow::ranks);
  LinkFit fit{.alpha_s = link.alpha_s,
              .beta_bytes_per_s = link.beta_bytes_per_s,
              .min_ranks = few.ranks,
              .max_ranks = many.ranks,
              .min_bytes = std::ranges::min_element(rows, {}, &CommRow::bytes)->bytes,
              .max_bytes = largest.bytes};
  describe_errors(rows, fit);
  return fit;
}

double overlapped_step_s(const engine::StepPlan& plan, int ranks, const spec::CommSpec& comm) {
  const double exposed_s = ranks == 1 ? 0 : engine::model_communication(plan, ranks, comm).exposed_s(plan.backward_s);
  return plan.compute_s() + exposed_s + plan.update_s;
}

ScalingFit fit_scaling(const engine::StepPlan& plan, int images_per_step, std::span<const ScalingPoint> points,
                       const spec::CommSpec& comm) {
  std::set<int> several;
  for (const ScalingPoint& point : points) {
    if (point.ranks > 1) several.insert(point.ranks);
  }
  if (several.size() < 2) {
    throw SpecError(
        "--fit: two figures of the network cannot be fitted to fewer than two points of more than one rank");
  }
  const auto squares = [&](const Link& link) {
    spec::CommSpec candidate = comm;
    candidate.link.clear();  // its figures would replace those to fit
    candidate.alpha_s = link.alpha_s;
    candidate.beta_bytes_per_s = link.beta_bytes_per_s;
    double sum = 0;
    for (const ScalingPoint& point : points) {
      const double images_per_s = images_per_step * point.ranks / overlapped_step_s(plan, point.ranks, candidate);
      sum += squared_log_ratio(images_per_s, point.images_per_s);
    }
    return sum;
  };
  const Link link = search_link(squares);
  return {.alpha_s = link.alpha_s,
          .beta_bytes_per_s = link.beta_bytes_per_s,
          .rms_error = std::sqrt(squares(link) / static_cast<double>(points.size()))};
}

}  // namespace chexbench::verbs

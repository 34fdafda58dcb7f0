#include "report/wait_cause.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace chexbench::report {
namespace {

using measure::OpCounters;

// One counter of op `index`, summed over the repeats.
double sum(const TrialResult& trial, std::size_t index, double OpCounters::*counter) {
  double total = 0;
  for (const RepeatResult& repeat : trial.repeats) {
    if (index < repeat.ops.size()) total += repeat.ops[index].*counter;
  }
  return total;
}

std::string longest_part(const TrialResult& trial, std::size_t index) {
  std::array<std::pair<double, const char*>, 5> parts = {{{sum(trial, index, &OpCounters::read_s), "read"},
                                                          {sum(trial, index, &OpCounters::parse_s), "parse"},
                                                          {sum(trial, index, &OpCounters::decode_s), "decode"},
                                                          {sum(trial, index, &OpCounters::resize_s), "resize"},
                                                          {0, "other"}}};
  double timed_s = 0;
  for (const auto& [seconds, name] : parts) timed_s += seconds;
  if (timed_s == 0) return "";
  parts.back().first = sum(trial, index, &OpCounters::busy_wall_s) - timed_s;
  return std::ranges::max_element(parts)->second;
}

}  // namespace

WaitCause wait_cause(const TrialResult& trial) {
  if (trial.repeats.empty()) return {};
  const std::vector<OpCounters>& ops = trial.repeats.front().ops;
  for (std::size_t i = ops.size(); i-- > 0;) {
    const double busy_s = sum(trial, i, &OpCounters::busy_wall_s);
    const bool has_input = busy_s > sum(trial, i, &OpCounters::blocked_input_s);
    const bool has_room = busy_s > sum(trial, i, &OpCounters::blocked_output_s);
    if (has_input && has_room) return {.op = ops[i].op, .part = longest_part(trial, i)};
  }
  return {};
}

}  // namespace chexbench::report

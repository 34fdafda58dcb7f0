#include "verbs/calibrate/profile_table.hpp"

#include <fmt/format.h>

namespace chexbench::verbs {

std::string profile_table(const spec::AcceleratorProfile& profile, const report::LineWidth& width) {
  report::TextTable table{
      .header = {"model", "size", "precision", "batch", "step", "forward", "backward", "update", "images/s", "spread"},
      .rows = {},
      .left_columns = 1,
      .expendable = {9, 7, 5, 6}};
  const auto milliseconds = [](double seconds) { return fmt::format("{:.2f} ms", 1e3 * seconds); };
  for (const spec::ProfileEntry& entry : profile.entries) {
    const double step_s = entry.compute_s() + entry.update_s;
    const double backward_s = entry.compute_s() * entry.backward_share;
    table.rows.push_back(
        {entry.model, std::to_string(entry.image_size), spec::to_string(entry.precision),
         std::to_string(entry.batch_size), milliseconds(step_s), milliseconds(entry.compute_s() - backward_s),
         milliseconds(backward_s), entry.includes_update ? "" : milliseconds(entry.update_s),
         fmt::format("{:.1f}", entry.batch_size / step_s),
         entry.images_per_s_mad ? fmt::format("{:.1f} %", 100 * *entry.images_per_s_mad / entry.images_per_s) : ""});
  }
  return fmt::format("{}: {}\n\n{}", profile.name, profile.device, report::fitted_text(table, width, "the profile"));
}

}  // namespace chexbench::verbs

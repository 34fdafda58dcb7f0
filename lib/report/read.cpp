#include "report/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/errors.hpp"
#include "report/json.hpp"

namespace chexbench::report {

Report read_report(const std::string& folder) {
  const std::string path = folder + "/report.json";
  std::error_code error;  // of a name that no file can have: it is not there
  if (!std::filesystem::is_regular_file(path, error)) {
    throw SpecError(
        fmt::format("{}: there is no report.json in it; give the folder that a run was written to", folder));
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) throw DataError(fmt::format("{}: cannot read it", path));
  return report_from_json(text, path);
}

bool has_results(const Report& report) {
  return std::ranges::any_of(report.trials, [](const TrialResult& trial) { return !trial.repeats.empty(); });
}

}  // namespace chexbench::report

#include "results/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "core/errors.hpp"
#include "results/labels.hpp"
#include "results/record_json.hpp"
#include "spec/parse.hpp"

namespace chexbench::results {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 1 << 30;
constexpr const char* kFileName = "report.json";

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw DataError(fmt::format("cannot read {}: {}", path, reason));
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Returns every report.json below `folder`. An unreadable folder is an error, because its runs would silently be
// missing.
std::vector<std::string> reports_below(const std::string& folder) {
  std::vector<std::string> paths;
  try {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().filename() == kFileName && entry.is_regular_file()) paths.push_back(entry.path().string());
    }
  } catch (const fs::filesystem_error& error) {
    fail(error.path1().string(), error.code().message());
  }
  std::ranges::sort(paths);
  return paths;
}

TrialResult trial_from_json(const Json& object) {
  TrialResult trial;
  visit_fields(JsonReader(object), trial);
  trial.spec =
      spec::parse_trial(object.at("spec").dump(), "spec of trial '" + trial.name + "'", spec::UnknownKeys::ignored);
  for (const Json& repeat : object.at("repeats")) trial.repeats.push_back(repeat_from_json(repeat));
  return trial;
}

Finding finding_from_json(const Json& object) {
  Finding finding{.kind = object.at("kind").get<std::string>(),
                  .text = object.at("text").get<std::string>(),
                  .emulated = object.at("emulated").get<bool>(),
                  .grade = grade_from(object.value("grade", ""))};
  const JsonReader read(object);
  read("trial", finding.trial);
  read("base", finding.base);
  std::optional<double> ratio;
  read("ratio", ratio);
  if (ratio) read("ratio_ci95", finding.ratio.emplace(measure::Ratio{*ratio, {}}).ci95);
  read("headline", finding.headline);
  read("reason", finding.reason);
  read("advice", finding.advice);
  read("command", finding.command);
  read("worth_share", finding.worth_share);
  // null is NaN, which cannot be ordered.
  finding.worth_share = finding.worth_share >= 0 ? std::min(finding.worth_share, 1.0) : 0;
  return finding;
}

Report report_from(const Json& object) {
  check_version(object);
  Report report;
  report.experiment = object.at("experiment").get<std::string>();
  report.interrupted = object.at("interrupted").get<bool>();
  visit_fields(JsonReader(object.at("environment")), report.environment);
  for (const Json& trial : object.at("trials")) report.trials.push_back(trial_from_json(trial));
  for (const Json& finding : object.at("findings")) report.findings.push_back(finding_from_json(finding));
  return report;
}

// Rejects values that no run can have measured: the line was edited. The comparison is false for NaN, too.
void check_repeat(const RepeatResult& repeat) {
  const auto check = [](const char* name, double value) {
    if (!(value >= 0)) throw DataError(fmt::format("{} is {}, and cannot be below 0", name, value));
  };
  check("repeat", repeat.repeat);
  check("images_per_s", repeat.images_per_s);
  check("wall_s", repeat.wall_s);
  check("spent_s", repeat.spent_s);
  check("process_cpu_s", repeat.process_cpu_s);
}

JournalEntry journal_entry_from(const Json& object) {
  check_version(object);
  JournalEntry entry{.key = object.at("key").get<std::string>(), .repeat = repeat_from_json(object.at("repeat"))};
  check_repeat(entry.repeat);
  return entry;
}

}  // namespace

std::string read_text(const std::string& path) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (!file) fail(path, std::strerror(errno));
  std::string text;
  std::array<char, 65536> buffer;
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    text.append(buffer.data(), got);
    if (text.size() > kMostBytes) fail(path, "it is larger than 1 GiB");
  }
  if (std::ferror(file.get()) != 0) fail(path, std::strerror(errno));
  return text;
}

std::string report_file(const std::string& path) {
  std::error_code error;  // ignored: an invalid file name counts as missing
  std::string file = fs::is_regular_file(path, error) ? path : (fs::path(path) / kFileName).string();
  if (!fs::is_regular_file(file, error)) {
    throw SpecError(fmt::format("{}: there is no {} in it; give the folder that a run was written to, or its {}", path,
                                kFileName, kFileName));
  }
  return file;
}

Report read_report(const std::string& path) {
  const std::string file = report_file(path);
  return report_from_json(read_text(file), file);
}

bool has_results(const Report& report) {
  return std::ranges::any_of(report.trials, [](const TrialResult& trial) { return !trial.repeats.empty(); });
}

std::vector<Report> read_runs(const std::string& path) {
  std::error_code error;
  std::vector<std::string> files{path};
  if (fs::is_directory(path, error)) {
    const std::string own = (fs::path(path) / kFileName).string();
    files = fs::exists(own, error) ? std::vector{own} : reports_below(path);
    if (files.empty()) fail(path, "neither it nor a folder below it has a report.json; give the folder of a run");
  }
  std::vector<Report> runs;
  for (const std::string& file : files) runs.push_back(report_from_json(read_text(file), file));
  return runs;
}

Report report_from_json(std::string_view text, const std::string& name) { return read_json(text, name, report_from); }

std::string experiment_from_json(std::string_view text, const std::string& name) {
  return read_json(text, name, [](const Json& object) { return object.at("experiment").get<std::string>(); });
}

std::string to_journal_line(const JournalEntry& entry) {
  return dump({{"schema_version", kSchemaVersion}, {"key", entry.key}, {"repeat", repeat_to_json(entry.repeat)}});
}

JournalContents journal_from_text(std::string_view text, const std::string& name) {
  JournalContents contents;
  for (std::size_t end = text.find('\n'), line = 1; end != std::string_view::npos; end = text.find('\n'), ++line) {
    contents.entries.push_back(
        read_json(text.substr(0, end), fmt::format("{}, line {}", name, line), journal_entry_from));
    contents.whole_bytes += end + 1;
    text.remove_prefix(end + 1);
  }
  return contents;
}

}  // namespace chexbench::results

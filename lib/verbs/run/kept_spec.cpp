#include "verbs/run/kept_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "bench/ranks.hpp"
#include "comm/communicator.hpp"
#include "core/errors.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "core/printable.hpp"
#include "spec/document.hpp"
#include "spec/parse.hpp"
#include "spec/resolved.hpp"
#include "verbs/to_json.hpp"

namespace chexbench::verbs {
namespace {

std::string path_in(const std::string& folder) { return folder + "/run.json"; }

// Returns the file's text, or "" if there is none.
std::string text_in(const std::string& folder) {
  std::error_code error;  // ignored: the next line reports a file that cannot be accessed
  if (!std::filesystem::exists(path_in(folder), error) && !error) return "";
  return spec::read_text_file(path_in(folder), "spec of the run");
}

RunSpec parse(const std::string& text, const std::string& folder) {
  if (text.empty()) {
    throw SpecError(
        fmt::format("--resume {}: it has no run.json with the spec; give the original --config and --set", folder));
  }
  const auto refusal = [&](const std::string& reason) {
    return SpecError(
        fmt::format("--resume {}: its run.json is damaged: {}; give the original --config and --set", folder, reason));
  };
  if (is_nested_too_deep(text)) throw refusal("it is nested too deep");
  try {
    const nlohmann::json object = nlohmann::json::parse(text);
    const std::string newer = refusal_of_version(object.value(kFormatVersionKey, kFormatVersion));
    if (!newer.empty()) throw SpecError(fmt::format("--resume {}: run.json: {}", folder, newer));
    return {.source = object.at("config").get<std::string>(),
            .text = object.at("spec").get<std::string>(),
            .overrides = object.at("set").get<std::vector<std::string>>()};
  } catch (const nlohmann::json::exception& error) {
    throw refusal(printable(error.what()));
  }
}

std::string trials_text(const RunSpec& run) {
  const std::vector<spec::Trial> trials = spec::expand(sweep_of(run));
  std::string text = fmt::format("{} trials\n", trials.size());
  for (const spec::Trial& trial : trials) text += spec::to_json(trial.spec) + '\n';
  return text;
}

}  // namespace

spec::SweepSpec sweep_of(const RunSpec& run) { return spec::parse_spec(run.text, run.source, run.overrides); }

void keep_spec(const RunSpec& run, const std::string& folder) {
  std::error_code error;
  if (std::filesystem::exists(path_in(folder), error)) return;
  // JSON would change those names; --resume then requires --config and --set.
  if (!std::ranges::all_of(run.overrides, is_utf8)) return;
  std::vector<std::string> overrides;
  std::ranges::transform(run.overrides, std::back_inserter(overrides), without_credentials);
  const Json object = {{kFormatVersionKey, kFormatVersion},
                       {"config", run.source},
                       {"set", overrides},
                       {"spec", without_credentials_in_message(run.text)}};
  write_file_atomically(path_in(folder), indented_json(object));
}

RunSpec kept_spec(const std::string& folder, comm::Communicator& ranks) {
  return parse(comm::broadcast_text(ranks, ranks.rank() == 0 ? text_in(folder) : ""), folder);
}

std::string difference_from_kept(const RunSpec& run, const std::string& folder) {
  try {
    return bench::describe_difference(trials_text(run), trials_text(parse(text_in(folder), folder)));
  } catch (const SpecError&) {
    return "";  // the folder has no complete run.json: the difference is just not named
  }
}

void forget_run(const std::string& folder) {
  std::error_code error;
  std::filesystem::remove(path_in(folder), error);
  std::filesystem::remove(folder, error);  // fails unless it is empty
}

}  // namespace chexbench::verbs

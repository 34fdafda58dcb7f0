#include "measure/striping.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <limits>
#include <sstream>

#include "core/numbers.hpp"
#include "core/text.hpp"
#include "measure/tool.hpp"

namespace chexbench::measure {
namespace {

using Stripes = std::vector<Stripe>;

// "512K", "1M" and "4194304".
std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const std::optional<std::uint64_t> number = take_number<std::uint64_t>(text);
  const std::string unit = lower_case(text.substr(0, 1));
  const std::uint64_t factor = unit.empty() ? 1 : unit == "k" ? 1u << 10 : unit == "m" ? 1u << 20 : 0;
  if (!number || factor == 0 || *number > std::numeric_limits<std::uint64_t>::max() / factor) return {};
  return *number * factor;
}

// Parses "stripe_count: 4 stripe_size: 1048576 ...", which is called lmm_stripe_count in a layout of several parts.
Stripes parse_lustre(const std::string& output) {
  Stripes stripes;
  std::istringstream words(output);
  for (std::string word, value; words >> word;) {
    if (word.ends_with("stripe_count:") && words >> value) stripes.push_back({.targets = parse_number<int>(value)});
    if (word.ends_with("stripe_size:") && words >> value && !stripes.empty())
      stripes.back().chunk_bytes = parse_bytes(value).value_or(0);
  }
  return stripes;
}

// Parses lines such as " -B  4194304  Block size". A file is spread over all disks of its pool.
Stripes parse_gpfs(const std::string& output) {
  Stripes stripes;
  std::istringstream lines(output);
  for (std::string line, flag, value; std::getline(lines, line);) {
    std::istringstream words(line);
    if (!(words >> flag >> value) || line.find("Block size") == std::string::npos) continue;
    const std::optional<std::uint64_t> bytes = parse_bytes(flag == "-B" ? value : flag);
    if (bytes) stripes.push_back({.targets = {}, .chunk_bytes = *bytes});
  }
  return stripes;
}

// Parses lines such as "+ Chunksize: 512K" and "+ Number of storage targets: desired: 4; actual: 4".
Stripes parse_beegfs(const std::string& output) {
  Stripe stripe;
  std::istringstream words(output);
  for (std::string word, value; words >> word;) {
    if (word == "Chunksize:" && words >> value) stripe.chunk_bytes = parse_bytes(value).value_or(0);
    if (word == "desired:" && words >> value) stripe.targets = parse_number<int>(value.substr(0, value.find(';')));
  }
  return stripe == Stripe{} ? Stripes{} : Stripes{stripe};
}

struct Question {
  std::vector<std::string> command;
  std::string name;  // the part of the command that a person would type to ask
};

struct KnownSystem {
  const char* name;
  std::vector<Question> questions;  // the next one is for where the program of the one before is missing
  Stripes (*parse)(const std::string& output);
};

std::optional<KnownSystem> known_system(const FileSystem& system, const std::string& path) {
  if (system.type == "lustre")
    return KnownSystem{"Lustre", {{{"lfs", "getstripe", "-d", path}, "lfs getstripe"}}, parse_lustre};
  if (system.type == "beegfs")
    return KnownSystem{"BeeGFS",
                       {{{"beegfs-ctl", "--getentryinfo", path}, "beegfs-ctl --getentryinfo"},
                        {{"beegfs", "entry", "info", "--retro", path}, "beegfs entry info"}},
                       parse_beegfs};
  if (system.type != "gpfs") return {};
  const std::string device = system.source.substr(system.source.rfind('/') + 1);
  return KnownSystem{"GPFS",
                     {{{"mmlsfs", device, "-B"}, "mmlsfs"}, {{"/usr/lpp/mmfs/bin/mmlsfs", device, "-B"}, "mmlsfs"}},
                     parse_gpfs};
}

}  // namespace

std::optional<Striping> find_striping(const FileSystem& system, const std::string& path, double patience_s) {
  std::error_code error;
  const std::string whole = std::filesystem::absolute(path, error).string();  // no tool takes it for an option
  const std::optional<KnownSystem> known = known_system(system, whole);
  if (!known) return {};
  Striping striping{.system = known->name, .tool = {}, .stripes = {}, .problem = {}};
  std::vector<std::string> missing;
  for (const Question& question : known->questions) {
    const ToolAnswer answer = ask_tool(question.command, patience_s);
    if (answer.is_missing) {
      if (missing.empty() || missing.back() != answer.problem) missing.push_back(answer.problem);
      continue;
    }
    striping.tool = question.name;
    striping.problem = answer.problem;
    if (answer.problem.empty()) striping.stripes = known->parse(answer.output);
    if (answer.problem.empty() && striping.stripes.empty())
      striping.problem = fmt::format("{} says nothing of it", question.name);
    return striping;
  }
  striping.problem = fmt::format("{}", fmt::join(missing, ", and "));
  return striping;
}

}  // namespace chexbench::measure

#include "analysis/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/text.hpp"
#include "results/rates.hpp"
#include "spec/profile.hpp"
#include "spec/shipped.hpp"

namespace chexbench::analysis {
namespace {

constexpr std::size_t kMoreSteps = 4;  // times the insufficient number of steps
constexpr std::string_view kSpecWord = "SPEC", kFolderWord = "DIR";

// Returns `command` with its first whole word `word` replaced by `value`, unless that is empty.
std::string with(const std::string& command, std::string_view word, const std::string& value) {
  if (value.empty()) return command;
  const auto is_blank = [&](std::size_t i) { return i >= command.size() || command[i] == ' '; };
  for (std::size_t at = command.find(word); at != std::string::npos; at = command.find(word, at + 1)) {
    if ((at == 0 || is_blank(at - 1)) && is_blank(at + word.size()))
      return std::string(command).replace(at, word.size(), value);
  }
  return command;
}

// Returns "mpirun -np 2 chexbench", or "chexbench" for one rank.
std::string program(const results::TrialResult& trial) {
  return trial.ranks > 1 ? fmt::format("mpirun -np {} chexbench", trial.ranks) : "chexbench";
}

// Returns "pipeline=naive", or "" for a pipeline that is not built in.
std::string built_in_pipeline(const results::TrialResult& trial) {
  const std::string& name = trial.spec.pipeline.name;
  const auto shipped = spec::shipped_pipelines();
  return std::ranges::find(shipped, name, &spec::ShippedFile::name) == shipped.end() ? "" : "pipeline=" + name;
}

// Returns the values of an option of a command line, written as two words, or as one with '='.
std::vector<std::string> values_of(const std::vector<std::string>& command_line, const std::string& option) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < command_line.size(); ++i) {
    if (command_line[i] == option && i + 1 < command_line.size()) values.push_back(command_line[i + 1]);
    if (command_line[i].starts_with(option + '=')) values.push_back(command_line[i].substr(option.size() + 1));
  }
  return values;
}

// Whether the command sets the key of a setting, "measure.repeats=5", itself.
bool sets_key_of(const std::string& command, const std::string& setting) {
  return command.find(" --set " + setting.substr(0, setting.find('=') + 1)) != std::string::npos;
}

// Returns the spec of a run, quoted for a shell, followed by its overrides that `command` does not replace; "" if the
// spec is unknown.
std::string spec_for(const std::string& command, const results::Environment& environment) {
  const std::vector<std::string> configs = values_of(environment.command_line, "--config");
  const std::string& spec = configs.empty() ? environment.spec_file : configs.back();
  if (spec.empty()) return "";
  std::string words = shell_word(spec);
  const std::vector<std::string> settings =
      configs.empty() ? environment.spec_overrides : values_of(environment.command_line, "--set");
  for (const std::string& setting : settings) {
    if (!sets_key_of(command, setting)) words += " --set " + shell_word(setting);
  }
  return words;
}

// Returns a built-in profile with a time for the training, preferably the V100, or "".
std::string known_accelerator(const spec::TrialSpec& spec) {
  std::vector<std::string> names = {"v100"};
  names.insert(names.end(), spec::profile_names().begin(), spec::profile_names().end());
  const auto has_time = [&](const std::string& name) {
    return std::ranges::any_of(spec::load_profile(name).entries, [&](const spec::ProfileEntry& entry) {
      return entry.model == spec.model.name && entry.image_size == spec.model.image_size &&
             entry.precision == spec.training.precision;
    });
  };
  const auto found = std::ranges::find_if(names, has_time);
  return found == names.end() ? "" : *found;
}

}  // namespace

Advice accelerator_advice(const spec::TrialSpec& spec) {
  const std::string accelerator = known_accelerator(spec);
  const std::string predict = "chexbench predict --report DIR --accelerator ";
  if (!accelerator.empty())
    return {.advice = "see which accelerators it feeds: predict computes it from this run",
            .command = predict + accelerator};
  return {.advice = fmt::format("measure how fast {} of {}x{} trains on a machine, because no built-in profile has it; "
                                "predict then computes from this run what feeds it",
                                spec.model.name, spec.model.image_size, spec.model.image_size),
          .command = spec::calibrate_command(spec.model, spec.training.precision) + " && " + predict + "profile.json"};
}

std::string run_again(const results::TrialResult& trial, const std::string& setting) {
  return fmt::format("{} --config SPEC{}", program(trial), setting.empty() ? "" : " --set " + setting);
}

std::string run_op_again(const results::TrialResult& trial, const std::string& setting) {
  const std::string pipeline = built_in_pipeline(trial);
  return pipeline.empty() ? "" : run_again(trial, fmt::format("{} --set {}", pipeline, setting));
}

std::string more_steps(const results::TrialResult& trial) {
  return fmt::format("measure.steps={}", kMoreSteps * results::measured_steps(trial));
}

std::string advise_command(const results::TrialResult& trial) {
  const std::string pipeline = built_in_pipeline(trial);
  return fmt::format("{} advise --config SPEC{} --set data.format={} --set ranks={}", program(trial),
                     pipeline.empty() ? "" : " --set " + pipeline, to_string(trial.spec.data.format), trial.ranks);
}

std::string with_spec_of(const results::Environment& environment, const std::string& command) {
  return with(command, kSpecWord, spec_for(command, environment));
}

std::string with_folder(const std::string& folder, const std::string& command) {
  return with(command, kFolderWord, folder.empty() ? "" : shell_word(folder));
}

}  // namespace chexbench::analysis

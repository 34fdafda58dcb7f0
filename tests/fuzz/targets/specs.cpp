// Files of users: experiments with overrides, pipelines, profiles, and their common JSON.
#include <fmt/format.h>

#include "core/random.hpp"
#include "fuzz/fuzz.hpp"
#include "spec/document.hpp"
#include "spec/keys.hpp"
#include "spec/ops.hpp"
#include "spec/parse.hpp"
#include "spec/pipeline_list.hpp"
#include "spec/profile.hpp"
#include "spec/resolved.hpp"

namespace chexbench::fuzz {
namespace {

constexpr std::size_t kMostTrialsRead = 16;

constexpr std::string_view kSet = "--set ";

// Up to six overrides, each on its own line, that begin with "--set ".
std::vector<std::string> overrides_of(Input& input) {
  std::vector<std::string> overrides;
  while (overrides.size() < 6 && input.text().starts_with(kSet)) overrides.push_back(input.line().substr(kSet.size()));
  return overrides;
}

// Returns a value that the rule allows, or nearly.
std::string some_value(const spec::ValueRule& rule, RandomStream& random) {
  constexpr std::string_view kOthers[] = {
      "null", "0", "1", "2", "0.5", "1e300", "-1", "true", "http://h/r", "emulated:v100", "[1,2]", "a,b*", "\"\""};
  if (!rule.words.empty() && random.below(4) != 0) return rule.words[random.below(rule.words.size())];
  return std::string(kOthers[random.below(std::size(kOthers))]);
}

// Puts an override of a key or of an op's parameter before the input, or scrambles it.
void mutate_experiment(Buffer& bytes, std::size_t most, std::uint64_t seed, const Scramble& scramble) {
  RandomStream random(seed);
  if (random.below(2) == 0) return scramble(bytes, most);
  std::string line;
  if (random.below(4) != 0) {
    const auto& rule = spec::key_rules()[random.below(spec::key_rules().size())];
    line = fmt::format("{}{}={}\n", kSet, rule.path, some_value(rule.values, random));
  } else {
    const auto& op = spec::op_rules()[random.below(spec::op_rules().size())];
    const auto& parameter = op.parameters[random.below(op.parameters.size())];
    line = fmt::format("{}pipeline.{}.{}={}\n", kSet, op.op, parameter.name,
                       some_value(spec::value_rule(parameter), random));
  }
  const auto text = std::as_bytes(std::span(line));
  bytes.insert(bytes.begin(), text.begin(), text.end());
}

std::size_t trials_of(const spec::SweepSpec& sweep) {
  std::size_t trials = 1;
  for (const spec::Axis& axis : sweep.axes) trials *= std::max<std::size_t>(1, axis.points.size());
  return trials;
}

}  // namespace

FUZZ_TARGET(json_document, "spec/document.cpp") {
  const std::string text(Input(bytes).text());
  const auto node = accepted({ExitCode::spec}, [&] { return spec::parse_document(text, "input.json"); });
  if (!node) return;
  const std::string written = spec::to_text(*node);
  require(spec::to_text(spec::parse_document(written, "again")) == written, "a written document is read otherwise");
}

FUZZ_TARGET(experiment,
            "spec/parse.cpp spec/draft.cpp spec/sweep_draft.cpp spec/sweep.cpp spec/sweep_draft.cpp spec/values.cpp "
            "spec/keys.cpp spec/data_keys.cpp spec/training_keys.cpp spec/contradictions.cpp spec/resolved.cpp",
            mutate_experiment) {
  Input input(bytes);
  const std::vector<std::string> overrides = overrides_of(input);
  const auto sweep = accepted(
      {ExitCode::spec}, [&] { return spec::parse_spec(std::string(input.text()), "experiment.json", overrides); });
  if (!sweep || trials_of(*sweep) > kMostTrialsRead) return;
  for (const spec::Trial& trial : spec::expand(*sweep)) {
    const std::string text = spec::to_json(trial.spec);
    const auto again = accepted({}, [&] { return spec::parse_trial(text, "resolved"); });
    require(spec::to_json(*again) == text, "a resolved trial is read as another one");
    require(spec::trial_key(*again) == spec::trial_key(trial.spec), "a trial that was read has another key");
  }
}

FUZZ_TARGET(pipeline, "spec/pipeline_list.cpp spec/ops.cpp spec/values.cpp") {
  const std::string text(Input(bytes).text());
  const auto pipeline = accepted({ExitCode::spec}, [&] { return spec::parse_pipeline(text, "pipeline.json"); });
  if (!pipeline) return;
  const std::string written = spec::to_json(*pipeline);
  const auto again = accepted({}, [&] { return spec::parse_pipeline(written, "again"); });
  require(spec::to_json(*again) == written, "a written pipeline is read as another one");
}

FUZZ_TARGET(profile, "spec/profile.cpp") {
  const std::string text(Input(bytes).text());
  const auto profile = accepted({ExitCode::spec}, [&] { return spec::parse_profile(text, "profile.json"); });
  if (!profile) return;
  const std::string written = spec::to_json(*profile);
  const auto again = accepted({}, [&] { return spec::parse_profile(written, "again"); });
  require(spec::to_json(*again) == written, "a written profile is read as another one");
  for (const spec::ProfileEntry& entry : profile->entries) {
    for (const int batch : {1, entry.batch_size, entry.batch_size + 1, 1 << 20}) {
      const auto found = accepted({}, [&] {
        return spec::find_entry(*profile, {.name = entry.model, .image_size = entry.image_size}, entry.precision,
                                batch);
      });
      require(found->compute_s() > 0 && found->batch_size > 0, "a profile gives a step that takes no time");
    }
  }
}

}  // namespace chexbench::fuzz

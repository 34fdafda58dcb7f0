// Any valid trial is read back from its resolved text unchanged.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "spec/keys.hpp"
#include "spec/pipeline_list.hpp"
#include "spec/resolved.hpp"
#include "spec/spec_error.hpp"
#include "spec/sweep.hpp"

namespace chexbench::spec {
namespace {

double any_double(double minimum, double maximum) {
  const double share = *rc::gen::inRange(0, 1 << 30) / static_cast<double>(1 << 30);
  return minimum + share * (maximum - minimum);
}

Value any_value(const ValueRule& rule) {
  const bool numeric = rule.type == ValueType::integer || rule.type == ValueType::number;
  if (rule.optional && *rc::gen::arbitrary<bool>()) return {};
  if (!rule.prefix.empty() && *rc::gen::arbitrary<bool>()) return rule.prefix + "v100";
  if (!rule.words.empty() && (!numeric || *rc::gen::arbitrary<bool>())) return *rc::gen::elementOf(rule.words);
  constexpr double kLarge = 1e6;
  if (rule.type == ValueType::boolean) return *rc::gen::arbitrary<bool>();
  if (rule.type == ValueType::number) return any_double(rule.minimum + 1e-9, std::min(rule.maximum, kLarge));
  if (rule.type == ValueType::integer) {
    const auto maximum = static_cast<std::int64_t>(std::min(rule.maximum, kLarge));
    return *rc::gen::inRange<std::int64_t>(static_cast<std::int64_t>(rule.minimum), maximum);
  }
  return "t" + *rc::gen::container<std::string>(rc::gen::inRange<char>('0', 'z'));
}

PipelineSpec any_pipeline() {
  const std::vector<std::string> names(preset_names().begin(), preset_names().end());
  PipelineSpec pipeline = preset(*rc::gen::elementOf(names));
  for (OpSpec& op : pipeline.ops) {
    for (const ParameterRule& parameter : op_rule(op.op).parameters) {
      if (*rc::gen::arbitrary<bool>()) op.parameters[parameter.name] = to_parameter(any_value(value_rule(parameter)));
    }
  }
  return pipeline;
}

// Returns a trial with random values; keys that have no meaning in it keep their defaults.
TrialSpec any_experiment() {
  TrialSpec trial;
  trial.pipeline = any_pipeline();
  for (const KeyRule& rule : key_rules()) {
    if (rule.path != "experiment") rule.set(trial, any_value(rule.values));
  }
  for (const KeyRule& rule : key_rules()) {
    if (!rule.stated_where.holds(trial)) rule.set(trial, rule.get(TrialSpec{}));
  }
  return trial;
}

bool makes_sense(const TrialSpec& trial) {
  return error_of([&] {
           check_trial(trial);
           check_kinds(trial.pipeline);  // a list of ops may refuse a random parameter
         }) == "nothing was thrown";
}

TEST(ResolvedProperty, IsReadBackAsItWas) {
  const bool holds = rc::check([] {
    const TrialSpec trial = any_experiment();
    if (!makes_sense(trial)) {
      RC_ASSERT(error_of([&] { parse_trial(to_json(trial), "x"); }) != "nothing was thrown");
      return;
    }
    RC_ASSERT(parse_trial(to_json(trial), "x") == trial);
  });
  EXPECT_TRUE(holds);
}

TEST(ResolvedProperty, SaysOfTwoTrialsWhetherTheyAreTheSame) {
  const bool holds = rc::check([] {
    const TrialSpec a = any_experiment();
    const TrialSpec b = *rc::gen::arbitrary<bool>() ? a : any_experiment();
    RC_ASSERT((a == b) == (trial_key(a) == trial_key(b)));
  });
  EXPECT_TRUE(holds);
}

TEST(ParserProperty, MeetsAnyTextWithASpecErrorOrASpec) {
  const std::string example =
      R"({"data": {"root": "d", "layout": "csv", "labels": {"columns": ["a", "b"]}}, "ranks": [1, 2],
          "sweep": {"pipeline": ["naive", "keras"], "data.format": ["images", "ready"],
                    "zip": [{"model.seed": [1, 2], "measure.seed": [3, 4]}], "exclude": [{"ranks": 2}]}})";
  const bool holds = rc::check([&] {
    std::string text = example;
    const int edits = *rc::gen::inRange(1, 6);
    for (int i = 0; i < edits; ++i) {
      const std::size_t at = *rc::gen::inRange<std::size_t>(0, text.size());
      if (*rc::gen::arbitrary<bool>()) {
        text[at] = *rc::gen::arbitrary<char>();
      } else {
        text.erase(at, *rc::gen::inRange<std::size_t>(0, 5));
      }
      if (text.empty()) return;
    }
    // Errors of other types fail the test.
    const std::string error = error_of([&] { expand(parse_spec(text, "x.json")); });
    RC_ASSERT(error.find("exception") == std::string::npos);
  });
  EXPECT_TRUE(holds);
}

}  // namespace
}  // namespace chexbench::spec

#include "spec/resolved.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/keys.hpp"
#include "spec/pipeline_list.hpp"
#include "spec/presets.hpp"
#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::HasSubstr;
using testing::Not;

TrialSpec example() {
  TrialSpec trial;
  trial.data.root = "d";
  trial.pipeline = preset("naive");
  return trial;
}

TEST(Resolved, IsReadBackAsItWas) {
  for (const std::string& name : preset_names()) {
    TrialSpec trial = example();
    trial.pipeline = preset(name);
    EXPECT_EQ(parse_trial(to_json(trial), "x"), trial);
  }
}

TEST(Resolved, HasEveryKeyThatHasAMeaning) {
  TrialSpec trial = example();
  trial.training.optimizer = OptimizerKind::sgd;
  trial.engine = "emulated:v100";
  trial.comm.model = CommModel::alpha_beta;
  TrialSpec on_gpu = example();
  on_gpu.engine = "cuda";
  on_gpu.training.fused = false;
  trial.comm.update = UpdateScheme::parameter_server;
  on_gpu.comm.update = UpdateScheme::hierarchical;
  TrialSpec in_bucket = example();
  in_bucket.data.root = "s3://bucket";
  in_bucket.data.store.tries = 2;
  in_bucket.data.store.shape.latency_ms = 20;
  in_bucket.data.layout = DataLayout::csv;
  in_bucket.data.labels.columns = "Findings";
  in_bucket.data.labels.separator = "|";
  in_bucket.training.epochs = 3;
  in_bucket.training.schedule = Schedule::plateau;
  TrialSpec on_web = example();
  on_web.data.root = "https://host/set";
  on_web.data.store.redirects = Redirects::any;
  on_web.second_job = {.kind = SecondJobKind::both, .cores = "shared"};
  TrialSpec of_classes = example();
  of_classes.data.layout = DataLayout::imagenet;
  of_classes.data.labels.classes = 1000;
  const std::string classes_text = to_json(of_classes);
  EXPECT_EQ(parse_trial(classes_text, "x"), of_classes);
  const std::string text = to_json(trial), gpu_text = to_json(on_gpu), bucket_text = to_json(in_bucket),
                    web_text = to_json(on_web);
  for (const KeyRule& rule : key_rules()) {
    EXPECT_THAT(text + gpu_text + bucket_text + web_text + classes_text,
                HasSubstr('"' + rule.path.substr(rule.path.rfind('.') + 1) + '"'))
        << rule.path;
  }
  EXPECT_EQ(parse_trial(text, "x"), trial);
  EXPECT_EQ(parse_trial(gpu_text, "x"), on_gpu);
  EXPECT_EQ(parse_trial(bucket_text, "x"), in_bucket);
  EXPECT_EQ(parse_trial(web_text, "x"), on_web);
}

TEST(Resolved, LeavesOutWhatHasNoMeaning) {
  EXPECT_THAT(to_json(example()), Not(HasSubstr("momentum")));
  EXPECT_THAT(to_json(example()), Not(HasSubstr("alpha_s")));
  EXPECT_THAT(to_json(example()), Not(HasSubstr("cuda_graph")));
  EXPECT_THAT(to_json(example()), Not(HasSubstr("warmup_epochs")));
}

TEST(Resolved, ShowsAnOpPerLine) {
  EXPECT_THAT(
      to_json(example()),
      HasSubstr("\n      {\"op\": \"map\", \"parallel_calls\": 10, \"deterministic\": true, \"delay_s\": 0.0},\n"));
}

TEST(Resolved, KeepsNumbersExactly) {
  TrialSpec trial = example();
  trial.training.learning_rate = 0.1 + 0.2;
  trial.measure.max_seconds = 1e-300;
  trial.model.seed = (std::uint64_t{1} << 63) - 1;
  EXPECT_EQ(parse_trial(to_json(trial), "x"), trial);
}

TEST(TrialKey, IsTheSameForTheSameTrial) {
  EXPECT_EQ(trial_key(example(), "a"), trial_key(example(), "a"));
  EXPECT_THAT(trial_key(example()), testing::MatchesRegex("[0-9a-f]{16}"));
}

TEST(TrialKey, DoesNotDependOnTheExperimentsName) {
  TrialSpec renamed = example();
  renamed.name = "other";
  EXPECT_EQ(trial_key(renamed), trial_key(example()));
}

TEST(TrialKey, DependsOnEverythingElse) {
  EXPECT_NE(trial_key(example(), "a"), trial_key(example(), "b"));
  TrialSpec other = example();
  other.measure.steps += 1;
  EXPECT_NE(trial_key(other), trial_key(example()));
  other = example();
  set_parameter(other.pipeline, "pipeline.map.parallel_calls", std::int64_t{3});
  EXPECT_NE(trial_key(other), trial_key(example()));
}

TEST(TrialKey, IsTheSameForATrialThatWasReadBack) {
  TrialSpec trial;
  trial.data.format = DataFormat::synthetic;
  trial.pipeline = preset("keras");
  EXPECT_EQ(trial_key(trial, "world 1"), trial_key(parse_trial(to_json(trial), "x"), "world 1"));
}

}  // namespace
}  // namespace chexbench::spec

#include "spec/resolved.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "spec/keys.hpp"
#include "spec/pipeline_list.hpp"
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
  trial.data.format = DataFormat::ready;
  trial.pipeline = preset("keras");
  EXPECT_EQ(trial_key(trial, "world 1"), trial_key(parse_trial(to_json(trial), "x"), "world 1"));
}

using testing::ElementsAre;

TEST(Numbering, GivesEqualExperimentsTheSameNumber) {
  Numbering numbering;
  TrialSpec other;
  other.training.batch_size = 7;
  EXPECT_EQ(numbering.of({}), 0U);
  EXPECT_EQ(numbering.of(other), 1U);
  EXPECT_EQ(numbering.of({}), 0U);
  EXPECT_EQ(numbering.of(other), 1U);
}

TEST(TrialSpecHash, DependsOnKeysRanksAndThePipeline) {
  const TrialSpecHash hash;
  const auto differs = [&](auto change) {
    TrialSpec changed;
    changed.pipeline = preset("naive");
    const std::size_t before = hash(changed);
    change(changed);
    return hash(changed) != before;
  };
  EXPECT_TRUE(differs([](TrialSpec& spec) { spec.measure.seed = 8; }));
  EXPECT_TRUE(differs([](TrialSpec& spec) { spec.data.root = "elsewhere"; }));
  EXPECT_TRUE(differs([](TrialSpec& spec) { spec.ranks = 3; }));
  EXPECT_TRUE(differs([](TrialSpec& spec) { spec.pipeline = preset("optimized"); }));
  EXPECT_TRUE(differs([](TrialSpec& spec) { spec.pipeline.ops.pop_back(); }));
  EXPECT_FALSE(differs([](TrialSpec&) {}));
}

TEST(Alike, FindsWhatDiffersInWhatIsLeftOutAlone) {
  Alike alike(leave_out_ranks);
  TrialSpec one, two, other;
  one.ranks = 1;
  two.ranks = 2;
  other.engine = "none";
  for (const TrialSpec& each : {one, other, two}) alike.add(each);
  EXPECT_THAT(alike.with(one), ElementsAre(0, 2));
  EXPECT_THAT(alike.with(other), ElementsAre(1));
  other.engine = "cuda";
  EXPECT_THAT(alike.with(other), ElementsAre());
}

TEST(Slowed, ChangesWhatIsModelledAndNothingElse) {
  const TrialSpec full = trials_of(R"({
      "data": {"root": "d"}, "engine": "emulated:v100", "pipeline": "optimized",
      "comm": {"model": "alpha_beta", "alpha_s": 1e-5, "beta_bytes_per_s": 1e9, "launch_s": 2e-5},
      "store": {"shape": {"bandwidth_mb_per_s": 100, "latency_ms": 2, "jitter_ms": 1, "iops": 50}}
    })",
                                   {"pipeline.map_and_batch.delay_s=0.01"})
                             .front()
                             .spec;
  const TrialSpec slow = slowed(full, 4);
  EXPECT_DOUBLE_EQ(slow.comm.alpha_s, 4e-5);
  EXPECT_DOUBLE_EQ(slow.comm.launch_s, 8e-5);
  EXPECT_DOUBLE_EQ(slow.comm.beta_bytes_per_s, 2.5e8);
  EXPECT_DOUBLE_EQ(*slow.data.store.shape.bandwidth_mb_per_s, 25);
  EXPECT_DOUBLE_EQ(*slow.data.store.shape.latency_ms, 8);
  EXPECT_DOUBLE_EQ(*slow.data.store.shape.jitter_ms, 4);
  EXPECT_DOUBLE_EQ(*slow.data.store.shape.iops, 12.5);
  for (std::size_t i = 0; i < full.pipeline.ops.size(); ++i)
    EXPECT_DOUBLE_EQ(slow.pipeline.ops[i].number("delay_s"), 4 * full.pipeline.ops[i].number("delay_s"));
  EXPECT_EQ(slowed(full, 1), full);
  EXPECT_EQ(slow.training, full.training);
}

TEST(Slowed, LeavesWorkersAloneWithoutAScaleModel) {
  const TrialSpec full = trials_of(R"({"pipeline": "pytorch"})").front().spec;
  EXPECT_EQ(slowed(full, 1), full);
}

TEST(Slowed, StartsAsManyWorkersAsThereAreCoresInTheModel) {
  const auto workers_of = [](const std::string& asked) {
    const TrialSpec full = trials_of(R"({"engine": "emulated:v100", "pipeline": "pytorch", "comm": {"model": "none"},
                                          "emulation": {"cores_per_accelerator": 10}})",
                                     {"pipeline.worker_batches.num_workers=" + asked})
                               .front()
                               .spec;
    for (const OpSpec& op : slowed(full, 4).pipeline.ops)
      if (op.op == "worker_batches") return op.integer("num_workers");
    return std::int64_t{0};
  };
  EXPECT_EQ(workers_of("auto"), 10);
  EXPECT_EQ(workers_of("12"), 12);
}

using testing::Contains;

TrialSpec first_trial() {
  TrialSpec trial;
  trial.data.root = "set";
  trial.pipeline = preset("naive");
  trial.training.batch_size = 2;
  trial.model.image_size = 32;
  trial.engine = "none";
  trial.ranks = 1;
  trial.measure.warmup_steps = 1;
  trial.measure.steps = 2;
  trial.measure.repeats = 5;
  return trial;
}

TEST(TrialKeys, BeginWithTheKeyOfThisVersion) {
  EXPECT_EQ(trial_keys(first_trial(), "world 1").front(), trial_key(first_trial(), "world 1"));
}

TEST(TrialKeys, AreThoseOfOlderVersions) {
  TrialSpec trial = first_trial();
  EXPECT_EQ(trial_keys(trial, "world 1").back(), "f3f2515d78582768");  // that the first version gave this trial
  trial.measure.extra_repeats = 0;
  EXPECT_EQ(trial_keys(trial, "world 1").back(), "e76c2c8e1989fdc1");
}

TEST(TrialKeys, AreTheSameForAnAlias) {
  EXPECT_THAT(to_json(first_trial()), HasSubstr(R"("format": "images")"));
  const auto keys_with = [](const std::string& format) {
    return trial_keys(parse_trial(R"({"data": {"root": "d", "format": ")" + format + "\"}}", "x"));
  };
  EXPECT_EQ(keys_with("png"), keys_with("images"));
  EXPECT_EQ(keys_with("synthetic"), keys_with("ready"));
}

TEST(TrialKeys, OfATrialThatAnOlderVersionCannotMeasureAreNewer) {
  TrialSpec trial = first_trial();
  const std::vector<std::string> keys = trial_keys(trial);
  for (const auto change :
       {+[](TrialSpec& t) { t.measure.max_total_seconds = 60; }, +[](TrialSpec& t) { t.data.color = Color::rgb; },
        +[](TrialSpec& t) { t.data.store.read = FileReading::copy; }, +[](TrialSpec& t) { t.measure.steps = 3; }}) {
    TrialSpec other = trial;
    change(other);
    for (const std::string& key : trial_keys(other)) EXPECT_THAT(keys, Not(Contains(key)));
  }
}

TEST(TrialKeys, DifferBetweenVersions) {
  const std::vector<std::string> keys = trial_keys(first_trial());
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), keys.size());
}

// A key that is added ends the resuming of older runs unless it is in the list.
TEST(AddedKeys, AreAllButThoseOfTheFirstVersion) {
  constexpr std::size_t kFirst = 75;
  std::set<std::string> added;
  for (const std::vector<std::string>& version : added_keys()) added.insert(version.begin(), version.end());
  for (const std::string& path : added) EXPECT_NE(find_key(path), nullptr) << path;
  EXPECT_EQ(key_rules().size() - added.size(), kFirst) << "a new key belongs at the end of added_keys()";
}

}  // namespace
}  // namespace chexbench::spec

// The tables of trials and of their repeats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/csv.hpp"
#include "report/csv_reader.hpp"
#include "results/record_factory.hpp"

namespace chexbench::report {
namespace {

using testing::IsSupersetOf;

std::map<std::string, std::string> only_row(const results::TrialResult& trial) {
  return read_csv_records(csv_text("trials.csv", results::make_report({trial}))).at(0);
}

TEST(TrialsCsv, BeginsWithThePromisedColumnsInTheirOrder) {
  EXPECT_THAT(csv_text("trials.csv", results::make_report({})),
              testing::StartsWith("experiment,trial,pipeline,format,model,engine,precision,ranks,batch_size,"
                                  "images_per_s,images_per_s_mad,images_per_s_ci95_low,images_per_s_ci95_high,"
                                  "scaling_efficiency,wait_share,busy_share,decoded_per_trained,peak_rss_bytes,"
                                  "emulated,"));
}

TEST(TrialsCsv, HasEachFigureOnce) {
  const auto header = read_csv(csv_text("trials.csv", results::make_report({}))).at(0);
  const auto expect_column = [&header]<class Name, class Value>(const Name& field, const Value&) {
    if constexpr (!std::is_same_v<Name, results::Field>) return;  // a list
    const std::string name =
        std::string(field) + (std::is_same_v<Value, std::optional<measure::Interval>> ? "_low" : "");
    EXPECT_EQ(std::ranges::count(header, name), 1) << name;
  };
  const results::Figures figures;
  visit_fields(expect_column, figures);
}

TEST(TrialsCsv, NamesTheLongestWaitAndLeavesTheOthersToWaitsCsv) {
  const auto row = only_row(results::make_trial({}, {100}));
  EXPECT_EQ(row.at("wait_op"), "map");
  EXPECT_EQ(row.at("wait_part"), "decode");
  for (const char* list : {"waits", "notes", "gpu_throttle_reasons"}) EXPECT_FALSE(row.contains(list)) << list;
}

TEST(TrialsCsv, EndsWithAColumnForEachKeyInWhichTrialsDiffer) {
  results::TrialResult ring = results::make_trial({.pipeline = "naive"}, {100});
  ring.spec.comm.update = spec::UpdateScheme::ring;
  results::TrialResult tree = ring;
  tree.spec.comm.update = spec::UpdateScheme::tree;
  tree.spec.training.accumulate_steps = 4;
  for (spec::OpSpec& op : tree.spec.pipeline.ops)
    if (op.op == "map") op.parameters["parallel_calls"] = std::int64_t{3};
  const std::string text = csv_text("trials.csv", results::make_report({ring, tree}));
  const auto header = read_csv(text).at(0);
  const std::vector<std::string> swept(header.end() - 3, header.end());
  EXPECT_EQ(swept,
            (std::vector<std::string>{"training.accumulate_steps", "comm.update", "pipeline.map.parallel_calls"}));
  const auto records = read_csv_records(text);
  EXPECT_EQ(records.at(0).at("comm.update"), "ring");
  EXPECT_EQ(records.at(1).at("comm.update"), "tree");
  EXPECT_EQ(records.at(1).at("training.accumulate_steps"), "4");
  EXPECT_EQ(records.at(1).at("pipeline.map.parallel_calls"), "3");
}

TEST(TrialsCsv, CallsNoKeySweptInWhichOnlyPipelinesDiffer) {
  const auto header =
      read_csv(csv_text("trials.csv", results::make_report({results::make_trial({.pipeline = "naive"}, {100}),
                                                            results::make_trial({}, {100})})))
          .at(0);
  EXPECT_EQ(header.back(), "key");
}

TEST(TrialsCsv, CallsAPipelineOfTheUsersOwnByItsName) {
  results::TrialResult own = results::make_trial({}, {100});
  own.spec = spec::parse_trial(
      R"({"data": {"root": "data/nih"}, "pipeline": {"name": "mine", "ops": [{"op": "list_files"}, {"op": "shard"},
          {"op": "interleave"}, {"op": "map"}, {"op": "batch"}]}})",
      "the spec of a test");
  results::TrialResult unnamed = own;
  unnamed.spec = spec::parse_trial(
      R"({"data": {"root": "data/nih"}, "pipeline": [{"op": "list_files"}, {"op": "interleave"}, {"op": "map"},
          {"op": "batch"}]})",
      "the spec of a test");
  const results::Report report = results::make_report({own, unnamed});
  for (const std::string& text : {csv_text("trials.csv", report), csv_text("repeats.csv", report)}) {
    const auto records = read_csv_records(text);
    EXPECT_EQ(records.at(0).at("pipeline"), "mine");
    EXPECT_EQ(records.at(1).at("pipeline"), "custom");
  }
}

TEST(TrialsCsv, HasOneColumnForAKeyThatIsSweptAndHasItsOwn) {
  results::TrialResult one = results::make_trial({}, {100}), two = results::make_trial({.engine = "onednn"}, {100});
  two.cores_per_rank = 2;
  two.spec.cores_per_rank = 2;
  const results::Report report = results::make_report({one, two});
  for (const std::string& text : {csv_text("trials.csv", report), csv_text("repeats.csv", report)}) {
    const auto header = read_csv(text).at(0);
    for (const char* name : {"engine", "cores_per_rank"}) EXPECT_EQ(std::ranges::count(header, name), 1) << name;
    EXPECT_EQ(read_csv_records(text).at(0).at("cores_per_rank"), "1");
    EXPECT_EQ(read_csv_records(text).at(1).at("cores_per_rank"), "2");
  }
}

TEST(RepeatsCsv, TellsTrialsApartAsTrialsCsvDoes) {
  results::TrialResult ring = results::make_trial({}, {100}), tree = ring;
  tree.spec.comm.update = spec::UpdateScheme::tree;
  const results::Report report = results::make_report({ring, tree});
  const auto repeats = read_csv(csv_text("repeats.csv", report)).at(0),
             trials = read_csv(csv_text("trials.csv", report)).at(0);
  const auto first = std::ptrdiff_t{9};  // experiment .. batch_size
  EXPECT_EQ(std::vector<std::string>(repeats.begin(), repeats.begin() + first),
            std::vector<std::string>(trials.begin(), trials.begin() + first));
  EXPECT_EQ(repeats.at(9), "repeat");
  EXPECT_EQ(repeats.at(10), "images_per_s");
  EXPECT_EQ(repeats.back(), "comm.update");
  EXPECT_EQ(read_csv_records(csv_text("repeats.csv", report)).at(1).at("comm.update"), "tree");
}

TEST(TrialsCsv, HasNoInputForReadyMadeBatches) {
  results::TrialResult naive = results::make_trial({.pipeline = "naive"}, {100}), opencv = naive;
  opencv.spec.data.decoder = spec::DecoderKind::opencv;
  for (spec::OpSpec& op : opencv.spec.pipeline.ops)
    if (op.op == "map") op.parameters["parallel_calls"] = std::int64_t{3};
  const auto ready = results::make_trial({.format = spec::DataFormat::ready}, {100});
  const results::Report report = results::make_report({naive, ready, opencv});
  const auto records = read_csv_records(csv_text("trials.csv", report));
  for (const char* column : {"pipeline", "decoder", "data_root", "data.decoder", "pipeline.map.parallel_calls"}) {
    EXPECT_EQ(records.at(1).at(column), "") << column;
    EXPECT_NE(records.at(0).at(column), "") << column;
  }
  EXPECT_EQ(records.at(2).at("data.decoder"), "opencv");
  EXPECT_EQ(read_csv_records(csv_text("repeats.csv", report)).at(1).at("pipeline"), "");
  const auto header = read_csv(csv_text("trials.csv", results::make_report({naive, ready}))).at(0);
  EXPECT_EQ(header.back(), "data.format");
}

TEST(TrialsCsv, SaysIfTheSpeedOfAnEmulatedEngineWasComputed) {
  results::TrialResult computed = results::make_trial({.ranks = 2, .engine = "emulated:v100"}, {100});
  computed.step_time_computed = true;
  const auto records = read_csv_records(csv_text(
      "trials.csv", results::make_report({results::make_trial({}, {100}),
                                          results::make_trial({.engine = "emulated:v100"}, {100}), computed})));
  EXPECT_EQ(records.at(0).at("step_time_computed"), "");
  EXPECT_EQ(records.at(1).at("step_time_computed"), "false");
  EXPECT_EQ(records.at(2).at("step_time_computed"), "true");
}

TEST(RepeatsCsv, HasARowForEveryRepeat) {
  const auto records = read_csv_records(
      csv_text("repeats.csv", results::make_report({results::make_trial({.ranks = 2}, {100, 101, 102})})));
  ASSERT_EQ(records.size(), 3u);
  EXPECT_THAT(records.back(), IsSupersetOf(std::map<std::string, std::string>{{"trial", "optimized images ranks=2"},
                                                                              {"pipeline", "optimized"},
                                                                              {"format", "images"},
                                                                              {"ranks", "2"},
                                                                              {"repeat", "2"},
                                                                              {"images_per_s", "102"},
                                                                              {"disturbed", "false"},
                                                                              {"emulated", "false"}}));
}

TEST(TrialsCsv, TellsWhereTheDataLieAndHowTheirStoreWasSlowedDown) {
  results::TrialResult near = results::make_trial({}, {100}), far = near;
  near.spec.data.root = "data/nih";
  far.spec.data.root = "s3://xrays/nih";
  far.spec.data.store.shape = {.bandwidth_mb_per_s = 100, .latency_ms = 2.5, .jitter_ms = 1, .iops = 500};
  const auto records = read_csv_records(csv_text("trials.csv", results::make_report({near, far})));
  EXPECT_EQ(records.at(0).at("data_root"), "data/nih");
  EXPECT_EQ(records.at(0).at("store_latency_ms"), "") << "it is as it is";
  EXPECT_EQ(records.at(1).at("data_root"), "s3://xrays/nih");
  EXPECT_EQ(records.at(1).at("store_latency_ms"), "2.5");
  EXPECT_EQ(records.at(1).at("store_jitter_ms"), "1");
  EXPECT_EQ(records.at(1).at("store_bandwidth_mb_per_s"), "100");
  EXPECT_EQ(records.at(1).at("store_requests_per_s"), "500");
}

TEST(TrialsCsv, HasARowForEachTrialWithItsFigures) {
  const results::Report report =
      results::make_report({results::make_trial({.pipeline = "naive", .ranks = 2}, {100, 104, 102, 90, 103}),
                            results::make_trial({.engine = "onednn"}, {3.75})});
  const auto records = read_csv_records(csv_text("trials.csv", report));
  ASSERT_EQ(records.size(), 2u);
  using Cells = std::map<std::string, std::string>;
  EXPECT_THAT(records[0], IsSupersetOf(Cells{{"experiment", "naive-vs-optimized"},
                                             {"trial", "naive images ranks=2"},
                                             {"pipeline", "naive"},
                                             {"format", "images"},
                                             {"model", "resnet50"},
                                             {"engine", "none"},
                                             {"precision", "f32"},
                                             {"ranks", "2"},
                                             {"batch_size", "16"},
                                             {"images_per_s", "102"},
                                             {"images_per_s_mad", "2"},
                                             {"images_per_s_ci95_low", "90"},
                                             {"images_per_s_ci95_high", "104"},
                                             {"decoded_per_trained", "1"},
                                             {"peak_rss_bytes", "500000004"},
                                             {"emulated", "false"},
                                             {"repeats", "5"},
                                             {"cpu", "Some CPU @ 2.5 GHz, 2 sockets"}}));
  EXPECT_NEAR(std::stod(records[0].at("wait_share")), 0.40, 1e-12);
  EXPECT_NEAR(std::stod(records[0].at("busy_share")), 0.43, 1e-12);
  EXPECT_EQ(records[1].at("engine"), "onednn");
  EXPECT_EQ(records[1].at("images_per_s"), "3.75");
}

TEST(TrialsCsv, LeavesUndefinedFiguresEmpty) {
  const auto row = only_row(results::make_trial({.ranks = 4}, {100, 101}));
  for (const char* column : {"images_per_s_ci95_low", "images_per_s_ci95_high", "scaling_efficiency", "au_share",
                             "start_to_first_batch_s", "emulated_source"}) {
    EXPECT_EQ(row.at(column), "") << column;
  }
}

TEST(TrialsCsv, HasARowWithoutFiguresForATrialThatWasNotReached) {
  results::TrialResult trial = results::make_trial({}, {});
  trial.partial = true;
  const auto row = only_row(trial);
  EXPECT_EQ(row.at("partial"), "true");
  EXPECT_EQ(row.at("repeats"), "0");
  for (const char* column : {"images_per_s", "wait_share", "peak_rss_bytes", "images_trained", "process_cpu_s"}) {
    EXPECT_EQ(row.at(column), "") << column;
  }
}

TEST(TrialsCsv, MarksEmulatedTrialsAndNamesTheSource) {
  const auto row = only_row(results::make_trial({.engine = "emulated:v100"}, {100}));
  EXPECT_EQ(row.at("emulated"), "true");
  EXPECT_EQ(row.at("emulated_source"), "a cited publication");
  EXPECT_NEAR(std::stod(row.at("au_share")), 2 * 0.038 / 0.2, 1e-12);
}

TEST(TrialsCsv, SumsCountsOverRepeats) {
  results::TrialResult trial = results::make_trial({}, {100, 100, 100});
  trial.repeats[1].bad_records = 2;
  trial.repeats[2].bad_records = 3;
  trial.repeats[0].start_to_first_batch_s = 0.125;
  trial.repeats[2].page_cache = "cold (not verified)";
  EXPECT_EQ(only_row(trial).at("cached_share_before"), "") << "nobody looked";
  for (results::RepeatResult& repeat : trial.repeats) repeat.looked_at_bytes = 800;
  trial.repeats[1].cached_bytes_before = 600;
  for (results::RepeatResult& repeat : trial.repeats) repeat.cached_bytes_after = 800;
  const auto row = only_row(trial);
  EXPECT_EQ(row.at("bad_records"), "5");
  EXPECT_EQ(row.at("images_trained"), "96");
  EXPECT_EQ(row.at("images_decoded"), "96");
  EXPECT_EQ(row.at("bytes_read"), "3000");
  EXPECT_EQ(row.at("process_cpu_s"), "0.375");
  EXPECT_EQ(row.at("start_to_first_batch_s"), "0.125");
  EXPECT_EQ(row.at("page_cache"), "mixed");
  EXPECT_EQ(row.at("cached_share_before"), "0.25");
  EXPECT_EQ(row.at("cached_share_after"), "1");
}

TEST(TrialsCsv, WritesEachFlagInItsOwnColumn) {
  const std::vector<std::string> columns{"oversubscribed", "unstable", "partial", "buffer_fed"};
  for (const std::string& raised : columns) {
    results::TrialResult trial = results::make_trial({}, {100});
    trial.oversubscribed = raised == "oversubscribed";
    trial.unstable = raised == "unstable";
    trial.partial = raised == "partial";
    trial.repeats[0].buffer_fed = raised == "buffer_fed";
    const auto row = only_row(trial);
    for (const std::string& column : columns) EXPECT_EQ(row.at(column), column == raised ? "true" : "false") << column;
  }
}

TEST(TrialsCsv, SurvivesNamesFullOfDelimiters) {
  results::TrialResult trial = results::make_trial({}, {100});
  trial.name = "a \"b\", c\nd";
  EXPECT_EQ(only_row(trial).at("trial"), trial.name);
}

}  // namespace
}  // namespace chexbench::report

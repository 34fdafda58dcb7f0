#include "report/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "results/packed.hpp"
#include "results/rank_trace.hpp"
#include "results/record_factory.hpp"

namespace chexbench::report {
namespace {

using Json = nlohmann::json;
using measure::SpanKind;
using testing::ElementsAre;

std::string written(const results::Report& report) {
  std::string text;
  write_trace(report, [&text](std::string_view piece) { text += piece; });
  return text;
}

// Returns the spans of the row as name -> [begin, end], in microseconds since the first of them.
std::multimap<std::string, std::pair<double, double>> spans_of(const Json& trace, int pid, int row) {
  const int tid = 1000 * (pid + 1) + row;
  std::multimap<std::string, std::pair<double, double>> spans;
  double first_us = -1;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X" || event["pid"] != pid || event["tid"] != tid) continue;
    const double begin_us = event["ts"];
    if (first_us < 0) first_us = begin_us;
    spans.emplace(event["name"], std::pair(begin_us - first_us, begin_us - first_us + event["dur"].get<double>()));
  }
  return spans;
}

// Returns a traced trial. Each repeat has two steps of 100 ms that end at 1000.15 s and 1000.25 s.
results::TrialResult traced_trial(const results::TrialOptions& options = {}) {
  results::TrialResult trial = results::make_trial(options, {100, 101});
  for (results::RepeatResult& repeat : trial.repeats) {
    for (results::StepRecord& step : repeat.steps) step.timings.end_s = 1000.15 + 0.1 * step.step;
    repeat.ops[1].queue_capacity = 4;
  }
  trial.trace = {.repeat = 1, .ranks = {}};
  for (int rank = 0; rank < options.ranks; ++rank) trial.trace->ranks.push_back({.rank = rank});
  return trial;
}

measure::Trace one_thread(std::vector<measure::Span> spans) {
  return {.threads = {{.row = 0, .name = "decode-0", .spans = std::move(spans)}}};
}

TEST(Trace, LaysThePartsOfAStepOneBehindTheOther) {
  const Json trace = Json::parse(written(results::make_report({traced_trial()})));
  const auto spans = spans_of(trace, 0, 1);
  const auto expect = [&spans](const char* name, double begin_us, double end_us) {
    ASSERT_EQ(spans.count(name), 2u) << name;
    EXPECT_NEAR(spans.find(name)->second.first, begin_us, 0.01) << name;
    EXPECT_NEAR(spans.find(name)->second.second, end_us, 0.01) << name;
  };
  EXPECT_NEAR(spans.find("step 1")->second.first, 100'000, 0.01);
  EXPECT_NEAR(spans.find("step 1")->second.second, 200'000, 0.01);
  expect("wait", 0, 40'000);
  expect("upload", 40'000, 45'000);
  expect("compute", 45'000, 75'000);
  expect("forward", 45'000, 55'000);
  expect("backward", 55'000, 75'000);
  expect("exposed communication", 75'000, 85'000);
  expect("update", 85'000, 93'000);
  expect("other", 93'000, 100'000);
}

TEST(Trace, UsesTheClockOfEndS) {
  const Json trace = Json::parse(written(results::make_report({traced_trial()})));
  for (const Json& event : trace["traceEvents"]) {
    if (event["name"] == "step 1") {
      EXPECT_NEAR(event["ts"].get<double>() + event["dur"].get<double>(), 1000.25e6, 0.01);
    }
  }
}

TEST(Trace, KeepsPartsWithinTheirStepWhereTheySumToMore) {
  results::TrialResult trial = traced_trial();
  for (results::StepRecord& step : trial.repeats[1].steps) step.timings.update_s = 1;
  const auto spans = spans_of(Json::parse(written(results::make_report({trial}))), 0, 1);
  for (const auto& [name, time] : spans) EXPECT_LE(time.second, 200'000.01) << name;
}

TEST(Trace, HasADepthForEachQueueAsStepsEnd) {
  const Json trace = Json::parse(written(results::make_report({traced_trial()})));
  std::vector<Json> counters;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "C") counters.push_back(event);
  }
  ASSERT_EQ(counters.size(), 3u);  // op 0 has no queue
  EXPECT_EQ(counters[1]["name"], "queue of 1 map");
  EXPECT_NEAR(counters[1]["ts"].get<double>(), 1000.25e6, 0.01);
  EXPECT_EQ(counters[1]["args"]["elements"], 3);
  EXPECT_NEAR(counters[2]["ts"].get<double>(), 1000.25e6 + 0.001, 0.0006) << "the trial is over";
  EXPECT_EQ(counters[2]["args"]["elements"], 0);
}

TEST(Trace, HasAProcessForEachRankWithItsThreads) {
  results::TrialResult trial = traced_trial({.ranks = 2});
  const std::vector<measure::Span> spans{
      {.name = "map", .begin_s = 999.5, .end_s = 1000, .detail = 3},
      {.name = "bucket", .kind = SpanKind::bucket, .begin_s = 1000, .end_s = 1001, .detail = 512}};
  for (results::RankTrace& rank : trial.trace->ranks)
    rank.events = results::trace_events(one_thread(spans), rank.rank, 0);
  const Json trace = Json::parse(written(results::make_report({trial})));
  std::map<std::string, int> seen;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "M" && event["args"].contains("name")) ++seen[event["args"]["name"]];
    if (event["name"] == "map") {
      EXPECT_EQ(event["args"]["op_index"], 3);
    }
    if (event["name"] == "bucket") {
      EXPECT_EQ(event["args"]["bytes"], 512);
    }
    if (event.contains("tid")) {
      EXPECT_NE(event["tid"], event["pid"]) << "Perfetto would call it the main thread";
    }
  }
  EXPECT_EQ(seen, (std::map<std::string, int>{{"rank 0", 1}, {"rank 1", 1}, {"steps", 2}, {"decode-0", 2}}));
  for (const int rank : {0, 1}) EXPECT_EQ(spans_of(trace, rank, 2).count("map"), 1u);
}

TEST(Trace, SaysWhatAThreadWaitsFor) {
  const std::string text = results::trace_events(one_thread({{.name = "map", .kind = SpanKind::waits_for_input},
                                                             {.name = "map", .kind = SpanKind::waits_for_room},
                                                             {.name = "map", .kind = SpanKind::waits_for_result}}),
                                                 0, 0);
  for (const char* name : {"map: waits for input", "map: waits for room", "map: waits for a result"})
    EXPECT_THAT(text, testing::HasSubstr(std::string(R"("cat":"wait","name":")") + name + '"'));
}

TEST(Trace, PutsASpanBeforeThoseWithinItThatBeginWithIt) {
  const std::string text = results::trace_events(one_thread({{.name = "inner", .begin_s = 1, .end_s = 2},
                                                             {.name = "outer", .begin_s = 1, .end_s = 3},
                                                             {.name = "earlier", .begin_s = 0, .end_s = 1}}),
                                                 0, 0);
  EXPECT_LT(text.find("earlier"), text.find("outer"));
  EXPECT_LT(text.find("outer"), text.find("inner"));
}

TEST(Trace, MovesARankOfAnotherHostToTheClockOfRank0) {
  results::TrialResult trial = traced_trial({.ranks = 2});
  trial.trace->ranks[1].clock_shift_s = 50;
  trial.trace->ranks[1].events = results::trace_events(one_thread({{.name = "map", .begin_s = 1, .end_s = 2}}), 1, 50);
  const Json trace = Json::parse(written(results::make_report({trial})));
  for (const Json& event : trace["traceEvents"]) {
    if (event["pid"] == 1 && event["name"] == "map") {
      EXPECT_EQ(event["ts"], 51e6);
    }
    if (event["pid"] == 1 && event["name"] == "step 0") {
      EXPECT_NEAR(event["ts"].get<double>(), 1050.05e6, 0.01);
    }
  }
}

TEST(Trace, SaysWhatIsEmulatedAndHowMuchIsMissing) {
  results::TrialResult emulated = traced_trial({.ranks = 2, .engine = "emulated:v100"});
  emulated.trace->ranks[0].dropped_spans = 3;
  emulated.trace->ranks[1].dropped_spans = 4;
  const Json trace = Json::parse(written(results::make_report({emulated})));
  EXPECT_EQ(trace["otherData"]["emulated"], true);
  EXPECT_EQ(trace["otherData"]["emulated_trials"], emulated.name);
  EXPECT_EQ(trace["otherData"]["dropped_spans"], 7);
  EXPECT_EQ(trace["traceEvents"][0]["args"]["name"], "rank 0 (emulated accelerator)");
  EXPECT_EQ(Json::parse(written(results::make_report({traced_trial()})))["otherData"]["emulated"], false);
}

TEST(Trace, HoldsTheTracedTrialsAlone) {
  EXPECT_FALSE(has_trace(results::make_report({results::make_trial({}, {100})})));
  const results::Report report =
      results::make_report({results::make_trial({.pipeline = "naive"}, {100}), traced_trial()});
  EXPECT_TRUE(has_trace(report));
  EXPECT_EQ(written(report).find("naive images"), std::string::npos);
}

TEST(Trace, TravelsBetweenRanksUnchanged) {
  const results::RankTrace sent{
      .rank = 3, .clock_shift_s = -0.1, .dropped_spans = 7, .events = "{\"a\":1},\n{\"b\":2},\n"};
  const results::RankTrace got = results::unpacked<results::RankTrace>(results::packed(sent));
  EXPECT_EQ(got.rank, 3);
  EXPECT_EQ(got.clock_shift_s, -0.1);
  EXPECT_EQ(got.dropped_spans, 7u);
  EXPECT_EQ(got.events, sent.events);
}

}  // namespace
}  // namespace chexbench::report

#include "report/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/errors.hpp"
#include "results/read.hpp"
#include "results/record_factory.hpp"

namespace chexbench::report {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

results::Report rich_report() {
  results::Report report = results::make_report(
      {results::make_trial({.ranks = 1}, {100, 104, 102, 90, 103}), results::make_trial({.ranks = 2}, {180})});
  report.interrupted = true;
  report.environment.hosts = {
      {.host = "node1",
       .cpu = "a CPU",
       .kernel = "Linux 6.1.0",
       .governors = "performance (2)",
       .load_before = 0.25,
       .turbo = "off",
       .smt = "on",
       .mitigations = "off for mds",
       .nics = {{"eth0", "Ethernet", "ixgbe", 10'000'000'000}, {"eth1", "Ethernet", "", std::nullopt}},
       .striping = {{"Lustre", "lfs getstripe", {{4, 1 << 20}, {std::nullopt, 1}}, ""}}},
      {.host = "node2", .load_before = 3}};
  report.environment.libraries = {{"MPI", "MPICH 4.0.2"}, {"NCCL", std::nullopt}, {"oneDNN", "2.7.2"}};
  report.environment.spec_file = "out/spec.json";
  report.environment.spec_overrides = {"ranks=2"};
  report.findings = {{.kind = "starved", .text = "a sentence with \"quotes\" and a \\", .emulated = true},
                     {.kind = "pipeline_ratio",
                      .text = "one is faster",
                      .trial = "one",
                      .base = "another",
                      .ratio = measure::Ratio{.value = 1.5, .ci95 = measure::Interval{1.25, 1.75}}}};
  results::TrialResult& trial = report.trials[1];
  trial.cores_per_rank = 3;
  trial.oversubscribed = trial.unstable = trial.partial = true;
  trial.notes = {"one", "two"};
  trial.data.patients_in_both_splits = 4;
  results::RepeatResult& repeat = trial.repeats[0];
  repeat.images_held_change = -7;
  repeat.bad_records = 3;
  repeat.buffer_fed = true;
  repeat.page_cache = "cold (not verified)";
  repeat.start_to_first_batch_s = 0.1;
  repeat.bytes_read = std::numeric_limits<std::uint64_t>::max();
  repeat.steps[1].timings.wall_s = 1.0 / 3.0;
  repeat.tunings = {{.op_index = 3,
                     .op = "map",
                     .parameter = "parallel_calls",
                     .value = 4,
                     .reason = "6 added 0.8 %",
                     .points = {{.value = 4, .images_per_s = 180}, {.value = 6, .images_per_s = 181.4, .gain = 1.008}}},
                    {.op_index = 2, .op = "interleave", .parameter = "cycle_length", .value = 10, .points = {}}};
  return report;
}

template <typename T>
json plain(const T& value) {
  return value;
}
template <typename T>
json plain(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json plain(const std::optional<measure::Interval>& interval) {
  return interval ? json{interval->low, interval->high} : json();
}
json plain(const std::vector<measure::LibraryVersion>& libraries) {
  json list = json::array();
  for (const auto& [name, version] : libraries) list.push_back({name, plain(version)});
  return list;
}
json plain(const std::vector<results::HostState>& hosts) {
  json list = json::array();
  for (const results::HostState& host : hosts)
    list.push_back({host.host, host.cpu, host.kernel, host.governors, host.load_before});
  return list;
}

// Writes all fields of the records as text, so that a field that a round trip loses shows by its name.
template <class Record>
std::string listing(const Record& record) {
  json object = json::object();
  results::visit_fields([&object](const char* name, const auto& value) { object[name] = plain(value); }, record);
  return object.dump(1);
}

#define EXPECT_SAME_RECORDS(a, b)    \
  ASSERT_EQ((a).size(), (b).size()); \
  for (std::size_t i = 0; i < (a).size(); ++i) EXPECT_EQ(listing((a)[i]), listing((b)[i]))

void expect_same_repeat(const results::RepeatResult& a, const results::RepeatResult& b) {
  EXPECT_EQ(listing(a), listing(b));
  EXPECT_SAME_RECORDS(a.steps, b.steps);
  EXPECT_SAME_RECORDS(a.ops, b.ops);
  EXPECT_SAME_RECORDS(a.waits, b.waits);
  EXPECT_SAME_RECORDS(a.op_samples, b.op_samples);
  EXPECT_SAME_RECORDS(a.tunings, b.tunings);
  for (std::size_t tuning = 0; tuning < a.tunings.size(); ++tuning) {
    EXPECT_SAME_RECORDS(a.tunings[tuning].points, b.tunings[tuning].points);
  }
}

TEST(ReportJson, RoundTripsThePartsOfFindings) {
  results::Report report = rich_report();
  report.findings[0].trial = "one";
  report.findings[0].headline = "starves its accelerator 38 % of the time";
  report.findings[0].reason = "Its cores are full.";
  report.findings[0].advice = "Give it more.";
  report.findings[0].command = "chexbench --config SPEC";
  report.findings[0].worth_share = 0.38;
  const results::Report read = results::report_from_json(to_json(report), "report.json");
  EXPECT_SAME_RECORDS(report.findings, read.findings);
  EXPECT_EQ(read.findings[0].worth_share, 0.38);
  EXPECT_EQ(read.findings[1].headline, "");  // as in reports of versions before the parts
}

TEST(ReportJson, TakesAWorthThatIsNoNumberForNone) {
  results::Report report = rich_report();
  report.findings[0].headline = "starves";
  report.findings[0].worth_share = 1e9;
  EXPECT_EQ(results::report_from_json(to_json(report), "report.json").findings[0].worth_share, 1);
  report.findings[0].worth_share = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(results::report_from_json(to_json(report), "report.json").findings[0].worth_share, 0);
}

TEST(ReportJson, RoundTripsEveryField) {
  const results::Report report = rich_report();
  const results::Report read = results::report_from_json(to_json(report), "report.json");
  EXPECT_EQ(read.experiment, report.experiment);
  EXPECT_TRUE(read.interrupted);
  EXPECT_EQ(listing(read.environment), listing(report.environment));
  ASSERT_EQ(read.findings.size(), 2u);
  EXPECT_EQ(read.findings[0].kind, report.findings[0].kind);
  EXPECT_EQ(read.findings[0].text, report.findings[0].text);
  EXPECT_TRUE(read.findings[0].emulated);
  EXPECT_FALSE(read.findings[0].ratio);
  ASSERT_TRUE(read.findings[1].ratio && read.findings[1].ratio->ci95);
  EXPECT_EQ(read.findings[1].trial, "one");
  EXPECT_EQ(read.findings[1].base, "another");
  EXPECT_EQ(read.findings[1].ratio->ci95->high, 1.75);
  ASSERT_EQ(read.trials.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(listing(read.trials[i]), listing(report.trials[i]));
    EXPECT_TRUE(read.trials[i].spec == report.trials[i].spec);
    ASSERT_EQ(read.trials[i].repeats.size(), report.trials[i].repeats.size());
    for (std::size_t repeat = 0; repeat < read.trials[i].repeats.size(); ++repeat) {
      expect_same_repeat(read.trials[i].repeats[repeat], report.trials[i].repeats[repeat]);
    }
  }
}

TEST(ReportJson, LeavesAnIntervalWithoutAnEndEmpty) {
  results::Report report = rich_report();
  report.findings[1].ratio->ci95 = measure::Interval{1.25, std::numeric_limits<double>::infinity()};
  EXPECT_FALSE(results::report_from_json(to_json(report), "report.json").findings[1].ratio->ci95);
}

TEST(ReportJson, ReadAndWrittenAgainIsTheSameText) {
  const std::string text = to_json(rich_report());
  EXPECT_EQ(to_json(results::report_from_json(text, "report.json")), text);
}

TEST(ReportJson, HoldsVersionResolvedSpecFiguresAndCounters) {
  const json object = json::parse(to_json(rich_report()));
  EXPECT_EQ(object["schema_version"], results::kSchemaVersion);
  EXPECT_EQ(object["environment"]["cpu"], "Some CPU @ 2.5 GHz, 2 sockets");
  EXPECT_EQ(object["environment"]["hosts"][1]["host"], "node2");
  EXPECT_EQ(object["environment"]["hosts"][1]["load_before"], 3);
  EXPECT_EQ(object["environment"]["hosts"][0]["nics"][0]["bits_per_s"], 10'000'000'000);
  EXPECT_EQ(object["environment"]["hosts"][0]["striping"][0]["stripes"][0]["targets"], 4);
  EXPECT_EQ(object["environment"]["libraries"].dump(), R"({"MPI":"MPICH 4.0.2","NCCL":null,"oneDNN":"2.7.2"})");
  const json& trial = object["trials"][0];
  EXPECT_EQ(trial["spec"]["data"]["root"], "data/nih");
  EXPECT_TRUE(trial["spec"]["pipeline"].is_array() || trial["spec"]["pipeline"].is_object());
  EXPECT_EQ(trial["figures"]["images_per_s"], 102.0);
  EXPECT_EQ(trial["figures"]["images_per_s_ci95"], json::array({90.0, 104.0}));
  EXPECT_TRUE(trial["figures"]["au_share"].is_null());
  EXPECT_EQ(trial["figures"]["scaling_efficiency"], 1.0);
  EXPECT_TRUE(object["trials"][1]["figures"]["scaling_efficiency"].is_null());
  EXPECT_EQ(trial["repeats"][0]["ops"][1]["op"], "map");
  EXPECT_EQ(trial["repeats"][0]["ops"][1]["decode_s"], 0.25);
}

TEST(ReportJson, SumsUpStepTimes) {
  results::TrialResult trial = results::make_trial({.ranks = 1}, {100});
  const auto add_step = [&trial](double wall_s) {
    trial.repeats[0].steps.push_back({.rank = 0, .step = 0, .next_s = 0, .timings = {.wall_s = wall_s}});
  };
  trial.repeats[0].steps.clear();
  for (int step = 20; step >= 1; --step) add_step(0.01 * step);
  const json times = json::parse(to_json(results::make_report({trial})))["trials"][0]["repeats"][0]["step_times"];
  EXPECT_EQ(times["steps"], 20);
  EXPECT_DOUBLE_EQ(times["min_s"].get<double>(), 0.01);
  EXPECT_DOUBLE_EQ(times["median_s"].get<double>(), 0.105);
  EXPECT_DOUBLE_EQ(times["p95_s"].get<double>(), 0.19);  // 19 of 20 steps take at most that
  EXPECT_DOUBLE_EQ(times["max_s"].get<double>(), 0.20);
}

TEST(ReportJson, MarksEmulatedTrialsBesideTheirFiguresToo) {
  const json object =
      json::parse(to_json(results::make_report({results::make_trial({.engine = "emulated:v100"}, {100})})));
  const json& trial = object["trials"][0];
  EXPECT_EQ(trial["emulated"], true);
  EXPECT_EQ(trial["figures"]["emulated"], true);
  EXPECT_EQ(trial["engine_source"], "a cited publication");
  EXPECT_TRUE(trial["figures"]["au_share"].is_number());
}

TEST(ReportJson, SaysIfTheSpeedWasComputedAndReadsItBack) {
  results::TrialResult computed = results::make_trial({.engine = "emulated:v100"}, {100});
  computed.step_time_computed = true;
  const std::string text = to_json(results::make_report({results::make_trial({}, {100}), computed}));
  const json trials = json::parse(text)["trials"];
  EXPECT_EQ(trials[0]["step_time_computed"], false);
  EXPECT_EQ(trials[1]["step_time_computed"], true);
  EXPECT_EQ(trials[1]["figures"]["step_time_computed"], true);
  EXPECT_TRUE(results::report_from_json(text, "report.json").trials[1].step_time_computed);
}

TEST(ReportJson, WritesALossThatIsNoNumberAsNullAndReadsItBack) {
  results::TrialResult trial = results::make_trial({.ranks = 1}, {100});
  trial.repeats[0].steps[0].timings.loss = std::numeric_limits<double>::quiet_NaN();
  const results::Report read = results::report_from_json(to_json(results::make_report({trial})), "report.json");
  EXPECT_TRUE(std::isnan(read.trials[0].repeats[0].steps[0].timings.loss));
  EXPECT_EQ(read.trials[0].repeats[0].steps[1].timings.loss, 0.693);
}

TEST(ReportJson, KeepsAStepOnOneLine) {
  const std::string text = to_json(results::make_report({results::make_trial({.ranks = 2}, {100})}));
  EXPECT_THAT(text, HasSubstr("[1,1,0.041,0.1,0.04,0.005,0.03,0.01,0.008,0.007,0.01,0.02,0.693,16,0.015,1000.25]\n"));
}

TEST(ReportJson, WritesTextThatIsNotUtf8WithReplacements) {
  results::Report report = results::make_report({});
  report.environment.command_line = {"\xff"};
  EXPECT_EQ(json::parse(to_json(report))["environment"]["command_line"][0], "\xEF\xBF\xBD");
}

std::string error_of(const std::string& text) {
  try {
    results::report_from_json(text, "old/report.json");
  } catch (const DataError& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(ReportJson, NamesTheFileOfAReportItCannotRead) {
  EXPECT_THAT(error_of("{\"schema_version\": 1"), AllOf(HasSubstr("old/report.json"), HasSubstr("parse error")));
  EXPECT_THAT(error_of("{}"), AllOf(HasSubstr("old/report.json"), HasSubstr("schema_version")));
  EXPECT_THAT(error_of("[]"), HasSubstr("old/report.json"));
}

TEST(ReportJson, NamesTheTrialWhoseSpecIsWrong) {
  json object = json::parse(to_json(rich_report()));
  object["trials"][1]["spec"]["training"]["batch_size"] = "four";
  EXPECT_THAT(error_of(object.dump()), AllOf(HasSubstr("ranks=2"), HasSubstr("batch_size")));
}

TEST(ReportJson, ReadsReportsThatLackAFieldAddedLater) {
  json object = json::parse(to_json(rich_report()));
  object["trials"][0]["repeats"][0].erase("anonymous_rss_bytes");
  EXPECT_EQ(results::report_from_json(object.dump(), "x").trials[0].repeats[0].anonymous_rss_bytes, 0u);
}

TEST(ReportJson, HasNoLoadWhereAnOlderVersionWroteNone) {
  json object = json::parse(to_json(rich_report()));
  object["environment"].erase("load_before");
  object["environment"]["hosts"][0].erase("load_before");
  const results::Environment read = results::report_from_json(object.dump(), "x").environment;
  EXPECT_TRUE(std::isnan(read.load_before)) << read.load_before;
  EXPECT_TRUE(std::isnan(read.hosts[0].load_before)) << read.hosts[0].load_before;
}

class JournalText : public testing::Test {
 protected:
  const results::RepeatResult first_ = results::make_repeat(0, 2, 100);
  const results::RepeatResult second_ = results::make_repeat(1, 2, 101.5);
  const std::string text_ = results::to_journal_line({.key = "a", .repeat = first_}) + "\n" +
                            results::to_journal_line({.key = "b", .repeat = second_}) + "\n";
};

TEST_F(JournalText, RoundTripsKeyAndRepeat) {
  const results::JournalContents contents = results::journal_from_text(text_, "journal.jsonl");
  ASSERT_EQ(contents.entries.size(), 2u);
  EXPECT_EQ(contents.entries[0].key, "a");
  EXPECT_EQ(contents.entries[1].key, "b");
  expect_same_repeat(contents.entries[0].repeat, first_);
  expect_same_repeat(contents.entries[1].repeat, second_);
  EXPECT_EQ(contents.whole_bytes, text_.size());
}

TEST_F(JournalText, IsOneLineARepeat) {
  EXPECT_EQ(results::to_journal_line({.key = "two\nlines", .repeat = first_}).find('\n'), std::string::npos);
}

TEST_F(JournalText, LeavesOutALastLineTornAnywhere) {
  const std::size_t first_line = text_.find('\n') + 1;
  for (const std::size_t cut : {first_line + 1, first_line + 40, text_.size() - 2, text_.size() - 1}) {
    const results::JournalContents contents = results::journal_from_text(text_.substr(0, cut), "journal.jsonl");
    ASSERT_EQ(contents.entries.size(), 1u) << "cut at " << cut;
    EXPECT_EQ(contents.entries[0].key, "a");
    EXPECT_EQ(contents.whole_bytes, first_line);
  }
}

TEST_F(JournalText, OfNothingIsEmpty) {
  const results::JournalContents contents = results::journal_from_text("", "journal.jsonl");
  EXPECT_TRUE(contents.entries.empty());
  EXPECT_EQ(contents.whole_bytes, 0u);
}

TEST_F(JournalText, RefusesWhatCannotHaveBeenMeasured) {
  const std::pair<const char*, const char*> cases[] = {
      {"images_per_s", "-5"}, {"images_per_s", "1e308"}, {"images_per_s", "null"},    {"wall_s", "-1"},
      {"repeat", "-1"},       {"repeat", "1e300"},       {"repeat", "5000000000"},    {"repeat", "1.7"},
      {"spent_s", "1e300"},   {"images_trained", "-5"},  {"peak_rss_bytes", "1e300"}, {"repeat", "\"x\""}};
  for (const auto& [name, value] : cases) {
    json line = json::parse(text_.substr(0, text_.find('\n')));
    line["repeat"][name] = json::parse(value);
    EXPECT_THROW(results::journal_from_text(line.dump() + "\n", "journal.jsonl"), DataError) << name << " " << value;
  }
}

TEST_F(JournalText, NamesALineThatIsDamagedInTheMiddle) {
  try {
    results::journal_from_text(text_.substr(0, 20) + "\n" + text_, "journal.jsonl");
    FAIL() << "nothing thrown";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("journal.jsonl, line 1"));
  }
}

}  // namespace
}  // namespace chexbench::report

// csv-metadata.json against the CSV files that it describes, of a report that fills all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "report/csv.hpp"
#include "report/csv_reader.hpp"
#include "results/record_factory.hpp"
#include "spec/keys.hpp"

namespace chexbench::report {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

results::TrialResult gpu_trial() {
  results::TrialResult trial = results::make_trial({.pipeline = "naive", .engine = "cuda"}, {100, 101});
  trial.notes = {"one", "two"};
  results::RepeatResult& repeat = trial.repeats[0];
  repeat.gpus = {{.rank = 0, .samples = {{.time_s = 1000.2}, {.time_s = 1000.21}}}};
  repeat.gpus[0].samples[0].utilization = 0.5;
  repeat.gpus[0].samples[0].throttle_reasons = std::vector<std::string>{"sw_power_cap", "hw_slowdown"};
  repeat.epochs = {{.epoch = 1, .learning_rate = 0.1, .training_loss = 0.7, .validation_loss = 0.8}};
  repeat.epochs[0].scores = {{.label = "Mass", .auroc = 0.75, .auroc_ci95 = measure::Interval{0.5, 1}},
                             {.label = "Hernia"}};
  repeat.epochs[0].curves = {{.label = "Mass", .roc = {}}};
  return trial;
}

// Two arms whose trials differ in a key, in a parameter of a repeated op, and in empty fields.
results::Report full_report() {
  results::TrialResult other = results::make_trial({.pipeline = "naive", .engine = "emulated:v100"}, {});
  other.spec.data.store.shape.latency_ms = 2.5;
  other.spec.training.accumulate_steps = 4;
  results::Report report = results::make_report({gpu_trial(), other});
  for (results::TrialResult& trial : report.trials)
    trial.spec.pipeline.ops = {spec::default_op("list_files"), spec::default_op("shuffle"), spec::default_op("shuffle"),
                               spec::default_op("map_and_batch")};
  report.trials[1].spec.pipeline.ops[2].parameters["buffer"] = std::int64_t{7};
  return report;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const CsvFile& file : csv_files()) names.emplace_back(file.name);
  return names;
}

json column_named(const json& table, const std::string& title) {
  for (const json& column : table["tableSchema"]["columns"]) {
    if (column["titles"] == title) return column;
  }
  throw std::invalid_argument("no column " + title);
}

template <class Number>
bool is_number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_of_type(const std::string& field, const std::string& datatype) {
  if (datatype == "boolean") return field == "true" || field == "false";
  if (datatype == "integer") return is_number<std::int64_t>(field);
  if (datatype == "nonNegativeInteger") return is_number<std::uint64_t>(field);
  if (datatype == "double") return is_number<double>(field);
  return datatype == "string";
}

TEST(CsvMetadata, DescribesEveryColumnOfEveryFileAndNothingElse) {
  const results::Report report = full_report();
  const json metadata = json::parse(csv_metadata(report, all_names()));
  ASSERT_EQ(metadata["tables"].size(), csv_files().size());
  for (std::size_t i = 0; i < csv_files().size(); ++i) {
    const CsvFile& file = csv_files()[i];
    const json& table = metadata["tables"][i];
    EXPECT_EQ(table["url"], file.name);
    const auto rows = read_csv(csv_text(file.name, report));
    ASSERT_GT(rows.size(), 1u) << file.name << ": the report of this test must fill it";
    std::vector<std::string> titles;
    for (const json& column : table["tableSchema"]["columns"]) titles.push_back(column["titles"]);
    EXPECT_EQ(titles, rows[0]) << file.name;
  }
}

TEST(CsvMetadata, SaysOfEachColumnWhatItIs) {
  const json metadata = json::parse(csv_metadata(full_report(), all_names()));
  for (const json& table : metadata["tables"]) {
    EXPECT_THAT(table["dc:description"].get<std::string>(), StartsWith("One row "));
    std::set<std::string> names;
    for (const json& column : table["tableSchema"]["columns"]) {
      const std::string name = column["name"], place = table["url"].get<std::string>() + ": " + name;
      EXPECT_TRUE(names.insert(name).second) << place << " is there twice";
      EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzBD0123456789_.%"), std::string::npos) << place;
      const std::string description = column["dc:description"];
      EXPECT_GT(description.size(), 10u) << place;
      EXPECT_EQ(description.find(".."), std::string::npos) << place;
      EXPECT_EQ(column["required"].get<bool>(), description.find("Empty if") == std::string::npos) << place;
      const bool has_unit = name.ends_with("_s") || name.ends_with("_bytes") || name.ends_with("_share") ||
                            name.ends_with("_w") || name.ends_with("_hz");
      EXPECT_TRUE(!has_unit || column.contains("schema:unitText")) << place;
    }
  }
}

TEST(CsvMetadata, HoldsForEachField) {
  const results::Report report = full_report();
  const json metadata = json::parse(csv_metadata(report, all_names()));
  for (std::size_t i = 0; i < csv_files().size(); ++i) {
    for (const auto& record : read_csv_records(csv_text(csv_files()[i].name, report))) {
      for (const auto& [title, field] : record) {
        const json column = column_named(metadata["tables"][i], title);
        const std::string place = std::string(csv_files()[i].name) + ": " + title;
        if (field.empty()) {
          EXPECT_FALSE(column["required"].get<bool>()) << place << " is empty";
        } else {
          EXPECT_TRUE(is_of_type(field, column["datatype"])) << place << " is " << field;
        }
      }
    }
  }
}

TEST(CsvMetadata, CountsTheStepsOfOneRepeat) {
  results::TrialResult trial = results::make_trial({.ranks = 2}, {100, 100, 100});
  trial.spec.measure.steps = static_cast<int>(trial.repeats[0].steps.size()) / 2;
  const results::Report report = results::make_report({trial});
  EXPECT_EQ(read_csv_records(csv_text("trials.csv", report)).at(0).at("steps"),
            std::to_string(trial.spec.measure.steps));
  const json trials = json::parse(csv_metadata(report, {"trials.csv"}))["tables"][0];
  EXPECT_THAT(column_named(trials, "steps")["dc:description"].get<std::string>(),
              AllOf(HasSubstr("of one rank in a repeat"), Not(HasSubstr("all repeats"))));
}

TEST(CsvMetadata, SaysWhereAScaleModelHasNoFigure) {
  results::TrialResult trial = results::make_trial({.engine = "emulated:v100"}, {100});
  trial.scale_factor = 10;
  const results::Report report = results::make_report({trial});
  EXPECT_EQ(read_csv_records(csv_text("trials.csv", report)).at(0).at("cpu_wait_share"), "");
  const json trials = json::parse(csv_metadata(report, {"trials.csv"}))["tables"][0];
  EXPECT_THAT(column_named(trials, "cpu_wait_share")["dc:description"].get<std::string>(),
              HasSubstr("Empty if it is a scale model"));
}

TEST(CsvMetadata, DescribesSweptKeysAsTheTableOfKeysDoes) {
  const json metadata = json::parse(csv_metadata(full_report(), {"trials.csv", "repeats.csv"}));
  for (const json& table : metadata["tables"]) {
    const json steps = column_named(table, "training.accumulate_steps");
    const std::string words = spec::find_key("training.accumulate_steps")->description;
    EXPECT_THAT(steps["dc:description"].get<std::string>(), HasSubstr(words.substr(1, words.size() - 2)));
    EXPECT_EQ(steps["datatype"], "integer");
    const json buffer = column_named(table, "pipeline.shuffle[1].buffer");
    EXPECT_EQ(buffer["name"], "pipeline.shuffle%5B1%5D.buffer");
    EXPECT_THAT(buffer["dc:description"].get<std::string>(), HasSubstr("a whole number"));
    EXPECT_THAT(column_named(table, "store.shape.latency_ms")["dc:description"].get<std::string>(),
                HasSubstr("Empty if the key has no value"));
  }
}

TEST(CsvMetadata, LeavesOutFilesThatWereNotWritten) {
  const json metadata = json::parse(csv_metadata(full_report(), {"steps.csv"}));
  ASSERT_EQ(metadata["tables"].size(), 1u);
  EXPECT_EQ(metadata["tables"][0]["url"], "steps.csv");
  EXPECT_EQ(metadata["@context"][0], "http://www.w3.org/ns/csvw");
}

}  // namespace
}  // namespace chexbench::report

#include "report/html.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/answer.hpp"
#include "analysis/commands.hpp"
#include "report/html_data.hpp"
#include "report/json.hpp"
#include "results/record_factory.hpp"

namespace chexbench::report {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::Not;
using testing::SizeIs;
using Json = nlohmann::json;

Json data_of(std::vector<results::TrialResult> trials) {
  return Json::parse(page_data(results::make_report(std::move(trials))));
}

TEST(PageData, HoldsTheFiguresOfReportJson) {
  const results::Report report = results::make_report(
      {results::make_trial({}, {100, 101, 102, 103, 104}), results::make_trial({.ranks = 2}, {180, 190})});
  const Json page = Json::parse(page_data(report));
  const Json file = Json::parse(to_json(report));
  ASSERT_EQ(page["trials"].size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    Json figures = file["trials"][i]["figures"];
    figures.erase("emulated");  // in the page these two are next to the figures
    figures.erase("step_time_computed");
    EXPECT_EQ(page["trials"][i]["figures"], figures);
    EXPECT_EQ(page["trials"][i]["spec"], file["trials"][i]["spec"]);
  }
  EXPECT_EQ(page["environment"], file["environment"]);
}

TEST(PageData, HoldsTheAblationsOfReportJson) {
  results::Report report = results::make_report({results::make_trial({.pipeline = "naive"}, {90, 95, 100, 105, 110}),
                                                 results::make_trial({.pipeline = "keras"}, {50, 50, 50, 50}),
                                                 results::make_trial({}, {300})});
  const Json page = Json::parse(page_data(report))["ablations"];
  EXPECT_EQ(page, Json::parse(to_json(report))["ablations"]);
  const Json steps = page.at(0)["steps"];
  EXPECT_EQ(page[0]["over"], "images, 1 rank");
  EXPECT_EQ(steps.at(0)["key"], report.trials[0].key);
  EXPECT_TRUE(steps[0]["ratio"].is_null());
  EXPECT_EQ(steps.at(1)["images_per_s"], 50);
  EXPECT_DOUBLE_EQ(steps[1]["ratio"], 50 / 97.5);
  EXPECT_TRUE(steps[1]["ratio_ci95"].is_null());
  EXPECT_DOUBLE_EQ(steps.at(2)["ratio"], 6);
  EXPECT_DOUBLE_EQ(steps[2]["ratio_to_first"], 300.0 / 90);
}

TEST(PageData, HoldsWhatSecondJobsCostAsReportJsonDoes) {
  results::Report report = results::make_report(
      {results::make_trial({}, {100, 100, 100, 100, 100}), results::make_trial({}, {50, 50, 50, 50, 50})});
  results::TrialResult& beside = report.trials[1];
  beside.spec.second_job = {.kind = spec::SecondJobKind::memory, .cores = "apart"};
  for (results::RepeatResult& repeat : beside.repeats) {
    repeat.second_job.alone_bytes_per_s = 8e9;
    repeat.second_job.bytes_per_s = 6e9;
  }
  const Json page = Json::parse(page_data(report))["second_jobs"];
  EXPECT_EQ(page, Json::parse(to_json(report))["second_jobs"]);
  ASSERT_EQ(page.size(), 1u);
  EXPECT_EQ(page[0]["key"], beside.key);
  EXPECT_DOUBLE_EQ(page[0]["kept"], 0.5);
  EXPECT_EQ(page[0]["second_counts_bytes"], true);
  EXPECT_EQ(page[0]["second_alone_rate"], 8e9);
  EXPECT_DOUBLE_EQ(page[0]["second_kept"], 0.75);
}

TEST(PageData, HoldsTheAnswer) {
  const results::Report report =
      results::make_report({results::make_trial({.pipeline = "naive"}, {90, 95, 100, 105, 110}),
                            results::make_trial({}, {300, 301, 302, 303, 304})});
  analysis::Answer answer = analysis::derive_answer(report);
  answer.lines.back() = analysis::with_folder(".", answer.command);
  const Json page = Json::parse(page_data(report))["answer"];
  EXPECT_EQ(page["lines"], Json(answer.lines));
  EXPECT_EQ(page["trial"], report.trials[1].name);
  EXPECT_EQ(page["base"], report.trials[0].name);
  EXPECT_EQ(page["ratio"], answer.ratio->value);
  EXPECT_EQ(page["ratio_ci95"], Json::array({answer.ratio->ci95->low, answer.ratio->ci95->high}));
  EXPECT_EQ(page["grade"], "told apart");
}

TEST(PageData, HasAnAnswerWhereNothingWasMeasured) {
  EXPECT_THAT(data_of({})["answer"]["lines"].at(0).get<std::string>(), HasSubstr("Nothing was measured"));
}

TEST(PageData, HasACommandThatReadsTheFolderOfThePage) {
  const std::string command = "chexbench predict --report . --accelerator v100";
  const Json answer = data_of({results::make_trial({}, {100, 100, 100, 100, 100})})["answer"];
  EXPECT_EQ(answer["command"], command);
  EXPECT_EQ(answer["lines"].back(), command);
  EXPECT_EQ(answer["command_reads_folder"], true);
  EXPECT_EQ(data_of({})["answer"]["command_reads_folder"], false);
}

TEST(PageData, BeginsWithTheFindingsThatCostMost) {
  results::Report report = results::make_report({results::make_trial({}, {1})});
  report.findings = {
      {.kind = "a", .text = "cheap", .headline = "cheap"},
      {.kind = "b", .text = "dear", .headline = "dear", .command = "chexbench --config x", .worth_share = 0.4}};
  const Json findings = Json::parse(page_data(report))["findings"];
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0]["headline"], "dear");
  EXPECT_EQ(findings[0]["command"], "chexbench --config x");
  EXPECT_EQ(findings[1]["headline"], "cheap");
}

TEST(PageData, NamesTrialsByWhatDiffers) {
  const Json page = data_of({results::make_trial({.pipeline = "naive"}, {1}), results::make_trial({.ranks = 2}, {1})});
  EXPECT_EQ(page["trials"][0]["label"], "naive, ranks 1");
  EXPECT_EQ(page["trials"][1]["label"], "optimized, ranks 2");
}

TEST(PageData, GroupsRankCountsOfOneArm) {
  const Json page = data_of({results::make_trial({}, {1}), results::make_trial({.pipeline = "naive"}, {1}),
                             results::make_trial({.ranks = 2}, {1})});
  EXPECT_EQ(page["trials"][0]["arm"], 0);
  EXPECT_EQ(page["trials"][1]["arm"], 1);
  EXPECT_EQ(page["trials"][2]["arm"], 0);
}

TEST(PageData, MarksEmulatedTrialsAndSaysWhatTheirSpeedRestsOn) {
  const Json page = data_of({results::make_trial({.engine = "emulated:v100"}, {1})});
  EXPECT_EQ(page["trials"][0]["emulated"], true);
  EXPECT_EQ(page["trials"][0]["flags"][0], "(emulated)");
  EXPECT_THAT(page["notes"].dump(), HasSubstr("a cited publication"));
}

TEST(PageData, MarksAComputedSpeed) {
  results::TrialResult computed = results::make_trial({.engine = "emulated:v100"}, {1});
  computed.step_time_computed = true;
  const Json page = data_of({computed});
  EXPECT_EQ(page["trials"][0]["mark"], "(emulated, computed speed)");
  EXPECT_EQ(page["trials"][0]["flags"][1], "(computed speed)");
  EXPECT_THAT(page["notes"].dump(), HasSubstr("no source gives the time"));
}

TEST(PageData, GivesQueuesOfOneRank) {
  results::TrialResult trial = results::make_trial({.ranks = 4}, {1, 1});
  // The sums of 4 ranks: 40 elements, each with 2 in the queue when it was taken; room for 5 per rank.
  for (results::RepeatResult& repeat : trial.repeats) {
    repeat.ops = {
        {.op = "prefetch", .elements_out = 40, .busy_wall_s = 1.5, .queue_depth_sum = 80, .queue_capacity = 20}};
  }
  const Json op = data_of({trial})["trials"][0]["ops"][0];
  EXPECT_EQ(op["op"], "prefetch");
  EXPECT_EQ(op["mean_queue_depth"], 2.0);
  EXPECT_EQ(op["queue_capacity"], 5.0);
  EXPECT_EQ(op["busy_wall_s"], 3.0);
  EXPECT_EQ(op["elements_out"], 80);
}

TEST(PageData, KeepsNoDepthOfAnOpWithoutAQueue) {
  const Json op = data_of({results::make_trial({}, {1})})["trials"][0]["ops"][0];
  EXPECT_TRUE(op["mean_queue_depth"].is_null());
  EXPECT_TRUE(op["queue_capacity"].is_null());
}

TEST(HtmlPage, HasNothingThatEndsAScript) {
  results::Report report = results::make_report({results::make_trial({}, {1})});
  report.experiment = "</script><!-- \xff";
  report.findings.push_back({.kind = "odd", .text = "</SCRIPT> and \u2028"});
  const std::string page = html_page(report);
  const std::size_t begin = page.find('{', page.find("id=\"data\""));
  const std::string data = page.substr(begin, page.find("</script>", begin) - begin);
  EXPECT_THAT(data, Not(HasSubstr("<")));
  EXPECT_THAT(Json::parse(data)["experiment"].get<std::string>(), HasSubstr("</script><!-- "));
}

TEST(PageData, TellsWhetherAnythingWasMeasured) {
  EXPECT_EQ(data_of({})["measured"], false);
  EXPECT_EQ(data_of({results::make_trial({}, {})})["measured"], false);
  EXPECT_EQ(data_of({results::make_trial({}, {}), results::make_trial({}, {1})})["measured"], true);
}

TEST(HtmlPage, IsFilledInAndClosed) {
  results::Report report = results::make_report({results::make_trial({}, {1})});
  report.experiment = "a < b & {{css}}";
  const std::string page = html_page(report);
  EXPECT_THAT(page,
              AllOf(HasSubstr("<title>chexbench: a &lt; b &amp; {{css}}</title>"), HasSubstr("prefers-color-scheme"),
                    HasSubstr("@media print"), HasSubstr("{\"experiment\":\"a \\u003c b &"), HasSubstr("</html>")));
  EXPECT_THAT(page, Not(HasSubstr("{{data}}")));
}

TEST(EvaluationPage, HasItsOwnDataAndScripts) {
  const std::string page = evaluation_page("a < b", R"({"network": "</script>"})");
  EXPECT_THAT(page, AllOf(HasSubstr("<title>chexbench: a &lt; b</title>"), HasSubstr("evaluation.json and scores.csv"),
                          HasSubstr(R"({"network": "\u003c/script>"})"), HasSubstr("addReliability"),
                          Not(HasSubstr("addThroughput")), Not(HasSubstr("'unsafe-"))));
}

TEST(HtmlPage, AsksForNothingFromOutside) {
  const std::string page = html_page(results::make_report({results::make_trial({}, {1})}));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("src=")), Not(HasSubstr("@import")), Not(HasSubstr("<link"))));
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(page, Not(HasSubstr("'unsafe-")));
}

TEST(HtmlPage, KeepsTheLicenseOfChartJs) {
  if (chart_library().text.empty()) GTEST_SKIP() << "built without Chart.js";
  EXPECT_THAT(html_page(results::make_report({})),
              AllOf(HasSubstr("Permission is hereby granted"), HasSubstr("Chart.js v")));
}

TEST(HtmlPage, ScriptsOfThePageEndNoScript) {
  const PageFiles files = page_files();
  for (const std::string_view script : {files.report.text, files.evaluation.text, chart_library().text}) {
    EXPECT_THAT(std::string(script), AllOf(Not(HasSubstr("</script")), Not(HasSubstr("<!--"))));
    EXPECT_THAT(std::string(script), Not(HasSubstr("\r"))) << "a browser hashes it as a line feed";
  }
}

results::RepeatResult repeat_of_walls(const std::vector<std::vector<double>>& walls_s_by_step) {
  results::RepeatResult repeat;
  for (std::size_t step = 0; step < walls_s_by_step.size(); ++step) {
    for (std::size_t rank = 0; rank < walls_s_by_step[step].size(); ++rank) {
      repeat.steps.push_back({.rank = static_cast<int>(rank), .step = static_cast<int>(step)});
      repeat.steps.back().timings.wall_s = walls_s_by_step[step][rank];
    }
  }
  return repeat;
}

TEST(StepCurve, IsTheMedianAndTheSlowestOfTheRanks) {
  const StepCurve curve = step_curve(repeat_of_walls({{1, 2, 9}, {3, 3, 4}}), 10);
  EXPECT_EQ(curve.steps_per_point, 1u);
  EXPECT_THAT(curve.median_s, ElementsAre(2, 3));
  EXPECT_THAT(curve.slowest_s, ElementsAre(9, 4));
}

TEST(StepCurve, KeepsTheSlowestStepWhenItThinsOut) {
  std::vector<std::vector<double>> walls(1001, {1.0});
  walls[500] = {7.0};
  const StepCurve curve = step_curve(repeat_of_walls(walls), 300);
  EXPECT_EQ(curve.steps_per_point, 4u);
  EXPECT_THAT(curve.median_s, AllOf(SizeIs(251), Each(1.0)));
  EXPECT_THAT(curve.slowest_s, testing::Contains(7.0).Times(1));
}

TEST(StepCurve, IsEmptyWithoutSteps) { EXPECT_THAT(step_curve({}, 10).median_s, IsEmpty()); }

// Returns two steps of rank 0 from 100 s to 102 s, and a sample every 0.1 s from 99 s to 103 s.
TEST(UtilizationCurve, CountsTimeFromTheWindowsBegin) {
  results::RepeatResult repeat = repeat_of_walls({{1}, {1}});
  repeat.steps[0].timings.end_s = 101;
  repeat.steps[1].timings.end_s = 102;
  results::GpuSeries gpu;
  for (int i = 0; i <= 40; ++i) gpu.samples.push_back({.time_s = 99.05 + 0.1 * i, .utilization = 0.5});
  gpu.samples[20].utilization.reset();
  const UtilizationCurve all = utilization_curve(repeat, gpu, 100);
  EXPECT_THAT(all.utilization, AllOf(SizeIs(19), Each(0.5)));
  EXPECT_NEAR(all.time_s.front(), 0.05, 1e-9);
  EXPECT_NEAR(all.time_s.back(), 1.95, 1e-9);
  EXPECT_THAT(utilization_curve(repeat, gpu, 5).time_s, AllOf(SizeIs(5), Each(Le(2.0))));
}

TEST(UtilizationCurve, IsEmptyForARankWithoutSteps) {
  EXPECT_THAT(utilization_curve({}, {.samples = {{.time_s = 1, .utilization = 1}}}, 10).time_s, IsEmpty());
}

TEST(QueueCurves, AreTheMeanOfTheRanksOfOpsWithAQueue) {
  results::RepeatResult repeat;
  repeat.ops = {{.op = "list_files"}, {.op = "prefetch", .queue_capacity = 8}};
  for (int rank = 0; rank < 2; ++rank) {
    for (int step = 0; step < 2; ++step) {
      repeat.op_samples.push_back({.rank = rank, .step = step, .op_index = 0});
      repeat.op_samples.push_back(
          {.rank = rank, .step = step, .op_index = 1, .queue_depth = static_cast<std::uint64_t>(2 * rank + 4 * step)});
    }
  }
  const auto curves = queue_curves(repeat);
  ASSERT_THAT(curves, SizeIs(1));
  EXPECT_EQ(curves[0].op, "prefetch");
  EXPECT_THAT(curves[0].depth, ElementsAre(1, 5));
}

TEST(TimeByRank, SumsOverTheTypicalRepeats) {
  const auto ranks = time_by_rank(results::make_trial({.ranks = 2}, {1, 3, 2, 4}));
  ASSERT_THAT(ranks, SizeIs(2));
  EXPECT_EQ(ranks[1].rank, 1);
  EXPECT_NEAR(ranks[1].sum.wall_s, 0.4, 1e-12);
  EXPECT_NEAR(ranks[1].sum.wait_s, 0.16, 1e-12);
  EXPECT_NEAR(ranks[1].sum.exposed_communication_s, 0.04, 1e-12);
}

}  // namespace
}  // namespace chexbench::report

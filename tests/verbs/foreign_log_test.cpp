// Step logs of other programs: recordings of the real ones in tests/data/foreign, and faulty ones.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "verbs/diagnose/diagnose.hpp"
#include "verbs/diagnose/foreign/read_log.hpp"

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::SizeIs;

StepLog read(const std::string& text) {
  foreign::ByteReader reader(foreign::fill_from(text), "log");
  return read_step_log(reader);
}

StepLog recorded(const std::string& name) { return read_step_log(CHEXBENCH_TEST_DATA "/../foreign/" + name); }

std::string complaint(const std::string& text) {
  return message_of<DataError>([&] { read(text); });
}

// As `chexbench diagnose` does it without --batch.
Diagnosis diagnosed(StepLog log) {
  if (!log.counts_images) {
    for (LoggedStep& step : log.steps) step.images = 1;
  }
  return diagnose(log);
}

double wait_share(const StepLog& log) { return diagnosed(log).wait_share; }

std::string event(const std::string& name, double begin_us, double duration_us, const std::string& more = "") {
  return fmt::format(R"({{"ph": "X", "name": "{}", "pid": 7, "tid": 7, "ts": {}, "dur": {}{}}})", name, begin_us,
                     duration_us, more);
}

std::string trace(const std::vector<std::string>& events, const std::string& more = "") {
  return fmt::format(R"({{{}"traceEvents": [{}]}})", more, fmt::join(events, ",\n"));
}

constexpr const char* kNext = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
constexpr const char* kOptimizer = "Optimizer.step#SGD.step";

TEST(KinetoTrace, OfARealTrainingHasItsWaits) {
  // The planted shares are 3/4 and 2/3, to which a busy machine added; these are sums over the annotations of the
  // files.
  const StepLog steps = recorded("kineto-steps.json");
  EXPECT_THAT(steps.steps, SizeIs(18));
  EXPECT_NEAR(wait_share(steps), 0.8235, 0.0001);
  EXPECT_FALSE(steps.counts_images);
  EXPECT_FALSE(steps.names_ranks);
  const StepLog no_steps = recorded("kineto-no-steps.json");
  EXPECT_THAT(no_steps.steps, SizeIs(20));
  EXPECT_NEAR(wait_share(no_steps), 0.6883, 0.0001);
}

TEST(KinetoTrace, CountsTheFetchesWithinAStep) {
  const StepLog log =
      read(trace({event("ProfilerStep#1", 0, 100), event(kNext, 10, 30), event("ProfilerStep#2", 100, 200),
                  event(kNext, 110, 20), event(kNext, 150, 20), event("aten::add", 150, 100)}));
  ASSERT_THAT(log.steps, SizeIs(2));
  EXPECT_NEAR(log.steps[0].wait_s, 30e-6, 1e-12);
  EXPECT_NEAR(log.steps[0].step_s, 100e-6, 1e-12);
  EXPECT_NEAR(log.steps[1].wait_s, 40e-6, 1e-12);
}

TEST(KinetoTrace, CountsNoFetchOfAnotherThread) {
  const std::string other = R"({"ph": "X", "name": "DataLoader.__next__", "pid": 7, "tid": 8, "ts": 50, "dur": 50})";
  const StepLog log = read(trace({other, event("ProfilerStep#1", 0, 100), event(kNext, 10, 30)}));
  EXPECT_NEAR(log.steps.at(0).wait_s, 30e-6, 1e-12);
}

TEST(KinetoTrace, CountsNoWaitInWhichAGpuComputes) {
  const std::string gpu = R"(, "cat": "gpu_user_annotation")";
  const StepLog log =
      read(trace({event("ProfilerStep#1", 0, 100), event(kNext, 10, 50), event("sgemm", 0, 30, R"(, "cat": "kernel")"),
                  event("sgemm", 50, 5, R"(, "cat": "Kernel")"), event("ProfilerStep#1", 20, 100, gpu)}));
  ASSERT_THAT(log.steps, SizeIs(1));
  EXPECT_NEAR(log.steps[0].wait_s, (50 - 20 - 5) * 1e-6, 1e-12);
  EXPECT_THAT(log.notes.at(0), HasSubstr("no GPU kernel ran"));
}

TEST(KinetoTrace, WithoutProfilerStepsGoesFromOneFetchAfterAnOptimizerStepToTheNext) {
  const StepLog log = read(trace({event(kNext, 0, 10), event(kNext, 50, 10), event(kOptimizer, 80, 10),
                                  event(kNext, 100, 40), event(kOptimizer, 180, 10), event(kNext, 200, 1)}));
  ASSERT_THAT(log.steps, SizeIs(2));
  EXPECT_NEAR(log.steps[0].step_s, 100e-6, 1e-12);
  EXPECT_NEAR(log.steps[0].wait_s, 20e-6, 1e-12);
  EXPECT_NEAR(log.steps[1].wait_s, 40e-6, 1e-12);
  EXPECT_THAT(read(trace({event(kNext, 0, 10), event(kNext, 50, 10)})).steps, SizeIs(1));
}

TEST(KinetoTrace, NamesTheRankOfADistributedTraining) {
  const std::vector<std::string> events{event("ProfilerStep#1", 0, 100), event(kNext, 10, 30)};
  const StepLog log = read(trace(events, R"("distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 4}, )"));
  EXPECT_TRUE(log.names_ranks);
  EXPECT_EQ(log.steps.at(0).rank, 3);
}

TEST(KinetoTrace, SaysWhichProcessWroteItAndWhen) {
  const std::vector<std::string> events{event("ProfilerStep#2", 3e6, 1e6), event(kNext, 3e6, 30),
                                        event("ProfilerStep#1", 2e6, 1e6)};
  const StepLog log = read(trace(events, R"("baseTimeNanoseconds": 5000000000, )"));
  EXPECT_EQ(log.process, "7");
  ASSERT_TRUE(log.span);
  EXPECT_EQ(log.span->begin_s, 7);
  EXPECT_EQ(log.span->end_s, 9);
}

TEST(KinetoTrace, SaysWhatToRecordWhereItHasNoStepsOrFetches) {
  EXPECT_THAT(complaint(trace({event("aten::add", 0, 1)})), HasSubstr("a trace without steps"));
  EXPECT_THAT(complaint(trace({event("ProfilerStep#1", 0, 1)})), HasSubstr("no DataLoader __next__"));
  EXPECT_THAT(complaint(trace({event(kNext, 0, 1)})), HasSubstr("no whole step"));
}

TEST(KinetoTrace, LeavesOutALastStepOfNoTime) {
  const std::vector<std::string> events{event("ProfilerStep#1", 0, 100), event(kNext, 10, 30),
                                        event("ProfilerStep#2", 100, 0)};
  EXPECT_THAT(read(trace(events)).steps, SizeIs(1));
  EXPECT_THAT(complaint(trace({events[0], events[1], event("ProfilerStep#0", -5, 0)})), HasSubstr("takes no time"));
  EXPECT_THAT(complaint(trace({events[0], events[1], events[2], events[2]})), HasSubstr("takes no time"));
}

TEST(KinetoTrace, NamesTheEventThatCannotBe) {
  const std::pair<std::string, const char*> cases[] = {
      {trace({event("a", 0, 1), event("ProfilerStep#1", 0, -1)}), "log, line 2, traceEvents[1]: its dur is -1"},
      {trace({event("ProfilerStep#1", 0, 0)}), "takes no time"},
      {trace({event(kNext, 0, 1e300)}), "its dur is 1e+300"},
      {R"([{"ph": "X", "name": "ProfilerStep#1", "dur": 1}])", "[0]: this X has no number"},
      {trace({}, R"("distributedInfo": {"rank": -1}, )"), "distributedInfo.rank: it is -1, and cannot be below 0"}};
  for (const auto& [text, says] : cases) EXPECT_THAT(complaint(text), HasSubstr(says));
}

TEST(HorovodTimeline, OfARealTrainingShowsTheBatchesThatCameLate) {
  // Every second batch was planted to be 120 ms late, in steps of 60 ms, to which a busy machine added.
  const StepLog log = recorded("horovod-timeline.json");
  ASSERT_THAT(log.steps, SizeIs(23));  // of 24: the first one has no beginning
  double late_s = 0;
  double other_s = 0;
  for (std::size_t i = 1; i < log.steps.size(); i += 2) {
    other_s += log.steps[i].wait_s;
    late_s += log.steps[i + 1].wait_s;
    EXPECT_GT(log.steps[i + 1].wait_s, log.steps[i].wait_s + 0.07) << i;
  }
  EXPECT_NEAR((late_s - other_s) / 11, 0.12, 0.01);
  EXPECT_NEAR(wait_share(log), 0.5016, 0.0001);
  EXPECT_EQ(diagnosed(log).findings.at(0).kind, "starved");
  EXPECT_THAT(log.notes.at(0), AllOf(HasSubstr("does not record the input"), HasSubstr("for all ranks")));
}

// A timeline in which a step's two tensors come `first_us` after the last reduction, and all ranks have them `late_us`
// after that: each is reduced in 5 ms, and Horovod's cycles are marked.
std::string timeline(const std::vector<int>& late_us, int first_us = 55000) {
  std::vector<std::string> events;
  int now_us = 1000;
  for (const int late : late_us) {
    events.push_back(fmt::format(R"({{"ph": "i", "name": "CYCLE_START", "ts": {}, "s": "g"}})", now_us));
    now_us += first_us;
    for (const int tensor : {1, 2}) {
      events.push_back(
          fmt::format(R"({{"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": {}, "pid": {}}})", now_us, tensor));
      now_us += tensor == 1 ? late : 0;
      events.push_back(fmt::format(R"({{"ph": "E", "ts": {}, "pid": {}}})", now_us, tensor));
      events.push_back(fmt::format(R"({{"ph": "B", "name": "ALLREDUCE", "ts": {}, "pid": {}}})", now_us, tensor));
      now_us += 5000;
      events.push_back(fmt::format(R"({{"ph": "E", "ts": {}, "pid": {}}})", now_us, tensor));
    }
  }
  return fmt::format("[{}]", fmt::join(events, ","));
}

TEST(HorovodTimeline, AStepGoesFromReductionToReductionAndWaitsLongerThanTheShortest) {
  const StepLog log = read(timeline({5000, 45000, 5000, 45000}));
  ASSERT_THAT(log.steps, SizeIs(3));
  EXPECT_NEAR(log.steps[0].step_s, 0.11, 1e-9);
  EXPECT_NEAR(log.steps[0].wait_s, 0.04, 1e-9);
  EXPECT_NEAR(log.steps[1].step_s, 0.07, 1e-9);
  EXPECT_NEAR(log.steps[1].wait_s, 0, 1e-9);
}

TEST(HorovodTimeline, CallsNoTrainingFedThatMayWaitInEveryStep) {
  EXPECT_EQ(diagnosed(read(timeline(std::vector<int>(20, 5000)))).findings.at(0).kind, "unknown");
  std::vector<int> late(20, 5000);
  for (std::size_t i = 0; i < late.size(); i += 2) late[i] = 45000;
  EXPECT_EQ(diagnosed(read(timeline(late))).findings.at(0).kind, "starved");
}

TEST(HorovodTimeline, NeedsTwoSteps) {
  const std::string begin = R"({"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": 1, "pid": 1})";
  EXPECT_THAT(complaint("[" + begin + "]"), HasSubstr("it has 1 step with NEGOTIATE_ALLREDUCE"));
  EXPECT_THAT(complaint("[" + begin + R"(, {"ph": "E", "ts": "late", "pid": 1}])"),
              HasSubstr("log, line 1, [1]: this E has no number 'ts'"));
}

std::string summary(const std::string& metrics, const std::string& schema = "1.9", const std::string& steps = "40") {
  return fmt::format(R"({{"schema_version": {}, "primary_diagnosis": {{}}, "step_time": {{"global": {{"window": )"
                     R"({{"steps_analyzed": {}}}}}, "groups": {{"rows": {{"0": {{"metrics": {{{}}}}}}}}}}}}})",
                     schema, steps, metrics);
}

TEST(TraceMlSummary, OfARealTrainingHasTheMeanOfItsSteps) {
  const StepLog log = recorded("traceml-final-summary.json");
  ASSERT_THAT(log.steps, SizeIs(1));
  EXPECT_EQ(log.steps[0].steps, 40);
  const Diagnosis diagnosis = diagnosed(log);
  EXPECT_NEAR(diagnosis.wait_share, 0.716, 0.001);  // TraceML itself reports 72 %
  EXPECT_EQ(diagnosis.findings.at(0).kind, "starved");
  EXPECT_EQ(diagnosis.left_out, 0);
  EXPECT_THAT(diagnosis.findings.at(0).text, HasSubstr("18.6 steps/s; at most 65.5"));
}

TEST(TraceMlSummary, SaysWhatItLacks) {
  EXPECT_THAT(read(summary(R"("input_wait_ms": 3, "step_time_ms": 4)")).steps, SizeIs(1));
  const std::pair<std::string, const char*> cases[] = {
      {summary(R"("input_wait_ms": null, "step_time_ms": 4)"), "step_time.groups.rows.0.metrics has no input_wait_ms"},
      {summary(R"("input_wait_ms": 5, "step_time_ms": 4)"), "more than step_time_ms, 4"},
      {summary(R"("input_wait_ms": "5", "step_time_ms": 4)"),
       "step_time.groups.rows.0.metrics.input_wait_ms: it is '5', and must be a number"},
      {summary("", "1.9", "0"), "step_time has no steps"},
      {summary("", "1.9", "4.5"), "steps_analyzed: it is 4.5, and must be a whole number"}};
  for (const auto& [text, says] : cases) EXPECT_THAT(complaint(text), HasSubstr(says));
}

TEST(TraceMlSummary, OfAnotherVersionIsRefused) {
  for (const char* schema : {"1.6", "2", "2.1"}) {
    EXPECT_THAT(complaint(summary(R"("input_wait_ms": 3, "step_time_ms": 4)", schema)),
                HasSubstr(fmt::format("TraceML's schema_version {}, and this program reads 1.7 to 1.x", schema)));
  }
}

TEST(TraceMlSummary, IsNoComparisonOfTwo) {
  EXPECT_THAT(message_of<DataError>([] { recorded("traceml-compare.json"); }),
              AllOf(HasSubstr("comparison of two runs"), HasSubstr("./a/final_summary.json")));
}

TEST(DlioOutput, OfARealRunHasItsSteps) {
  const StepLog log = recorded("dlio-output.json");
  EXPECT_THAT(log.steps, SizeIs(48));
  EXPECT_EQ(log.steps.back().epoch, 2);
  const StepLog means = recorded("dlio-summary.json");
  ASSERT_THAT(means.steps, SizeIs(2));
  EXPECT_TRUE(means.counts_images);
  EXPECT_NEAR(wait_share(means), 1 - 0.0762, 0.001);
  EXPECT_NEAR(diagnosed(means).images_per_s, 2 / (1 / 7.8033 + 1 / 7.1811), 0.001);
}

TEST(DlioOutput, WithoutWaitsIsRefused) {
  EXPECT_THAT(message_of<DataError>([] { recorded("dlio-per-epoch-stats.json"); }),
              AllOf(HasSubstr("dlio-per-epoch-stats.json"), HasSubstr("diagnose RANK_output.json")));
}

TEST(DlioOutput, NamesTheStepThatCannotBe) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"1": {"load": {"block1": [1, 2]}, "proc": {"block1": [2, 1]}}})",
       "log: step 1 of 1.*.block1: load is 2, more than proc, 1"},
      {R"({"1": {"load": {"block1": [1]}, "proc": {"block1": [2, 1]}}})", "not in load"},
      {R"({"1": {"load": {"block1": [-1]}}})", "1.load.block1[0]: it is -1"},
      {R"({"1": {"load": {"block1": [1]}}})", "trained no step"},
      {R"({"num_accelerators": 2, "metric": {"train_au_percentage": [50]}})", "metric has 1 train_au_percentage and 0"},
      {R"({"num_accelerators": 2, "metric": {"train_au_percentage": [50],
           "train_throughput_samples_per_second": [5]}})",
       "old versions of DLIO leave them out"}};
  for (const auto& [text, says] : cases) EXPECT_THAT(complaint(text), HasSubstr(says));
}

TEST(ForeignLog, IsTheCsvOfAHookToo) {
  const StepLog log = read("wait_s,step_s,images\n0,1,2\n");
  EXPECT_TRUE(log.counts_images);
  EXPECT_THAT(log.steps, SizeIs(1));
  EXPECT_THAT(log.notes, IsEmpty());
}

TEST(ForeignLog, AsAListMayLackItsEnd) {
  const std::string list = "[" + event("ProfilerStep#1", 0, 100) + ",\n" + event(kNext, 10, 30);
  for (const char* const end : {"", "]", ",", ",\n", ",\n]", " \n", ", ]\n"})
    EXPECT_THAT(read(list + end).steps, SizeIs(1)) << testing::PrintToString(end);
  EXPECT_THAT(complaint(list + R"(, {"ph": "X")"), HasSubstr("log: it ends within its JSON"));
  EXPECT_THAT(complaint(list + R"(, {"ph": "X)"), HasSubstr("log: it ends within its JSON"));
  EXPECT_THAT(complaint(list + ",,{}]"), HasSubstr("not valid JSON"));
}

TEST(ForeignLog, WithAValueThatIsNoNumberWhereOneIsNeededNamesIt) {
  EXPECT_THAT(complaint(trace({R"({"ph": "X", "name": "ProfilerStep#1", "ts": 1, "dur": NaN})"})),
              HasSubstr("traceEvents[0]: it has no number 'dur'"));
  EXPECT_THAT(complaint(R"({"num_accelerators": 2, "metric": {"train_au_percentage": [NaN]}})"),
              HasSubstr("metric.train_au_percentage[0]: it is 'NaN', and must be a number"));
  EXPECT_THAT(complaint(R"({"a": nothing})"), HasSubstr("not valid JSON"));
}

TEST(ForeignLog, ThatIsCutSaysWhere) {
  const std::string whole = trace({event("ProfilerStep#1", 0, 100), event(kNext, 10, 30)});
  for (const std::size_t kept : {std::size_t{1}, whole.find("Profiler"), whole.size() - 2, whole.size() - 1}) {
    EXPECT_THAT(complaint(whole.substr(0, kept)),
                HasSubstr(fmt::format("log: it ends within its JSON, at byte {} (line", kept)));
  }
}

TEST(ForeignLog, OfAnotherKindIsRefused) {
  const std::pair<std::string, const char*> cases[] = {
      {R"({"a": 1})", "no step log that is known"},
      {"[1, 2]", "no step log that is known"},
      {"{\"a\": 1,\n  oops}", "log, line 2, column"},
      {"{\"a\": 1e999}", "a number too large"},
      {"{} {}", "not valid JSON"},
      {"\x1f\x8b\x08", "gunzip -c LOG | chexbench diagnose /dev/stdin"},
      {"PK\x03\x04 and more", "unzip -p LOG | chexbench diagnose /dev/stdin"},
      {"\x28\xb5\x2f\xfd", "zstd -dc LOG | chexbench diagnose /dev/stdin"},
      {std::string(70, '['), "nested more than 64 deep"}};
  for (const auto& [text, says] : cases) EXPECT_THAT(complaint(text), HasSubstr(says));
}

TEST(ForeignLog, IsQuotedInPartAndWithoutItsControlCharacters) {
  const std::string text = R"({"traceEvents": [)" + event(std::string(5000, 'n'), 0, 1) + R"(], "\u001b[2J": )";
  EXPECT_THAT(complaint(text + "\x1b[2J}"), AllOf(HasSubstr("not valid JSON"), testing::Not(HasSubstr("\x1b"))));
  const std::string key = "\\u001b" + std::string(5000, 'k');
  EXPECT_THAT(complaint(R"({"step_time": {"groups": {"rows": {")" + key + R"(": {"metrics": {"step_time_ms": 1}}}}}})"),
              AllOf(HasSubstr("is no number of a rank"), testing::Not(HasSubstr("\x1b"))));
  EXPECT_THAT(
      complaint(std::string(R"({"metric": {"train_au_percentage": [")") + std::string(5000, 'x') + "\"]}}").size(),
      Lt(1000u));
}

TEST(ForeignLog, OfMorePartsThanAnyTrainingHasIsRefused) {
  std::string list, blocks;
  for (int i = 0; i <= 100'000; ++i) {
    list +=
        fmt::format(R"({}{{"ph": "X", "name": "ProfilerStep#1", "tid": {}, "ts": 1, "dur": 1}})", i > 0 ? "," : "", i);
    blocks += fmt::format(R"({}"block{}": [1])", i > 0 ? "," : "", i);
  }
  EXPECT_THAT(complaint("[" + list + "]"), HasSubstr("more than 100000 threads with steps"));
  EXPECT_THAT(complaint(R"({"1": {"load": {)" + blocks + "}}}"), HasSubstr("more than 100000 epochs"));
}

// Gives the beginning of a text, then its middle so many times, then its end.
foreign::Fill repeated(std::string begin, std::string middle, std::size_t times, std::string end) {
  return [=, at = std::size_t{0}, left = times + 2](char* to, std::size_t size) mutable {
    const std::string& part = left == times + 2 ? begin : left > 1 ? middle : end;
    if (left == 0) return std::size_t{0};
    const std::size_t got = part.copy(to, size, at);
    at += got;
    if (at == part.size()) {
      at = 0;
      --left;
    }
    return got;
  };
}

TEST(ForeignLog, OfAnyLengthTakesNoMoreMemoryThanItsSteps) {
  std::string operations;
  for (int i = 0; i < 1000; ++i) operations += event("aten::add", i, 1) + ",\n";
  // 30 MB of a trace; the reader keeps a buffer of it and the two events that matter.
  foreign::ByteReader reader(repeated("{\"traceEvents\": [", operations, 400,
                                      event("ProfilerStep#1", 0, 100) + "," + event(kNext, 10, 30) + "]}"),
                             "log");
  EXPECT_THAT(read_step_log(reader).steps, SizeIs(1));
  EXPECT_GT(reader.position(), std::size_t{25} << 20);
}

// The formats are recognized by the beginning of a file, whose first bytes were already read.
TEST(ForeignLog, InAFileMayBeginWithAByteOrderMarkOrBlanks) {
  const ScratchFolder scratch;
  const std::string json = trace({event("ProfilerStep#1", 0, 100), event(kNext, 10, 30)});
  for (const char* const before : {"", "\xef\xbb\xbf", "\n\n", " \r\n\t "}) {
    write_text(scratch / "log", before + json);
    EXPECT_THAT(read_step_log(scratch / "log").steps, SizeIs(1)) << testing::PrintToString(before);
  }
}

TEST(ForeignLog, WithAValueWithoutEndIsRefused) {
  foreign::ByteReader reader(repeated("{\"a\": \"", std::string(1 << 20, 'x'), 1'000'000, ""), "log");
  EXPECT_THROW(read_step_log(reader), DataError);
  EXPECT_LT(reader.position(), std::size_t{20} << 20);
}

}  // namespace
}  // namespace chexbench::verbs

#include "bench/second_job/second_job.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "bench/plan.hpp"
#include "bench/protocol.hpp"
#include "bench/second_job/work.hpp"
#include "core/errors.hpp"
#include "results/read.hpp"
#include "spec/parse.hpp"

namespace chexbench::bench {
namespace {

spec::TrialSpec trial_beside(const std::string& cores, std::vector<std::string> overrides = {}) {
  overrides.insert(overrides.begin(), {"data.root=a", "second_job.kind=input", "second_job.cores=" + cores});
  return spec::expand(spec::parse_spec("{}", "test.json", overrides)).front().spec;
}

TEST(SecondJobDeathTest, EndsWhereItCannotWatchItsStarter) {
  const auto wait = [] {
    end_with(-1);
    std::this_thread::sleep_for(std::chrono::minutes(1));
    std::exit(1);
  };
  EXPECT_EXIT(wait(), testing::ExitedWithCode(0), "");
}

using Cpus = std::vector<int>;

TEST(CoresOfASecondJob, AreThoseOfTheRanksOfItsHostOrTheOthers) {
  const std::vector<RankCores> ranks{{"a", {0, 1, 2, 3}}, {"a", {0, 1, 2, 3}}, {"b", {0, 1, 2, 3}}};
  const Cpus all{0, 1, 2, 3};
  const auto of = [&](const std::string& cores, int members, std::size_t rank) {
    return second_job_cores(ranks, rank, trial_beside(cores, {"cores_per_rank=1"}), members, all);
  };
  EXPECT_EQ(of("shared", 3, 0), (Cpus{0, 1}));
  EXPECT_EQ(of("apart", 3, 0), (Cpus{2, 3}));
  EXPECT_EQ(of("apart", 1, 0), (Cpus{1, 2, 3})) << "a rank that sits out uses no core";
  EXPECT_EQ(of("apart", 3, 2), (Cpus{1, 2, 3})) << "of its own host";
  EXPECT_EQ(of("cpus:1,3", 3, 0), (Cpus{1, 3}));
}

TEST(CoresOfASecondJob, ThatThereAreNotAreAnError) {
  const std::vector<RankCores> ranks{{"a", {0, 1}}};
  const auto error_of = [&](const spec::TrialSpec& trial) -> std::string {
    try {
      second_job_cores(ranks, 0, trial, 1, {0, 1});
    } catch (const SpecError& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string none_left = error_of(trial_beside("apart"));
  EXPECT_NE(none_left.find("all 2 cores of a: leave it some by cores_per_rank"), std::string::npos) << none_left;
  const std::string no_such = error_of(trial_beside("cpus:0,7"));
  EXPECT_NE(no_such.find("may not use CPU 7: it has CPUs 0-1"), std::string::npos) << no_such;
}

TEST(TheTrialOfASecondJob, IsThatOfTheFirstWithItsOwnEngineAndImages) {
  const spec::TrialSpec first = trial_beside("shared", {"second_job.kind=both", "second_job.engine=emulated:v100",
                                                        "second_job.root=b", "engine=none", "measure.seed=5"});
  const spec::TrialSpec own = second_job_trial(first);
  EXPECT_EQ(own.engine, "emulated:v100");
  EXPECT_EQ(own.data.root, "b");
  EXPECT_EQ(own.measure.seed, 6u) << "two jobs do not run in step";
  EXPECT_EQ(own.second_job, spec::SecondJobSpec{});
  EXPECT_EQ(second_job_trial(trial_beside("shared", {"engine=onednn"})).engine, "none");
  const spec::TrialSpec ready_made = second_job_trial(
      trial_beside("shared", {"second_job.kind=training", "engine=emulated:v100", "training.precision=fp16"}));
  EXPECT_EQ(ready_made.data.format, spec::DataFormat::ready);
  EXPECT_EQ(ready_made.training.precision, spec::Precision::f32) << "a CPU has no fp16";
}

TEST(StreamedBytes, AreBeyondEveryCacheAndLeaveMemoryToOthers) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kGiB = kMiB << 10;
  EXPECT_EQ(streamed_bytes(32 * kMiB, 64 * kGiB), 256 * kMiB);
  EXPECT_EQ(streamed_bytes(256 * kMiB, 64 * kGiB), kGiB);
  EXPECT_EQ(streamed_bytes(256 * kMiB, 4 * kGiB), kGiB / 2);
}

// A shell script in place of the second job's program.
class StandIn : public testing::Test {
 protected:
  StandIn() : path_(testing::TempDir() + "stand-in-" + std::to_string(getpid())) {}
  ~StandIn() override { std::filesystem::remove(path_); }

  std::unique_ptr<SecondJob> start(const std::string& body) {
    std::ofstream(path_) << "#!/bin/sh\n" << body << "\n";
    chmod(path_.c_str(), 0700);
    return start_second_job({.trial = trial_, .cores = {0}}, path_);
  }

  template <class Expected>
  std::string error_of(const std::string& body) {
    const auto job = start(body);
    try {
      job->wait_until_ready();
    } catch (const Expected& error) {
      return error.what();
    }
    return "no error";
  }

  const spec::TrialSpec trial_ = trial_beside("shared");
  const std::string path_;
};

TEST_F(StandIn, ThatDiesIsAnErrorOfItsKindWithItsLastWords) {
  const std::string data = error_of<DataError>("echo '[12:00:00] error: b: there is no such folder' >&2; exit 3");
  EXPECT_EQ(data,
            "the second job (kind input, CPUs 0) ended before it was ready, with exit code 3: b: there is no such "
            "folder");
  EXPECT_NE(error_of<SpecError>("exit 2").find("with exit code 2: it said nothing"), std::string::npos);
  const std::string killed = error_of<DeviceError>("kill -9 $$");
  EXPECT_NE(killed.find("by signal 9 (Killed, as the kernel does if memory runs out)"), std::string::npos) << killed;
}

// The flag of SecondJobCounters follows two counters of 8 bytes.
constexpr const char* kBecomesReady = "printf '\\001' | dd of=/dev/fd/3 bs=1 seek=16 conv=notrunc 2>/dev/null\n";

TEST_F(StandIn, IsReadyWhenItSaysSoAndReadsTheSpecOfItsTrial) {
  const auto job = start(std::string("grep -q '\"kind\": \"input\"' || exit 1\n") + kBecomesReady + "exec cat <&4");
  job->wait_until_ready();
  EXPECT_EQ(job->sample().images, 0u);
}

TEST_F(StandIn, GoesWithTheOneThatStartedItAlsoIfItHearsNothing) {
  const std::string mark = path_ + ".pid";
  auto job = start("trap '' TERM INT\necho $$ > " + mark + "\n" + kBecomesReady + "while :; do sleep 1; done");
  job->wait_until_ready();
  int process = 0;
  std::ifstream(mark) >> process;
  ASSERT_GT(process, 0);
  EXPECT_EQ(kill(process, 0), 0);
  job.reset();
  EXPECT_EQ(kill(process, 0), -1);
  std::filesystem::remove(mark);
}

TEST_F(StandIn, DoesNotTakeItselfForARank) {
  setenv("PMI_RANK", "0", 1);
  const std::string said = error_of<DeviceError>("echo \"rank ${PMI_RANK:-none}\" >&2; exit 4");
  unsetenv("PMI_RANK");
  EXPECT_NE(said.find("rank none"), std::string::npos) << said;
}

// A job whose clock and counters tick once a look, so that its rates are known: 50 images in 10 ms.
class TickingJob final : public SecondJob {
 public:
  explicit TickingJob(int looks) : looks_(looks) {}
  void wait_until_ready() override {}
  SecondJobSample sample() override {
    if (looks_-- == 0) throw DeviceError("the second job ended");
    ++ticks_;
    return {.time_s = 0.01 * ticks_, .images = 50 * static_cast<std::uint64_t>(ticks_)};
  }

 private:
  int looks_;
  int ticks_ = 0;
};

class ProtocolOfTwoJobs : public testing::Test {
 protected:
  results::Report plan() const {
    return plan_report("test",
                       spec::expand(spec::parse_spec(
                           R"({"model": {"image_size": 32}, "training": {"batch_size": 4}, "engine": "none",
                               "cores_per_rank": 1, "second_job": {"cores": "shared"},
                               "measure": {"warmup_steps": 1, "steps": 3, "repeats": 2},
                               "sweep": {"second_job.kind": ["none", "input"]}})",
                           "test.json", {std::string("data.root=") + CHEXBENCH_TEST_DATA})),
                       *world_);
  }
  const std::unique_ptr<comm::World> world_ = comm::join_world();
};

TEST_F(ProtocolOfTwoJobs, MeasuresTheSecondOneBesideTheTrialAndAlone) {
  results::Report report = plan();
  run_trials(report, *world_,
             {.start_second_job = [](const SecondJobRequest&) { return std::make_unique<TickingJob>(1000); }});
  const results::SecondJobResult& none = report.trials[0].repeats[1].second_job;
  EXPECT_FALSE(none.images_per_s || none.alone_images_per_s);
  for (const results::RepeatResult& repeat : report.trials[1].repeats) {
    EXPECT_NEAR(*repeat.second_job.images_per_s, 5000, 1e-6);
    EXPECT_NEAR(*repeat.second_job.alone_images_per_s, 5000, 1e-6);
    EXPECT_FALSE(repeat.second_job.bytes_per_s);
    const auto read =
        results::journal_from_text(results::to_journal_line({.key = "k", .repeat = repeat}) + "\n", "a line");
    EXPECT_EQ(read.entries.front().repeat.second_job.images_per_s, repeat.second_job.images_per_s);
  }
}

TEST_F(ProtocolOfTwoJobs, KeepsWhatWasMeasuredIfTheSecondOneDies) {
  results::Report report = plan();
  int started = 0;
  EXPECT_THROW(run_trials(report, *world_,
                          {.start_second_job =
                               [&](const SecondJobRequest&) {
                                 return std::make_unique<TickingJob>(++started == 1 ? 1000 : 3);
                               }}),
               DeviceError);
  EXPECT_EQ(report.trials[0].repeats.size(), 2u);
  EXPECT_EQ(report.trials[1].repeats.size(), 1u);
}

}  // namespace
}  // namespace chexbench::bench

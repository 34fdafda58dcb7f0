#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/key_lists.hpp"
#include "spec/keys.hpp"
#include "spec/resolved.hpp"
#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

TEST(ASecondJob, IsAnAxisWhoseTrialAloneIsMeasuredOnce) {
  EXPECT_EQ(names_of(trials_of(
                "{}", {R"(sweep.second_job.kind=["none","input"])", R"(sweep.second_job.cores=["shared","apart"])"})),
            (std::vector<std::string>{"alone", "beside input shared", "beside input apart"}));
}

TEST(ASecondJob, LeavesTheTrialsOfTheSameKeyAloneWhateverItWouldHaveBeen) {
  const auto trials =
      trials_of("{}", {R"(sweep.second_job.kind=["input","none"])", R"(sweep.second_job.cores=["shared","apart"])"});
  const auto alone = trials_of("{}");
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trial_key(trials.back().spec, ""), trial_key(alone.front().spec, ""));
}

TEST(ASecondJob, ComesBackFromTheResolvedText) {
  const auto trials = trials_of("{}", {"second_job.kind=both", "second_job.cores=cpus:0-1",
                                       "second_job.engine=emulated:v100", "second_job.root=b"});
  const TrialSpec& trial = trials.front().spec;
  EXPECT_EQ(parse_trial(to_json(trial), "its text"), trial);
  EXPECT_EQ(trial.second_job.root, "b");
}

// In a sweep over kinds, those that take no root have the trial's, as their resolved text shows.
TEST(ASecondJob, ReadsAFolderOfItsOwnWhereItsKindTakesOne) {
  const std::string kinds = R"({"sweep": {"second_job.kind": ["page_cache", "storage"]}})";
  const auto trials = expand(parse_spec(kinds, "test.json", {"data.root=a", "second_job.root=b"}));
  EXPECT_EQ(second_job_root(trials[0].spec), "a");
  EXPECT_EQ(second_job_root(trials[1].spec), "b");
  EXPECT_THROW(expand(parse_spec(kinds, "test.json", {"data.root=http://a/b", "second_job.root=c"})), SpecError);
}

TEST(ASecondJob, ThatCannotRunIsAnErrorThatSaysWhatToDo) {
  const std::pair<std::vector<std::string>, std::string> refused[] = {
      {{"data.root=a", "second_job.cores=shared"}, "only where second_job.kind is not none"},
      {{"data.root=a", "second_job.kind=memory", "second_job.engine=emulated:v100"},
       "only where second_job.kind is training or both"},
      {{"data.format=ready", "second_job.kind=input"}, "reads no files: take another format"},
      {{"data.root=http://a/b", "second_job.kind=page_cache"}, "needs files of this machine"},
      {{"data.root=a", "data.format=tfrecord", "second_job.kind=page_cache"}, "set store.read to copy"},
      {{"data.root=a", "training.epochs=2", "second_job.kind=input"}, "training.epochs is above 0"},
      {{"data.root=a", "second_job.kind=both", "second_job.engine=cuda"}, "second_job.engine"},
      {{"data.root=a", "second_job.kind=input", "second_job.root=http://a:b@c/d"}, "second_job.root"}};
  for (const auto& [overrides, error] : refused) EXPECT_THAT(spec_error("{}", overrides), testing::HasSubstr(error));
}

TEST(CpusOfASecondJob, AreAListAsTasksetTakesIt) {
  EXPECT_EQ(second_job_cpus("cpus:0-2,8"), (std::vector<int>{0, 1, 2, 8}));
  EXPECT_TRUE(second_job_cpus("shared").empty());
}

TEST(CpusOfASecondJob, ThatAreNoListAreAnError) {
  for (const char* cores : {"cpus:", "cpus:1,", "cpus:a", "cpus:3-1", "cpus:1-", "cpus:-1", "cpus:1024"})
    EXPECT_THROW(second_job_cpus(cores), SpecError) << cores;
}

}  // namespace
}  // namespace chexbench::spec

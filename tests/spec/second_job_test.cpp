#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "spec/key_lists.hpp"
#include "spec/keys.hpp"
#include "spec/parse.hpp"
#include "spec/resolved.hpp"

namespace chexbench::spec {
namespace {

std::vector<std::string> second_job_names(const std::vector<std::string>& overrides) {
  std::vector<std::string> names;
  for (const Trial& trial : expand(parse_spec("{}", "test.json", overrides))) names.push_back(trial.name);
  return names;
}

std::string second_job_error(const std::vector<std::string>& overrides) {
  try {
    parse_spec("{}", "test.json", overrides);
  } catch (const SpecError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ASecondJob, IsAnAxisWhoseTrialAloneIsMeasuredOnce) {
  EXPECT_EQ(second_job_names({"data.root=a", R"(sweep.second_job.kind=["none","input"])",
                              R"(sweep.second_job.cores=["shared","apart"])"}),
            (std::vector<std::string>{"alone", "beside input shared", "beside input apart"}));
}

TEST(ASecondJob, LeavesTheTrialsOfTheSameKeyAloneWhateverItWouldHaveBeen) {
  const auto trials = expand(parse_spec(
      "{}", "test.json",
      {"data.root=a", R"(sweep.second_job.kind=["input","none"])", R"(sweep.second_job.cores=["shared","apart"])"}));
  const auto alone = expand(parse_spec("{}", "test.json", {"data.root=a"}));
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_EQ(trial_key(trials.back().spec, ""), trial_key(alone.front().spec, ""));
}

TEST(ASecondJob, ComesBackFromTheResolvedText) {
  const auto trials = expand(parse_spec("{}", "test.json",
                                        {"data.root=a", "second_job.kind=both", "second_job.cores=cpus:0-1",
                                         "second_job.engine=emulated:v100", "second_job.root=b"}));
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

TEST(ASecondJob, ThatIsNotAskedForHasNoSettings) {
  EXPECT_NE(second_job_error({"data.root=a", "second_job.cores=shared"}).find("only where second_job.kind is not none"),
            std::string::npos);
  EXPECT_NE(second_job_error({"data.root=a", "second_job.kind=memory", "second_job.engine=emulated:v100"})
                .find("only where second_job.kind is training or both"),
            std::string::npos);
}

TEST(ASecondJob, ThatCannotRunIsAnErrorThatSaysWhatToDo) {
  const std::string images = second_job_error({"data.format=synthetic", "second_job.kind=input"});
  EXPECT_NE(images.find("reads no files: take another format"), std::string::npos) << images;
  const std::string distant = second_job_error({"data.root=http://a/b", "second_job.kind=page_cache"});
  EXPECT_NE(distant.find("needs files of this machine"), std::string::npos) << distant;
  const std::string mapped = second_job_error({"data.root=a", "data.format=tfrecord", "second_job.kind=page_cache"});
  EXPECT_NE(mapped.find("set store.read to copy"), std::string::npos) << mapped;
  const std::string epochs = second_job_error({"data.root=a", "training.epochs=2", "second_job.kind=input"});
  EXPECT_NE(epochs.find("training.epochs is above 0"), std::string::npos) << epochs;
  const std::string gpu = second_job_error({"data.root=a", "second_job.kind=both", "second_job.engine=cuda"});
  EXPECT_NE(gpu.find("second_job.engine"), std::string::npos) << gpu;
  const std::string secret =
      second_job_error({"data.root=a", "second_job.kind=input", "second_job.root=http://a:b@c/d"});
  EXPECT_NE(secret.find("second_job.root"), std::string::npos) << secret;
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

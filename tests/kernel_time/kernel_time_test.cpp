// Tests the library in a separate process, loaded like CUDA does, with the scripted stand-in of CUPTI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace chexbench::measure {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kTwoSteps =
    "kernel _ZN3own6UploadEv 1000 2000\nkernel warm 2000 9000\n"
    "kernel _ZN3own6UploadEv 10000 11000\nbuffer\n"
    "memcpy 10000 10500\nmemset 11000 11250\nkernel conv 12000 15000\nkernel conv 14000 18000\nbuffer\n"
    "kernel _ZN3own6UploadEv 20000 21000\n";

class KernelTimeTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Returns the file left by a program that exits with `status`, or null if there is none.
  nlohmann::json run(const std::string& script, const std::string& cupti = CHEXBENCH_CUPTI_STANDIN_FILE,
                     int status = 0) {
    std::ofstream(folder_ / "script") << script;
    const auto file = folder_ / "times.json";
    const std::string command =
        "CUDA_INJECTION64_PATH=" CHEXBENCH_KERNEL_TIME_LIBRARY " CHEXBENCH_KERNEL_TIME_FILE=" + file.string() +
        " CHEXBENCH_KERNEL_TIME_STEP=6Upload CHEXBENCH_KERNEL_TIME_SKIP=1" + " CHEXBENCH_CUPTI_LIBRARY=" + cupti +
        " CHEXBENCH_CUPTI_STANDIN=" + (folder_ / "script").string() + " " CHEXBENCH_INJECTED_PROGRAM " " +
        std::to_string(status);
    const int ended = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(ended));
    EXPECT_EQ(WEXITSTATUS(ended), status) << "the program is as it would be without the library";
    std::ifstream text(file);
    return text ? nlohmann::json::parse(text) : nlohmann::json();
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("chexbench-kernel-time-" + std::to_string(getpid()));
};

TEST_F(KernelTimeTest, LeavesTheTimesOfTheStepsAfterWarmUp) {
  const auto times = run(kTwoSteps);
  EXPECT_EQ(times["problem"], "");
  EXPECT_EQ(times["exact"], true);
  EXPECT_EQ(times["steps"], 1);
  EXPECT_EQ(times["window_s"], 1e-5);
  EXPECT_EQ(times["kernel_s"], 7e-6);
  EXPECT_EQ(times["kernels"], 3);
  EXPECT_EQ(times["copies"], 1);
  EXPECT_EQ(times["copies_s"], 5e-7);
  EXPECT_EQ(times["memsets"], 1);
  EXPECT_EQ(times["memsets_s"], 2.5e-7);
  ASSERT_THAT(times["costliest"], SizeIs(2));
  EXPECT_EQ(times["costliest"][0]["name"], "conv");
  EXPECT_EQ(times["costliest"][1]["name"], "own::Upload()");
}

TEST_F(KernelTimeTest, AProgramThatFailsKeepsItsStatus) {
  EXPECT_EQ(run(kTwoSteps, CHEXBENCH_CUPTI_STANDIN_FILE, 4)["steps"], 1);
}

TEST_F(KernelTimeTest, RecordsThatCuptiDroppedAreTold) {
  const auto times = run(std::string("dropped 5\n") + kTwoSteps);
  EXPECT_EQ(times["exact"], false);
  EXPECT_EQ(times["lost_records"], 5);
}

TEST_F(KernelTimeTest, WithoutCuptiTheFileSaysSo) {
  const auto times = run(kTwoSteps, "/nowhere/libcupti.so");
  EXPECT_EQ(times["steps"], 0);
  EXPECT_THAT(times["problem"].get<std::string>(),
              AllOf(HasSubstr("/nowhere/libcupti.so"), HasSubstr("LD_LIBRARY_PATH")));
}

TEST_F(KernelTimeTest, ALibraryThatIsNoCuptiIsNamed) {
  const auto times = run(kTwoSteps, CHEXBENCH_NO_CUPTI);
  EXPECT_THAT(times["problem"].get<std::string>(), AllOf(HasSubstr(CHEXBENCH_NO_CUPTI), HasSubstr("it is not CUPTI")));
}

TEST_F(KernelTimeTest, ARefusalIsToldInCuptisWords) {
  // Kind 10 is kernels, and status 35 insufficient privileges.
  const auto times = run(std::string("refuse 10 35\n") + kTwoSteps);
  EXPECT_THAT(times["problem"].get<std::string>(),
              AllOf(HasSubstr("records of kernels"), HasSubstr("INSUFFICIENT_PRIVILEGES"), HasSubstr("35")));
}

TEST_F(KernelTimeTest, AProgramThatNeverTrainsSaysThatNoStepWasSeen) {
  EXPECT_THAT(run("kernel conv 10 20\n")["problem"].get<std::string>(), HasSubstr("'6Upload' in their names, 0 ran"));
}

}  // namespace
}  // namespace chexbench::measure

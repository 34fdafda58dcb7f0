// Tests a program that finds the engine's module, finds none, or finds something else in its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

namespace chexbench::engine::onednn {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kModule = "libchexbench_onednn.so";

// Copies the probe to a separate bin folder, as in an installation.
class OnednnModuleTest : public testing::Test {
 protected:
  OnednnModuleTest() {
    fs::remove_all(root_);
    fs::create_directories(root_ / "bin");
    fs::create_directories(installed_.parent_path());
    fs::copy_file(CHEXBENCH_MODULE_PROBE, root_ / "bin" / "probe");
  }
  ~OnednnModuleTest() override { fs::remove_all(root_); }

  struct Outcome {
    int code = -1;
    std::string output;
  };
  Outcome run_probe(const std::string& environment = "env -u OMP_WAIT_POLICY") const {
    Outcome outcome;
    FILE* const pipe = popen((environment + " '" + (root_ / "bin" / "probe").string() + "' 2>&1").c_str(), "r");
    std::array<char, 4096> piece;
    while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) outcome.output += piece.data();
    const int status = pclose(pipe);
    if (WIFEXITED(status)) outcome.code = WEXITSTATUS(status);
    return outcome;
  }

  const fs::path root_ = fs::path(testing::TempDir()) / ("chexbench_module_" + std::to_string(getpid()));
  const fs::path beside_ = root_ / "bin" / kModule;
  const fs::path installed_ = root_ / CHEXBENCH_MODULE_FOLDER / kModule;
};

TEST_F(OnednnModuleTest, IsFoundBesideTheProgramAndWhereItIsInstalled) {
  for (const fs::path& place : {beside_, installed_}) {
    fs::copy_file(CHEXBENCH_MODULE, place);
    const Outcome outcome = run_probe();
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, StartsWith("made onednn"));
    fs::remove(place);
  }
}

TEST_F(OnednnModuleTest, ThatIsMissingGivesAnErrorWithBothPlaces) {
  const Outcome outcome = run_probe();
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.output, StartsWith("DeviceError: engine 'onednn': its module cannot be loaded: "));
  EXPECT_THAT(outcome.output, AllOf(HasSubstr(beside_.string()), HasSubstr(installed_.string())));
}

TEST_F(OnednnModuleTest, ThatIsNoLibraryGivesAnErrorWithTheLoadersReason) {
  std::ofstream(beside_) << std::string(100, 'x');
  const Outcome outcome = run_probe();
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.output, StartsWith("DeviceError: engine 'onednn': its module cannot be loaded: "));
  EXPECT_THAT(outcome.output, HasSubstr(beside_.string() + ": invalid ELF header"));
}

TEST_F(OnednnModuleTest, ThatLacksTheEngineIsSaidToBeOfAnotherBuild) {
  fs::copy_file(CHEXBENCH_OTHER_MODULE, beside_);
  const Outcome outcome = run_probe();
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.output, StartsWith("DeviceError: engine 'onednn': its module is of another build: "));
  EXPECT_THAT(outcome.output, HasSubstr("chexbench_make_onednn_engine"));
}

TEST_F(OnednnModuleTest, MakesOpenMpWaitPassivelyUnlessTheUserSaysOtherwise) {
  EXPECT_THAT(run_probe().output, HasSubstr("OMP_WAIT_POLICY=passive"));
  EXPECT_THAT(run_probe("env OMP_WAIT_POLICY=active").output, HasSubstr("OMP_WAIT_POLICY=active"));
}

// Job scripts often set both.
TEST_F(OnednnModuleTest, KeepsOpenMpFromBindingTheEnginesThreads) {
  EXPECT_THAT(run_probe("env OMP_PROC_BIND=true OMP_PLACES=cores").output,
              HasSubstr("OMP_PROC_BIND=false, OMP_PLACES=(unset)"));
}

}  // namespace
}  // namespace chexbench::engine::onednn

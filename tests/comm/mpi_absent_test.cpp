// Compiled with lib/comm/mpi_absent.cpp, whether or not this build has MPI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/launcher.hpp"
#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench::comm {
namespace {

TEST(WithoutMpi, OneLaunchedRankIsAWorldOfOne) {
  const auto world = make_mpi_world({.variable = "PMI_RANK", .ranks = 1});
  EXPECT_EQ(world->communicator().world(), 1);
  EXPECT_EQ(world->library(), "none");
}

TEST(WithoutMpi, SeveralLaunchedRanksAreAnErrorThatSaysWhatIsMissing) {
  const auto message_for = [](const Launcher& launcher) {
    return message_of<DeviceError>([&] { make_mpi_world(launcher); });
  };
  EXPECT_THAT(message_for({.variable = "PMI_RANK", .ranks = 2}),
              testing::AllOf(testing::HasSubstr("2 ranks"), testing::HasSubstr("PMI_RANK"),
                             testing::HasSubstr("libmpich-dev")));
  EXPECT_THAT(message_for({.variable = "PMIX_RANK", .ranks = {}}), testing::HasSubstr("several ranks"));
}

}  // namespace
}  // namespace chexbench::comm

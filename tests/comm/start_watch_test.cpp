#include "comm/mpi_start.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <vector>

namespace chexbench::comm {
namespace {

using testing::Each;
using testing::Ge;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<double> lines_until(std::size_t lines, WaitTimes times) {
  std::vector<double> waited_s;
  std::promise<void> all_said;
  const StartWatch watch({.say =
                              [&](double s) {
                                waited_s.push_back(s);
                                if (waited_s.size() == lines) all_said.set_value();
                              },
                          .on_signal = [] { ADD_FAILURE(); }},
                         times);
  EXPECT_EQ(all_said.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  return waited_s;
}

TEST(StartWatch, SpeaksAfterItsTimesForAsLongAsItLives) {
  EXPECT_THAT(lines_until(1, {.first_line_s = 0.1, .next_line_s = 1000}), AllOf(SizeIs(1), Each(Ge(0.1))));
  EXPECT_GE(lines_until(2, {.first_line_s = 0.1, .next_line_s = 0.1}).back(), 0.2);
}

TEST(StartWatch, IsSilentAndGoesAtOnceWhereTheRanksCome) {
  std::vector<double> said_s;
  {
    const StartWatch watch({.say = [&](double s) { said_s.push_back(s); }, .on_signal = [] { ADD_FAILURE(); }});
  }
  EXPECT_THAT(said_s, IsEmpty());
}

}  // namespace
}  // namespace chexbench::comm

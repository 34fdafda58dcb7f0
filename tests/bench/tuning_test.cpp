#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "bench/tuning.hpp"

namespace chexbench::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::int64_t> kValues = {1, 2, 3, 4, 6, 8, 12, 16};

// A machine on which each value has a rate that the test states.
class Machine {
 public:
  explicit Machine(std::map<std::int64_t, double> rates) : rates_(std::move(rates)) {}

  FoundValue find(std::int64_t start, std::size_t most_comparisons = 100) {
    return find_value(kValues, start, [&](std::int64_t candidate, std::int64_t reference) -> std::optional<TwoRates> {
      if (asked_.size() == most_comparisons) return {};
      asked_.push_back(candidate);
      return TwoRates{rates_.at(candidate), rates_.at(reference)};
    });
  }
  const std::vector<std::int64_t>& asked() const { return asked_; }

 private:
  std::map<std::int64_t, double> rates_;
  std::vector<std::int64_t> asked_;
};

TEST(ValueSearch, ClimbsWhileMoreCallsAddAndTakesTheSmallestThatIsEnough) {
  Machine machine({{2, 100}, {3, 150}, {4, 200}, {6, 201}, {8, 199}});
  const FoundValue found = machine.find(2);
  EXPECT_EQ(found.value, 4);
  EXPECT_EQ(found.reason, "6 added 0.5 %, 8 lost 0.5 %, 3 lost 25.0 %");
  EXPECT_THAT(machine.asked(), ElementsAre(3, 4, 6, 8)) << "two steps without a gain end the climb";
  ASSERT_EQ(found.points.size(), 5u);
  EXPECT_EQ(found.points.front().value, 2);
  EXPECT_DOUBLE_EQ(found.points.front().gain, 0.5);
}

TEST(ValueSearch, PassesOneStepWithoutAGain) {
  Machine machine({{2, 100}, {3, 101}, {4, 150}, {6, 150}, {8, 150}});
  EXPECT_EQ(machine.find(2).value, 4);
}

TEST(ValueSearch, LooksDownWhereMoreCallsAddNothingAndStaysWhereFewerAddNothingEither) {
  Machine machine({{1, 90}, {2, 100}, {3, 101}, {4, 100}, {6, 100}, {8, 99}});
  const FoundValue found = machine.find(4);
  EXPECT_EQ(found.value, 4);
  EXPECT_EQ(found.reason, "6 added 0.0 %, 8 lost 1.0 %, 3 added 1.0 %");
  EXPECT_THAT(machine.asked(), ElementsAre(6, 8, 3, 2, 1));
}

TEST(ValueSearch, GoesDownWhereFewerCallsAreFaster) {
  Machine machine({{1, 90}, {2, 109}, {3, 110}, {4, 100}, {6, 100}, {8, 99}});
  EXPECT_EQ(machine.find(4).value, 2);
}

TEST(ValueSearch, FindsThatOneCallIsFastestWhereHandingOverCosts) {
  Machine machine({{1, 130}, {2, 100}, {3, 100}, {4, 99}});
  EXPECT_EQ(machine.find(2).value, 1);
}

TEST(ValueSearch, DoesNotDriftDownByManySmallLosses) {
  Machine machine({{1, 100}, {2, 101}, {3, 102.5}, {4, 100}, {6, 100}, {8, 100}});
  EXPECT_EQ(machine.find(4).value, 2);
}

TEST(ValueSearch, GoesByWhatIsKnownOfTheBestInTheEnd) {
  const FoundValue found = find_value(kValues, 8, [](std::int64_t candidate, std::int64_t) {
    return std::optional(candidate > 8 ? TwoRates{100, 99} : TwoRates{candidate == 6 ? 99.5 : 50, 100});
  });
  EXPECT_EQ(found.value, 8) << "12 seemed to be as good, and 6 is not faster";
  EXPECT_EQ(found.points.at(0).value, 4);
  EXPECT_NEAR(found.points.at(0).gain, 0.5, 1e-9);
}

TEST(ValueSearch, SaysThatNoMoreAreTriedAtTheTop) {
  Machine machine({{8, 100}, {12, 150}, {16, 200}});
  const FoundValue found = machine.find(8);
  EXPECT_EQ(found.value, 16);
  EXPECT_EQ(found.reason, "12 lost 25.0 %, no more are tried");
}

TEST(ValueSearch, KeepsWhatItHasWhenTheTimeIsUp) {
  Machine machine({{2, 100}, {3, 150}, {4, 200}});
  const FoundValue found = machine.find(2, 1);
  EXPECT_EQ(found.value, 3);
  EXPECT_THAT(found.reason, HasSubstr("then the time for trying was up"));
  EXPECT_EQ(Machine({}).find(2, 0).value, 2);
}

TEST(ValueSearch, IsWithinFivePercentOfTheBestForAnyRatesThatRiseAndThenFall) {
  for (std::size_t peak = 0; peak < kValues.size(); ++peak) {
    std::map<std::int64_t, double> rates;
    for (std::size_t i = 0; i < kValues.size(); ++i) {
      const double distance = i < peak ? static_cast<double>(peak - i) : static_cast<double>(i - peak);
      rates[kValues[i]] = 1000 / (1 + 0.1 * distance);
    }
    EXPECT_EQ(Machine(rates).find(4).value, kValues[peak]);
  }
}

// Hands over batches of 10 images, the first `ahead` images at once and the others at 100 images/s. Returns the
// window's rate, and counts the batches.
double rate_of(RateWindow window, std::int64_t ahead, int& batches) {
  double now_s = 0;
  for (batches = 1;; ++batches) {
    if (batches * 10 > ahead) now_s += 0.1;
    if (const auto rate = window.take(10, now_s)) return *rate;
  }
}

TEST(RateWindow, IsOfTwoBatchesAndFourMoreWhereNothingIsReadAhead) {
  int batches = 0;
  EXPECT_NEAR(rate_of(RateWindow({.window_s = 0.3}, 0), 0, batches), 100, 1e-9);
  EXPECT_EQ(batches, 6);
}

TEST(RateWindow, LastsAsLongAsItIsTold) {
  int batches = 0;
  rate_of(RateWindow({.window_s = 0.95}, 0), 0, batches);
  EXPECT_EQ(batches, 12);
}

// Seen with 20 and 40 shards of a slow store: the read-ahead made it look twice as fast as it is.
TEST(RateWindow, DoesNotTakeWhatWasReadAheadForSpeed) {
  int batches = 0;
  EXPECT_NEAR(rate_of(RateWindow({.window_s = 0.3, .images_ahead = 200}, 0), 200, batches), 100, 1e-9);
  EXPECT_EQ(batches, 40) << "as many images in the window as before it";
  EXPECT_GT(rate_of(RateWindow({.window_s = 0.3}, 0), 200, batches), 400) << "which is why they are told apart";
}

TEST(RateWindow, EndsWithItsPipeline) {
  RateWindow window({.window_s = 10, .images_ahead = 20}, 0);
  EXPECT_FALSE(window.take(10, 1));
  EXPECT_DOUBLE_EQ(window.end(2), 5) << "of everything, as it did not open";
  EXPECT_FALSE(window.take(10, 2));
  EXPECT_FALSE(window.take(30, 4));
  EXPECT_DOUBLE_EQ(window.end(5), 10);
}

}  // namespace
}  // namespace chexbench::bench

#include "comm/wait_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.hpp"

namespace chexbench::comm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using NoteBoxes = std::vector<std::deque<std::pair<int, WaitNote>>>;  // of each rank: sender and note

class BoxLinks final : public NoteLinks {
 public:
  BoxLinks(NoteBoxes& boxes, int& sent, int rank) : boxes_(boxes), sent_(sent), rank_(rank) {}
  void send(int rank, const WaitNote& note) override {
    boxes_[static_cast<std::size_t>(rank)].emplace_back(rank_, note);
    ++sent_;
  }
  std::optional<std::pair<int, WaitNote>> receive() override {
    auto& own = boxes_[static_cast<std::size_t>(rank_)];
    if (own.empty()) return {};
    const auto first = own.front();
    own.pop_front();
    return first;
  }

 private:
  NoteBoxes& boxes_;
  int& sent_;
  const int rank_;
};

// Ranks without MPI and without time: a rank looks only while it is not stopped.
class WaitWatchTest : public testing::Test {
 protected:
  void start(int ranks) {
    boxes_.resize(static_cast<std::size_t>(ranks));
    lines_.resize(static_cast<std::size_t>(ranks));
    stopped_.resize(static_cast<std::size_t>(ranks));
    std::vector<std::string> hosts;
    for (int rank = 0; rank < ranks; ++rank) hosts.push_back("node" + std::to_string(rank));
    for (int rank = 0; rank < ranks; ++rank) {
      watches_.push_back(std::make_unique<WaitWatch>(
          rank, hosts, std::make_unique<BoxLinks>(boxes_, sent_, rank), [this] { return time_s_; },
          [this, rank](const std::string& line) { lines_[static_cast<std::size_t>(rank)].push_back(line); }));
    }
  }
  WatchedLane lane() const { return {.ranks = static_cast<int>(watches_.size())}; }
  WaitWatch& watch(int rank) { return *watches_[static_cast<std::size_t>(rank)]; }
  // Begins an operation whose end `progress` determines.
  Poll& begin(int rank, const char* what, Progress* progress = nullptr) {
    Poll& poll = polls_.emplace_back(
        watch(rank).watched(lane(), what, [progress] { return progress == nullptr ? Progress::waiting : *progress; }));
    poll();
    return poll;
  }
  void pass(double seconds) {
    constexpr double kStepS = 0.1;
    for (const double end_s = time_s_ + seconds; time_s_ < end_s; time_s_ += kStepS) {
      for (std::size_t rank = 0; rank < watches_.size(); ++rank) {
        if (!stopped_[rank]) watches_[rank]->look();
      }
    }
  }
  std::vector<std::string>& lines(int rank) { return lines_[static_cast<std::size_t>(rank)]; }

  double time_s_ = 1000;
  int sent_ = 0;
  NoteBoxes boxes_;
  std::vector<std::vector<std::string>> lines_;
  std::vector<bool> stopped_;
  std::vector<std::unique_ptr<WaitWatch>> watches_;
  std::deque<Poll> polls_;  // end before the watches
};

TEST_F(WaitWatchTest, NothingIsSentOrSaidBeforeAWaitIsLong) {
  start(2);
  Progress progress = Progress::waiting;
  Poll& poll = begin(0, "barrier", &progress);
  pass(6);
  progress = Progress::moved;
  poll();
  progress = Progress::waiting;
  pass(6);  // 12 s, but something moved
  EXPECT_EQ(sent_, 0);
  EXPECT_THAT(lines(0), IsEmpty());
}

class BrokenLinks final : public NoteLinks {
 public:
  void send(int, const WaitNote&) override { throw DeviceError("comm: MPI_Isend failed"); }
  std::optional<std::pair<int, WaitNote>> receive() override { throw DeviceError("comm: MPI_Iprobe failed"); }
};

// An exception would end the process without a message, because the comm thread itself looks.
TEST_F(WaitWatchTest, LinksThatFailEndWhatWaits) {
  WaitWatch alone(
      0, {"node0", "node1"}, std::make_unique<BrokenLinks>(), [this] { return time_s_; }, [](const std::string&) {});
  Poll poll = alone.watched({.ranks = 2}, "barrier", [] { return Progress::waiting; });
  EXPECT_EQ(poll(), Progress::waiting);
  EXPECT_NO_THROW(alone.look());
  EXPECT_TRUE(alone.gave_up());
  EXPECT_THROW(poll(), DeviceError);
}

// MPI may still write into the buffers of an operation that failed, whenever it is called.
TEST_F(WaitWatchTest, NothingIsCalledAfterAnOperationFailed) {
  start(2);
  int calls = 0;
  Poll other = watch(0).watched({.part = 1, .ranks = 2}, "averaging", [&calls] {
    ++calls;
    return Progress::waiting;
  });
  other();
  Poll poll = watch(0).watched(lane(), "barrier", []() -> Progress { throw DeviceError("comm: MPI_Test failed"); });
  EXPECT_THROW(poll(), DeviceError);
  EXPECT_TRUE(watch(0).gave_up());
  EXPECT_THROW(other(), DeviceError);
  pass(20);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(sent_, 0);
}

TEST_F(WaitWatchTest, NamesARankThatDoesNotAnswer) {
  start(2);
  watch(0).enter({.what = "40 in repeat 1"});
  watch(0).enter_step(11);
  stopped_[1] = true;
  begin(0, "averaging of gradients");
  pass(9.5);
  EXPECT_THAT(lines(0), ElementsAre("waiting for rank 1 (node1) for 9 s: averaging of gradients, step 12 of 40 in "
                                    "repeat 1; rank 1 does not answer: it is stopped, or its host or the network "
                                    "hangs"));
  pass(58);
  EXPECT_EQ(lines(0).size(), 1u);
  pass(3);
  EXPECT_EQ(lines(0).size(), 2u);
}

TEST_F(WaitWatchTest, SaysWhatARankThatAnswersDoes) {
  start(2);
  watch(1).enter({.what = "opens the data"});
  begin(0, "barrier");
  pass(9.5);
  EXPECT_THAT(lines(0), ElementsAre(HasSubstr("rank 1 answers, and is busy: opens the data")));
  EXPECT_THAT(lines(1), IsEmpty());
}

TEST_F(WaitWatchTest, OnlyTheLowestRankThatWaitsSpeaksAndTheOthersAskFewRanks) {
  start(20);
  for (int rank = 1; rank < 20; ++rank) begin(rank, "barrier");
  pass(8.7);
  // Rank 1 asks all, the others rank 0, which is late, and rank 1; no other rank has sent anything but answers.
  EXPECT_LE(sent_, 2 * (19 + 18 * 2));
  pass(1);
  EXPECT_THAT(lines(1), ElementsAre(HasSubstr("waiting for rank 0 (node0) for 9 s")));
  for (int rank = 2; rank < 20; ++rank) EXPECT_THAT(lines(rank), IsEmpty());
}

TEST_F(WaitWatchTest, AnotherRankSpeaksWhereTheFirstOnesAreStopped) {
  start(4);
  stopped_[0] = stopped_[1] = true;
  begin(2, "gather");
  begin(3, "gather");
  pass(9.5);
  EXPECT_THAT(lines(2), ElementsAre(HasSubstr("waiting for ranks 0 (node0), 1 (node1) for 9 s: gather")));
  EXPECT_THAT(lines(3), IsEmpty());
}

TEST_F(WaitWatchTest, ARankInAnotherOperationEndsBothWithAnErrorOfTheSpec) {
  start(2);
  const std::vector<Poll*> polls{&begin(0, "barrier"), &begin(1, "gather")};
  pass(9.5);
  const auto error_of = [&](std::size_t rank) -> std::optional<Error> {
    try {
      (*polls[rank])();
    } catch (const Error& error) {
      return error;
    }
    return {};
  };
  ASSERT_TRUE(error_of(0) && error_of(1));
  EXPECT_EQ(error_of(0)->code(), ExitCode::spec);
  EXPECT_EQ(error_of(1)->code(), ExitCode::spec);
  EXPECT_THAT(error_of(0)->what(), HasSubstr("rank 1 takes part in 'gather' instead: the ranks have diverged"));
  EXPECT_THAT(error_of(1)->what(), HasSubstr("rank 0 takes part in 'barrier' instead: the ranks have diverged"));
}

TEST_F(WaitWatchTest, TellsANetworkThatHangs) {
  start(2);
  begin(0, "barrier");
  begin(1, "barrier");
  pass(9.5);
  EXPECT_THAT(lines(0), ElementsAre(HasSubstr("all ranks have come, and nothing arrives")));
}

TEST_F(WaitWatchTest, DoesNotWaitForRanksThatHaveGoneOn) {
  start(3);
  Progress done = Progress::done;
  begin(0, "broadcast", &done);
  watch(2).enter({.what = "decodes"});
  begin(1, "broadcast");
  pass(9.5);
  EXPECT_THAT(lines(1), ElementsAre(HasSubstr("waiting for rank 2 (node2)")));
}

TEST_F(WaitWatchTest, GivesUpAfterItsLimitAndThenEveryOperationEnds) {
  start(2);
  watch(0).enter({.what = "40 in repeat 1", .patience = Patience::limited});
  watch(0).limit(4);
  Poll& poll = begin(0, "averaging of gradients");
  pass(2.5);
  EXPECT_EQ(lines(0).size(), 1u) << "the line comes at half of a short limit";
  EXPECT_NO_THROW(poll());
  pass(2);
  EXPECT_TRUE(watch(0).gave_up());
  EXPECT_THROW(poll(), DeviceError);
  EXPECT_THROW(begin(0, "averaging of gradients"), DeviceError);
}

TEST_F(WaitWatchTest, WhoHasNothingElseToDoWaitsSilentlyWhileOthersAnswer) {
  start(2);
  watch(0).limit(30);
  watch(0).enter({.what = "waits for trials of fewer ranks", .patience = Patience::silent});
  begin(0, "barrier");
  pass(200);
  EXPECT_THAT(lines(0), IsEmpty());
  EXPECT_FALSE(watch(0).gave_up());
  stopped_[1] = true;
  pass(130);
  EXPECT_TRUE(watch(0).gave_up()) << "no answer for 30 s";
}

TEST_F(WaitWatchTest, AnOperationThatFailedIsNoLongerWaitedFor) {
  start(2);
  Poll poll = watch(0).watched(lane(), "barrier", [] { return Progress::waiting; });
  poll();
  poll = nullptr;
  pass(30);
  EXPECT_THAT(lines(0), IsEmpty());
}

}  // namespace
}  // namespace chexbench::comm

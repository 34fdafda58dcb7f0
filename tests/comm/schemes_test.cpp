// Tests the schemes over ranks that are simulated in one thread, with links of a given speed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "comm/schemes/scheduled_average.hpp"
#include "comm/schemes/transport.hpp"
#include "core/errors.hpp"

namespace chexbench::comm {
namespace {

using spec::UpdateScheme;

using Mail = std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>>;  // by sender and receiver

// A transport whose messages arrive as soon as they are sent.
class LocalTransport final : public Transport {
 public:
  LocalTransport(Mail& mail, int rank, std::size_t& sent_bytes) : mail_(mail), rank_(rank), sent_bytes_(sent_bytes) {}

  Transfer send(int peer, std::span<const std::byte> bytes) override {
    mail_[{rank_, peer}].emplace_back(bytes.begin(), bytes.end());
    sent_bytes_ += bytes.size();
    return [] { return true; };
  }
  Transfer receive(int peer, std::span<std::byte> bytes) override {
    return [this, peer, bytes] {
      auto& box = mail_[{peer, rank_}];
      if (box.empty()) return false;
      EXPECT_EQ(box.front().size(), bytes.size());
      std::ranges::copy(box.front(), bytes.begin());
      box.pop_front();
      return true;
    };
  }

 private:
  Mail& mail_;
  const int rank_;
  std::size_t& sent_bytes_;
};

struct Outcome {
  std::vector<std::vector<float>> values;  // by rank
  double time_s = 0;                       // until the last rank was done
  bool all_mail_read = false;
  std::size_t sent_bytes = 0;  // by all ranks
};

constexpr double kTickS = 1e-5;

Outcome average(const spec::CommSpec& comm, const Hosts& hosts, std::vector<std::vector<float>> values,
                const LinkShape& shape = {.bytes_per_s = 1e12}) {
  const auto world = static_cast<int>(hosts.size());
  Mail mail;
  double time_s = 0;
  std::size_t sent_bytes = 0;
  std::vector<std::unique_ptr<Transport>> transports;
  std::vector<Poll> polls;
  for (int rank = 0; rank < world; ++rank) {
    std::vector<float>& own = values[static_cast<std::size_t>(rank)];
    transports.push_back(make_shaped_transport(std::make_unique<LocalTransport>(mail, rank, sent_bytes), shape,
                                               [&time_s] { return time_s; }));
    polls.push_back(make_scheduled_average(*transports.back(), make_schedule(comm, rank, hosts, own.size()), own,
                                           {.scale = 1.0f / static_cast<float>(world), .dtype = comm.gradient_dtype}));
  }
  std::vector<bool> done(polls.size());
  while (std::ranges::count(done, false) > 0) {
    bool moved = false;
    for (std::size_t rank = 0; rank < polls.size(); ++rank) {
      if (done[rank]) continue;
      const Progress progress = polls[rank]();
      done[rank] = progress == Progress::done;
      moved = moved || progress != Progress::waiting;
    }
    if (!moved) time_s += kTickS;
    if (time_s > 60) {
      ADD_FAILURE() << "ranks wait for each other";
      break;
    }
  }
  const bool all_read = std::ranges::all_of(mail, [](const auto& box) { return box.second.empty(); });
  return {.values = std::move(values), .time_s = time_s, .all_mail_read = all_read, .sent_bytes = sent_bytes};
}

std::vector<std::vector<float>> uneven_values(int ranks, std::size_t count) {
  std::vector<std::vector<float>> values(static_cast<std::size_t>(ranks), std::vector<float>(count));
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    for (std::size_t i = 0; i < count; ++i) values[rank][i] = 1.0f / static_cast<float>(1 + rank * 31 + i * 7);
  }
  return values;
}

// Places two ranks on each host; the last host may have one.
Hosts pairs(int ranks) {
  Hosts hosts;
  for (int rank = 0; rank < ranks; ++rank) hosts.push_back(rank / 2);
  return hosts;
}

class EveryScheme : public testing::TestWithParam<UpdateScheme> {
 protected:
  static spec::CommSpec comm() { return {.update = GetParam(), .servers = 2}; }
};

TEST_P(EveryScheme, GivesEveryRankTheSameMeanForAnyNumberOfRanksAndValues) {
  for (const int ranks : {2, 3, 4, 5, 7, 8}) {
    for (const std::size_t count : {1u, 2u, 5u, 64u, 1001u}) {
      const auto before = uneven_values(ranks, count);
      const Outcome after = average(comm(), pairs(ranks), before);
      EXPECT_TRUE(after.all_mail_read);
      for (std::size_t i = 0; i < count; ++i) {
        double mean = 0;
        for (const auto& values : before) mean += values[i] / static_cast<double>(ranks);
        ASSERT_NEAR(after.values[0][i], mean, 1e-6 * mean) << ranks << " ranks, value " << i << " of " << count;
      }
      for (const auto& values : after.values) EXPECT_EQ(values, after.values[0]) << ranks << " ranks, of " << count;
    }
  }
}

// The largest relative error of one rounding: half a unit in the last place of 11 (fp16) or 8 (bf16) bits.
double rounding(FloatType dtype) { return dtype == FloatType::fp16 ? 0x1p-11 : 0x1p-8; }

TEST_P(EveryScheme, SendsHalfTheBytesOfGradientsOf16BitsAndRoundsThemAsOftenAsItSendsThem) {
  for (const FloatType dtype : {FloatType::fp16, FloatType::bf16}) {
    spec::CommSpec narrow = comm();
    narrow.gradient_dtype = dtype;
    for (const int ranks : {2, 3, 4, 7, 8}) {
      for (const std::size_t count : {1u, 5u, 1001u}) {
        const auto before = uneven_values(ranks, count);
        const Outcome after = average(narrow, pairs(ranks), before);
        EXPECT_TRUE(after.all_mail_read);
        EXPECT_EQ(2 * after.sent_bytes, average(comm(), pairs(ranks), before).sent_bytes);
        for (std::size_t i = 0; i < count; ++i) {
          double mean = 0;
          for (const auto& values : before) mean += values[i] / static_cast<double>(ranks);
          // Very small fp16 numbers are subnormal and have fewer bits.
          const double smallest = dtype == FloatType::fp16 ? ranks * 0x1p-25 : 0;
          ASSERT_NEAR(after.values[0][i], mean, 1.01 * ranks * (rounding(dtype) * mean + smallest))
              << spec::to_string(dtype) << ", " << ranks << " ranks, value " << i << " of " << count;
        }
        for (const auto& values : after.values) EXPECT_EQ(values, after.values[0]) << ranks << " ranks, of " << count;
      }
    }
  }
}

TEST_P(EveryScheme, AveragesHalvesWhoseSumNoHalfHolds) {
  spec::CommSpec narrow = comm();
  narrow.gradient_dtype = FloatType::fp16;
  const Outcome after = average(narrow, pairs(8), std::vector<std::vector<float>>(8, std::vector<float>(9, 57344)));
  for (const auto& values : after.values) EXPECT_THAT(values, testing::Each(57344));
}

INSTANTIATE_TEST_SUITE_P(Schemes, EveryScheme,
                         testing::Values(UpdateScheme::ring, UpdateScheme::tree, UpdateScheme::hierarchical,
                                         UpdateScheme::parameter_server));

// 4 ranks, 1,000,000 bytes, 1 ms and 100 MB/s: a whole bucket takes 10 ms on one link.
constexpr LinkShape kSlow{.latency_s = 1e-3, .bytes_per_s = 100e6};
constexpr double kBucketS = 10e-3;
constexpr double kRounding = 0.2e-3;  // from the length of a tick

double time_of(const spec::CommSpec& comm, const Hosts& hosts) {
  return average(comm, hosts, uneven_values(static_cast<int>(hosts.size()), 250'000), kSlow).time_s;
}

TEST(SlowLinks, ARingTakesSixRoundsOfAQuarter) {
  EXPECT_NEAR(time_of({.update = UpdateScheme::ring}, pairs(4)), 6 * (1e-3 + kBucketS / 4), kRounding);
}

TEST(SlowLinks, ATreeTakesFourRoundsOfEverything) {
  EXPECT_NEAR(time_of({.update = UpdateScheme::tree}, pairs(4)), 4 * (1e-3 + kBucketS), kRounding);
}

TEST(SlowLinks, OneServerTakesAndGivesEverythingThreeTimesByItsOneLink) {
  EXPECT_NEAR(time_of({.update = UpdateScheme::parameter_server, .servers = 1}, pairs(4)), 2 * (1e-3 + 3 * kBucketS),
              kRounding);
}

TEST(SlowLinks, ServersShareTheLoad) {
  EXPECT_NEAR(time_of({.update = UpdateScheme::parameter_server, .servers = 4}, pairs(4)), 2 * (1e-3 + 0.75 * kBucketS),
              kRounding);
}

TEST(SlowLinks, HalvesTakeHalfTheTimeOfALinkButAllOfItsLatency) {
  EXPECT_NEAR(time_of({.update = UpdateScheme::ring, .gradient_dtype = FloatType::fp16}, pairs(4)),
              6 * (1e-3 + kBucketS / 8), kRounding);
}

TEST(SlowLinks, AHierarchyIsATreeOnEachHostAndARingOfHosts) {
  EXPECT_NEAR(time_of({.update = UpdateScheme::hierarchical}, pairs(4)),
              2 * (1e-3 + kBucketS) + 2 * (1e-3 + kBucketS / 2), kRounding);
  EXPECT_NEAR(time_of({.update = UpdateScheme::hierarchical, .ranks_per_group = 4}, pairs(4)), 4 * (1e-3 + kBucketS),
              kRounding);
}

// ---- Plans

std::size_t values_between_hosts(UpdateScheme update, const Hosts& hosts, std::size_t count) {
  std::size_t sent = 0;
  for (int rank = 0; rank < static_cast<int>(hosts.size()); ++rank) {
    for (const Round& round : make_schedule({.update = update}, rank, hosts, count)) {
      for (const Message& message : round.sends) {
        const bool leaves = hosts[static_cast<std::size_t>(rank)] != hosts[static_cast<std::size_t>(message.peer)];
        sent += leaves ? message.count : 0;
      }
    }
  }
  return sent;
}

TEST(Hierarchy, SendsEachValueOnceEachWayBetweenTwoHosts) {
  const Hosts scattered{0, 1, 0, 1, 0, 1, 0, 1};
  EXPECT_EQ(values_between_hosts(UpdateScheme::hierarchical, scattered, 800), 2 * 800u);
  EXPECT_EQ(values_between_hosts(UpdateScheme::ring, scattered, 800), 14 * 800u);
}

TEST(Parts, DifferByOneValueAtMostAndLeaveNoneOut) {
  const Schedule last = make_schedule({.update = UpdateScheme::parameter_server, .servers = 4}, 4, pairs(5), 10);
  std::vector<Message> parts = last.front().sends;
  std::ranges::sort(parts, {}, &Message::first);
  const std::vector<Message> expected{{.peer = 0, .first = 0, .count = 3},
                                      {.peer = 1, .first = 3, .count = 3},
                                      {.peer = 2, .first = 6, .count = 2},
                                      {.peer = 3, .first = 8, .count = 2}};
  EXPECT_EQ(parts, expected);
}

TEST(ParameterServer, NeedsARankForEachServer) {
  EXPECT_THROW(make_schedule({.update = UpdateScheme::parameter_server, .servers = 3}, 0, pairs(2), 8), SpecError);
}

}  // namespace
}  // namespace chexbench::comm

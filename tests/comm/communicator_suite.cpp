#include "comm/communicator_suite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "comm/device_reducers.hpp"
#include "comm/host_copies.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/half.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::comm {
namespace {

using Case = void (*)(Communicator&);

// 0 + 1 + ... + (ranks - 1)
int sum_of_ranks(int ranks) { return ranks * (ranks - 1) / 2; }

void ranks_are_numbered_from_zero(Communicator& group) {
  EXPECT_GE(group.rank(), 0);
  EXPECT_LT(group.rank(), group.world());
}

void all_reduce_sums_floats(Communicator& group) {
  std::vector<float> values{static_cast<float>(group.rank()), 1.0f};
  group.all_reduce_sum(std::span(values));
  EXPECT_EQ(values[0], static_cast<float>(sum_of_ranks(group.world())));
  EXPECT_EQ(values[1], static_cast<float>(group.world()));
}

void all_reduce_sums_doubles(Communicator& group) {
  std::vector<double> values{1e-12 * (group.rank() + 1)};
  group.all_reduce_sum(std::span(values));
  EXPECT_NEAR(values[0], 1e-12 * (sum_of_ranks(group.world()) + group.world()), 1e-24);
}

void all_reduce_takes_more_than_one_piece(Communicator& group) {
  constexpr std::size_t kCount = 3'000'001;  // 12 MB: three pieces, the last one odd
  std::vector<float> values(kCount), sums(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    const int value = static_cast<int>(i % 1000);
    values[i] = static_cast<float>(value + group.rank());
    sums[i] = static_cast<float>(value * group.world() + sum_of_ranks(group.world()));
  }
  group.all_reduce_sum(std::span(values));
  EXPECT_TRUE(values == sums);
}

void all_reduce_of_nothing_returns(Communicator& group) {
  group.all_reduce_sum(std::span<float>{});
  group.all_reduce_sum(std::span<double>{});
}

// The sums are rounded, so the ranks would differ if they added the values in different orders.
void all_reduce_gives_the_same_bits_on_all_ranks(Communicator& group) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{1'300'007}}) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = std::sin(static_cast<float>(i) * 0.37f + static_cast<float>(group.rank()) * 1.7f) / 3.0f;
    group.all_reduce_sum(std::span(values));
    const std::string bits(reinterpret_cast<const char*>(values.data()), count * sizeof(float));
    for (const std::string& other : group.gather(bits, 0)) EXPECT_TRUE(other == bits) << count << " values";
  }
}

void broadcast_copies_from_the_root(Communicator& group) {
  for (int root = 0; root < group.world(); ++root) {
    std::array<std::byte, 5> bytes{};
    bytes.fill(static_cast<std::byte>(10 + group.rank()));
    group.broadcast(std::as_writable_bytes(std::span(bytes)), root);
    EXPECT_THAT(bytes, testing::Each(static_cast<std::byte>(10 + root)));
  }
}

void gather_keeps_the_order_of_ranks_and_takes_texts_of_any_length(Communicator& group) {
  for (int root = 0; root < group.world(); ++root) {
    const std::string own(static_cast<std::size_t>(group.rank()) * 70'000, static_cast<char>('a' + group.rank()));
    const std::vector<std::string> all = group.gather(own, root);
    if (group.rank() != root) {
      EXPECT_TRUE(all.empty());
      continue;
    }
    ASSERT_EQ(all.size(), static_cast<std::size_t>(group.world()));
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], std::string(i * 70'000, static_cast<char>('a' + i)));
  }
}

void a_root_outside_the_group_is_an_error(Communicator& group) {
  std::array<std::byte, 1> byte{};
  EXPECT_THROW(group.broadcast(byte, group.world()), DeviceError);
  EXPECT_THROW(group.broadcast(byte, -1), DeviceError);
  EXPECT_THROW(group.gather("", group.world()), DeviceError);
}

void first_makes_a_group_of_the_first_ranks(Communicator& group) {
  for (int ranks = 1; ranks <= group.world(); ++ranks) {
    const std::unique_ptr<Communicator> sub = group.first(ranks);
    ASSERT_EQ(sub != nullptr, group.rank() < ranks);
    if (!sub) continue;
    EXPECT_EQ(sub->rank(), group.rank());
    EXPECT_EQ(sub->world(), ranks);
    std::vector<double> values{static_cast<double>(group.rank())};
    sub->all_reduce_sum(std::span(values));
    EXPECT_EQ(values[0], sum_of_ranks(ranks));
  }
}

void a_group_of_more_ranks_than_there_are_is_an_error(Communicator& group) {
  EXPECT_THROW(group.first(group.world() + 1), DeviceError);
  EXPECT_THROW(group.first(0), DeviceError);
}

// Returns the MPI library's scheme, each of ours, and one over slower links.
std::vector<spec::CommSpec> all_schemes() {
  std::vector<spec::CommSpec> schemes;
  for (const auto& [update, word] : spec::named_values<spec::UpdateScheme>()) schemes.push_back({.update = update});
  schemes.push_back({.update = spec::UpdateScheme::hierarchical, .ranks_per_group = 2});
  schemes.push_back({.update = spec::UpdateScheme::ring, .model = spec::CommModel::shaped, .alpha_s = 1e-3});
  return schemes;
}

// MPI's all-reduce takes a bucket in pieces of 4 MB. Messages of the other schemes need only be too large for MPI to
// send at once.
std::size_t bucket_size(const spec::CommSpec& comm, std::size_t of_two_pieces) {
  return comm.update == spec::UpdateScheme::all_reduce ? of_two_pieces : 400'001;
}

void reducers_average_every_bucket(Communicator& group, const spec::CommSpec& comm) {
  SCOPED_TRACE(to_string(comm.update));
  const std::unique_ptr<Reducer> reducer = group.make_reducer(comm);
  EXPECT_EQ(reducer->world(), group.world());
  const float mean = static_cast<float>(sum_of_ranks(group.world())) / static_cast<float>(group.world());
  std::vector<float> small(3), large(bucket_size(comm, 1'500'000));
  for (int step = 0; step < 3; ++step) {
    small.assign(small.size(), static_cast<float>(group.rank()));
    large.assign(large.size(), static_cast<float>(group.rank() + step));
    reducer->reduce({small.data(), small.size()}, nullptr);
    reducer->reduce({large.data(), large.size()}, nullptr);
    reducer->wait();
    EXPECT_THAT(small, testing::Each(testing::FloatEq(mean)));
    EXPECT_FLOAT_EQ(large.front(), mean + static_cast<float>(step));
    EXPECT_FLOAT_EQ(large.back(), mean + static_cast<float>(step));
  }
  const std::uint64_t bytes = (small.size() + large.size()) * sizeof(float);
  EXPECT_EQ(reducer->timings().reduced_bytes, group.world() == 1 ? 0 : bytes);
  EXPECT_EQ(reducer->timings().busy_s > 0, group.world() > 1);
}

void reducers_average_every_bucket(Communicator& group) {
  for (const spec::CommSpec& comm : all_schemes()) reducers_average_every_bucket(group, comm);
}

// Rank r contributes 40960 + 512 r: the sum of two such values exceeds the range of f16. They are exact in f16, but
// not in bf16.
void reducers_average_gradients_of_16_bits(Communicator& group) {
  const double mean = 40960 + 512.0 * sum_of_ranks(group.world()) / group.world();
  for (spec::CommSpec comm : all_schemes()) {
    for (const auto dtype : {FloatType::fp16, FloatType::bf16}) {
      SCOPED_TRACE(to_string(comm.update) + " " + spec::to_string(dtype));
      comm.gradient_dtype = dtype;
      const std::unique_ptr<Reducer> reducer = group.make_reducer(comm);
      std::vector<float> bucket(bucket_size(comm, 2'100'001), static_cast<float>(40960 + 512 * group.rank()));
      bucket[3] = static_cast<float>(group.rank()) * 1.1f;
      reducer->reduce({bucket.data(), bucket.size()}, nullptr);
      reducer->wait();
      const double error = (dtype == FloatType::fp16 ? 0x1p-11 : 0x1p-8) * group.world();
      for (const std::size_t i : {std::size_t{0}, bucket.size() / 2, bucket.size() - 1})
        EXPECT_NEAR(bucket[i], mean, error * mean);
      const std::uint64_t bytes = bucket.size() * 2;
      EXPECT_EQ(reducer->timings().reduced_bytes, group.world() == 1 ? 0 : bytes);
      const std::string bits(reinterpret_cast<const char*>(bucket.data()), 64);
      for (const std::string& other : group.gather(bits, 0)) EXPECT_TRUE(other == bits);
    }
  }
}

void more_servers_than_ranks_are_an_error(Communicator& group) {
  if (group.world() == 1) return;
  EXPECT_THROW(group.make_reducer({.update = spec::UpdateScheme::parameter_server, .servers = group.world() + 1}),
               SpecError);
}

// The last rank hands over its bucket only after all others have heard from it by other means. If reduce() waited, or
// if buckets held up other collectives, this would never end.
void reducers_work_behind_the_callers_back(Communicator& group, const spec::CommSpec& comm) {
  const std::unique_ptr<Reducer> reducer = group.make_reducer(comm);
  std::vector<float> bucket(100'000, static_cast<float>(group.rank()));
  const bool late = group.rank() == group.world() - 1;
  if (!late) reducer->reduce({bucket.data(), bucket.size()}, nullptr);
  group.barrier();
  if (late) reducer->reduce({bucket.data(), bucket.size()}, nullptr);
  reducer->wait();
  EXPECT_FLOAT_EQ(bucket[0], static_cast<float>(sum_of_ranks(group.world())) / static_cast<float>(group.world()));
}

void reducers_work_behind_the_callers_back(Communicator& group) {
  for (const spec::CommSpec& comm : all_schemes()) reducers_work_behind_the_callers_back(group, comm);
}

// Rank r has 40960 + 512 r: the sum of two such binary16 numbers is infinite, their mean is not.
template <typename T, typename Narrow>
void expect_staged_mean(Communicator& group, FloatType type, Narrow narrow_value) {
  HostEvent ready = true;
  StagedReducer reducer(group.first(group.world()), {}, std::make_unique<HostCopies>());
  const float mean = 40960 + 512 * static_cast<float>(sum_of_ranks(group.world())) / static_cast<float>(group.world());
  for (const std::size_t count : {std::size_t{3}, std::size_t{1'200'001}}) {
    std::vector<T> bucket(count, narrow_value(40960 + 512 * static_cast<float>(group.rank())));
    reducer.reduce({bucket.data(), bucket.size(), type}, &ready);
    reducer.join(nullptr);
    const std::vector<T> expected(count, narrow_value(mean));
    EXPECT_EQ(std::memcmp(bucket.data(), expected.data(), count * sizeof(T)), 0) << count << " values";
  }
}

void staged_reducer_averages_every_type(Communicator& group) {
  expect_staged_mean<float>(group, FloatType::f32, [](float value) { return value; });
  expect_staged_mean<Half>(group, FloatType::fp16, [](float value) { return to_half(value); });
  expect_staged_mean<BFloat16>(group, FloatType::bf16, [](float value) { return to_bfloat16(value); });
}

// Averages over one rank, for which no device is needed.
void device_reducers_are_for_the_first_ranks_alone(Communicator& group) {
  const std::unique_ptr<Reducer> reducer = group.make_device_reducer(1, {});
  ASSERT_EQ(reducer != nullptr, group.rank() == 0);
  if (reducer) {
    EXPECT_EQ(reducer->world(), 1);
    EXPECT_TRUE(reducer->capturable());
  }
  EXPECT_THROW(group.make_device_reducer(0, {}), DeviceError);
  EXPECT_THROW(group.make_device_reducer(group.world() + 1, {}), DeviceError);
}

void reducer_waits_for_nothing_where_nothing_was_added(Communicator& group) {
  const std::unique_ptr<Reducer> reducer = group.make_reducer({});
  reducer->wait();
  EXPECT_EQ(reducer->timings().reduced_bytes, 0u);
}

// All ranks of the suite are processes of one host, so their clocks are the same.
void reducers_let_ranks_meet(Communicator& group, const spec::CommSpec& comm) {
  const std::unique_ptr<Reducer> reducer = group.make_reducer(comm);
  std::vector<double> last_came_s{0};
  if (group.rank() == group.world() - 1) {
    sleep_until_s(now_s() + 5e-3);
    last_came_s[0] = now_s();
  }
  reducer->meet();
  const double met_s = now_s();
  group.all_reduce_sum(std::span(last_came_s));
  EXPECT_GE(met_s, last_came_s[0]) << to_string(comm.update);
  EXPECT_EQ(reducer->timings().reduced_bytes, 0u);
}

void reducers_let_ranks_meet(Communicator& group) {
  for (const spec::CommSpec& comm : all_schemes()) reducers_let_ranks_meet(group, comm);
}

void groups_of_one_world_work_at_the_same_time(Communicator& group) {
  const std::unique_ptr<Communicator> sub = group.first((group.world() + 1) / 2);
  std::vector<double> whole{1}, part{1};
  std::jthread other([&] {
    if (sub) sub->all_reduce_sum(std::span(part));
  });
  group.all_reduce_sum(std::span(whole));
  other.join();
  EXPECT_EQ(whole[0], group.world());
  EXPECT_EQ(part[0], sub ? sub->world() : 1);
}

const std::pair<const char*, Case> kCases[] = {
    {"RanksAreNumberedFromZero", ranks_are_numbered_from_zero},
    {"AllReduceSumsFloats", all_reduce_sums_floats},
    {"AllReduceSumsDoubles", all_reduce_sums_doubles},
    {"AllReduceTakesMoreThanOnePiece", all_reduce_takes_more_than_one_piece},
    {"AllReduceOfNothingReturns", all_reduce_of_nothing_returns},
    {"AllReduceGivesTheSameBitsOnAllRanks", all_reduce_gives_the_same_bits_on_all_ranks},
    {"BroadcastCopiesFromTheRoot", broadcast_copies_from_the_root},
    {"GatherKeepsTheOrderOfRanksAndTakesTextsOfAnyLength",
     gather_keeps_the_order_of_ranks_and_takes_texts_of_any_length},
    {"ARootOutsideTheGroupIsAnError", a_root_outside_the_group_is_an_error},
    {"FirstMakesAGroupOfTheFirstRanks", first_makes_a_group_of_the_first_ranks},
    {"AGroupOfMoreRanksThanThereAreIsAnError", a_group_of_more_ranks_than_there_are_is_an_error},
    {"ReducersAverageEveryBucket", reducers_average_every_bucket},
    {"ReducersAverageGradientsOf16Bits", reducers_average_gradients_of_16_bits},
    {"MoreServersThanRanksAreAnError", more_servers_than_ranks_are_an_error},
    {"ReducersWorkBehindTheCallersBack", reducers_work_behind_the_callers_back},
    {"StagedReducerAveragesEveryType", staged_reducer_averages_every_type},
    {"DeviceReducersAreForTheFirstRanksAlone", device_reducers_are_for_the_first_ranks_alone},
    {"ReducerWaitsForNothingWhereNothingWasAdded", reducer_waits_for_nothing_where_nothing_was_added},
    {"ReducersLetRanksMeet", reducers_let_ranks_meet},
    {"GroupsOfOneWorldWorkAtTheSameTime", groups_of_one_world_work_at_the_same_time},
};

class SuiteCase final : public testing::Test {
 public:
  SuiteCase(Communicator& communicator, Case body) : communicator_(communicator), body_(body) {}
  void TestBody() override { body_(communicator_); }

 private:
  Communicator& communicator_;
  const Case body_;
};

}  // namespace

void register_communicator_suite(const std::string& name, Communicator& communicator) {
  for (const auto& [case_name, body] : kCases) {
    testing::RegisterTest(name.c_str(), case_name, nullptr, nullptr, __FILE__, __LINE__,
                          [&communicator, run = body]() -> testing::Test* { return new SuiteCase(communicator, run); });
  }
}

}  // namespace chexbench::comm

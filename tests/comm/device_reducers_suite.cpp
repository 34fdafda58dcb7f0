// Makes device reducers over real ranks of MPI and stand-ins for NVIDIA's libraries. Every rank checks the results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/device_copies.hpp"
#include "comm/nccl_standin.hpp"
#include "core/errors.hpp"
#include "core/half.hpp"

namespace chexbench::comm {
namespace {

using spec::CommBackend;
using standin::calls;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::unique_ptr<World> world;

class DeviceReducers : public testing::Test {
 protected:
  DeviceReducers() : group_(world->communicator().first(world->communicator().world())) { standin::reset(); }
  std::unique_ptr<Reducer> make(int ranks, CommBackend backend) {
    return group_->make_device_reducer(ranks, {.gpu = group_->rank() + 4, .comm = {.backend = backend}});
  }
  static std::vector<std::string> calls_like(const std::string& begin) {
    std::vector<std::string> found;
    for (const std::string& call : calls()) {
      if (call.starts_with(begin)) found.push_back(call);
    }
    return found;
  }

  const std::unique_ptr<Communicator> group_;  // of all ranks, new for each test
};

TEST_F(DeviceReducers, AllRanksJoinNcclByTheIdOfRankZeroOnTheirOwnGpu) {
  const auto reducer = make(group_->world(), CommBackend::nccl);
  ASSERT_NE(reducer, nullptr);
  EXPECT_EQ(reducer->world(), group_->world());
  EXPECT_EQ(calls_like("ncclGetUniqueId").size(), group_->rank() == 0 ? 1u : 0u);
  const std::string joined = "ncclCommInitRankConfig comm1 rank " + std::to_string(group_->rank()) + " of " +
                             std::to_string(group_->world()) + " blocking=0 id=abcdefghijklmnopqrstuvwxyzabcdef";
  EXPECT_THAT(calls(), Contains(StartsWith(joined)));
  EXPECT_THAT(calls(), Contains("cudaSetDevice " + std::to_string(group_->rank() + 4)));
}

TEST_F(DeviceReducers, AllRanksTakePartInMakingASmallerWorldOutOfOneCommunicator) {
  for (int ranks = 2; ranks <= group_->world(); ++ranks) {
    EXPECT_EQ(make(ranks, CommBackend::nccl) != nullptr, group_->rank() < ranks);
  }
  EXPECT_EQ(calls_like("ncclCommInitRank").size(), 1u);
  EXPECT_EQ(calls_like("ncclCommSplit").size(), static_cast<std::size_t>(group_->world() - 2));
}

TEST_F(DeviceReducers, AutoIsNcclWhereEveryRankHasIt) {
  EXPECT_TRUE(make(group_->world(), CommBackend::automatic)->capturable());
}

TEST_F(DeviceReducers, AutoIsHostMemoryOnAllRanksWhereOneLacksNccl) {
  if (group_->rank() == group_->world() - 1) standin::script().problem = "this machine has no NCCL";
  EXPECT_FALSE(make(group_->world(), CommBackend::automatic)->capturable());
  EXPECT_THAT(calls(), Not(Contains(StartsWith("nccl"))));
}

TEST_F(DeviceReducers, NcclThatIsAskedForAndMissingIsAnError) {
  standin::script().problem = "this machine has no NCCL";
  EXPECT_THAT([&] { make(group_->world(), CommBackend::nccl); },
              testing::ThrowsMessage<DeviceError>("this machine has no NCCL"));
}

TEST_F(DeviceReducers, OverMpiCopyAverageAndCopyBack) {
  const auto reducer = make(group_->world(), CommBackend::mpi);
  const cudaEvent_t ready = standin::make_event();
  std::vector<Half> bucket(1000, to_half(static_cast<float>(group_->rank())));
  reducer->reduce({bucket.data(), bucket.size(), FloatType::fp16}, ready);
  reducer->join(nullptr);
  for (const Half value : bucket) ASSERT_EQ(to_float(value), static_cast<float>(group_->world() - 1) / 2);
  EXPECT_THAT(calls(), Contains("stream1 waits for " + standin::name(ready)));
  EXPECT_THAT(calls_like("copy"), testing::ElementsAre("copy 2000 bytes to the host on stream1",
                                                       "copy 2000 bytes to the device on stream1"));
  EXPECT_EQ(calls_like("host waits").size(), 3u) << "for the event and for each copy";
  EXPECT_THAT(calls(), Contains("cudaSetDevice " + std::to_string(group_->rank() + 4)));
}

TEST_F(DeviceReducers, OverMpiServeTheFirstRanksAlone) {
  for (int ranks = 2; ranks <= group_->world(); ++ranks) {
    const auto reducer = make(ranks, CommBackend::mpi);
    ASSERT_EQ(reducer != nullptr, group_->rank() < ranks);
    if (!reducer) continue;
    std::vector<float> bucket(100, static_cast<float>(group_->rank()));
    reducer->reduce({bucket.data(), bucket.size()}, standin::make_event());
    reducer->wait();
    EXPECT_FLOAT_EQ(bucket[0], static_cast<float>(ranks - 1) / 2);
  }
}

TEST_F(DeviceReducers, AverageABufferOfTheGpuOnceItsCopyIsDone) {
  const auto reducer = make(group_->world(), CommBackend::mpi);
  const std::unique_ptr<DeviceCopies> copies = make_device_copies(group_->rank() + 4);
  std::vector<float> values(100, static_cast<float>(group_->rank()));
  void* const buffer = copies->device_buffer(400);
  copies->to_device(std::as_bytes(std::span(values)), buffer);
  const ReadyEvent copied = copies->copied();
  reducer->reduce({buffer, values.size()}, copied);
  reducer->wait();
  copies->to_host(buffer, std::as_writable_bytes(std::span(values)));
  EXPECT_FLOAT_EQ(values[99], static_cast<float>(group_->world() - 1) / 2);
  EXPECT_THAT(calls(), Contains("allocate 400 bytes"));
  EXPECT_THAT(calls(), Contains(testing::EndsWith(" waits for " + standin::name(static_cast<cudaEvent_t>(copied)))));
}

}  // namespace
}  // namespace chexbench::comm

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  chexbench::comm::world = chexbench::comm::join_world();
  const int result = RUN_ALL_TESTS();
  if (result != 0) chexbench::comm::world->abort(result);  // the other ranks may wait for this one
  chexbench::comm::world.reset();
  return 0;
}

// Tests the strict stand-in's rules, so that the tests above it can rely on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cuda/strict/strict_cuda.hpp"

namespace strict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StrictCuda : public testing::Test {
 protected:
  StrictCuda() { begin(1); }
  void begin(unsigned seed, bool in_order = false) {
    reset(seed, in_order);
    cudaSetDevice(kDevice);
    for (cudaStream_t* const stream : {&first_, &second_}) {
      EXPECT_EQ(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), cudaSuccess);
    }
    EXPECT_EQ(cudaEventCreate(&event_), cudaSuccess);
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&device_), 64), cudaSuccess);
    EXPECT_EQ(cudaHostAlloc(reinterpret_cast<void**>(&pinned_), 64, 0), cudaSuccess);
    order_.clear();
  }
  void note(cudaStream_t stream, int number) {
    EXPECT_EQ(enqueue(stream, [this, number] { order_.push_back(number); }), cudaSuccess);
  }

  cudaStream_t first_ = nullptr, second_ = nullptr;
  cudaEvent_t event_ = nullptr;
  int* device_ = nullptr;
  int* pinned_ = nullptr;
  std::vector<int> order_;
};

TEST_F(StrictCuda, RunsNothingBeforeTheHostWaits) {
  note(first_, 1);
  EXPECT_THAT(order_, IsEmpty());
  EXPECT_EQ(cudaStreamSynchronize(first_), cudaSuccess);
  EXPECT_THAT(order_, ElementsAre(1));
}

TEST_F(StrictCuda, StreamsRunInAnyOrderButEachInItsOwn) {
  std::set<std::vector<int>> orders;
  for (unsigned seed = 0; seed < 400; ++seed) {
    begin(seed);
    note(first_, 1);
    note(first_, 2);
    note(second_, 3);
    cudaDeviceSynchronize();
    EXPECT_LT(std::ranges::find(order_, 1), std::ranges::find(order_, 2));
    orders.insert(order_);
  }
  EXPECT_EQ(orders.size(), 3u);
}

TEST_F(StrictCuda, AStreamThatWaitsForAnEventRunsAfterIt) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    begin(seed);
    note(first_, 1);
    cudaEventRecord(event_, first_);
    cudaStreamWaitEvent(second_, event_, 0);
    note(second_, 2);
    cudaStreamSynchronize(second_);
    EXPECT_THAT(order_, ElementsAre(1, 2));
  }
}

TEST_F(StrictCuda, AnEventThatIsNotReadyStaysInTheLastError) {
  note(first_, 1);
  cudaEventRecord(event_, first_);
  while (cudaEventQuery(event_) == cudaErrorNotReady) EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(StrictCuda, NewMemoryAndTheGoalOfACopyAreNotWhatTheyWillBe) {
  EXPECT_EQ(device_[0], -1);
  pinned_[0] = 7;
  cudaMemcpyAsync(device_, pinned_, 4, cudaMemcpyHostToDevice, first_);
  pinned_[0] = 8;  // too early
  cudaStreamSynchronize(first_);
  EXPECT_EQ(device_[0], 8);
  cudaMemcpyAsync(pinned_, device_, 4, cudaMemcpyDeviceToHost, first_);
  EXPECT_EQ(pinned_[0], -1);
  cudaStreamSynchronize(first_);
  EXPECT_EQ(pinned_[0], 8);
}

TEST_F(StrictCuda, MemoryThatIsNotPinnedIsTakenAtOnce) {
  int value = 7;
  cudaMemcpyAsync(device_, &value, 4, cudaMemcpyHostToDevice, first_);
  value = 8;
  cudaStreamSynchronize(first_);
  EXPECT_EQ(device_[0], 7);
}

TEST_F(StrictCuda, AGraphKeepsTheOrderOfItsForksAndJoins) {
  std::set<std::vector<int>> orders;
  for (unsigned seed = 0; seed < 40; ++seed) {
    begin(seed);
    cudaEvent_t joined = nullptr;
    cudaEventCreate(&joined);
    cudaStreamBeginCapture(first_, cudaStreamCaptureModeThreadLocal);
    note(first_, 1);
    cudaEventRecord(event_, first_);
    cudaStreamWaitEvent(second_, event_, 0);
    note(second_, 2);
    note(first_, 3);
    cudaEventRecord(joined, second_);
    cudaStreamWaitEvent(first_, joined, 0);
    note(first_, 4);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(first_, &graph), cudaSuccess);
    EXPECT_THAT(order_, IsEmpty());
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, cudaGraphInstantiateFlagUseNodePriority);
    cudaGraphLaunch(executable, first_);
    cudaStreamSynchronize(first_);
    EXPECT_EQ(order_.front(), 1);
    EXPECT_EQ(order_.back(), 4);
    orders.insert(order_);
    cudaGraphExecDestroy(executable);
  }
  EXPECT_EQ(orders.size(), 2u);
}

TEST_F(StrictCuda, ACaptureMustJoinWhatItForked) {
  cudaStreamBeginCapture(first_, cudaStreamCaptureModeThreadLocal);
  cudaEventRecord(event_, first_);
  cudaStreamWaitEvent(second_, event_, 0);
  note(second_, 1);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(first_, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_THAT(violations(), ElementsAre(HasSubstr("did not join")));
}

TEST_F(StrictCuda, ACaptureRefusesWhatCudaRefuses) {
  note(second_, 1);
  cudaEventRecord(event_, second_);
  cudaStreamBeginCapture(first_, cudaStreamCaptureModeThreadLocal);
  EXPECT_EQ(cudaStreamSynchronize(first_), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamWaitEvent(first_, event_, 0), cudaErrorStreamCaptureIsolation);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 4), cudaErrorStreamCaptureUnsupported);
  int unpinned = 0;
  EXPECT_EQ(cudaMemcpyAsync(&unpinned, device_, 4, cudaMemcpyDeviceToHost, first_), cudaErrorInvalidValue);
  EXPECT_EQ(violations().size(), 4u);
}

TEST_F(StrictCuda, AnotherDeviceThanThatOfTheProcessIsFound) {
  cudaSetDevice(0);
  void* memory = nullptr;
  EXPECT_NE(cudaHostAlloc(&memory, 4, 0), cudaSuccess);
  EXPECT_NE(enqueue(first_, [] {}), cudaSuccess);
  EXPECT_EQ(violations().size(), 2u);
}

TEST_F(StrictCuda, ADeviceThatFailedFailsEveryLaterCall) {
  scheduler().fail_at(2);
  note(first_, 1);
  note(first_, 2);
  EXPECT_EQ(cudaStreamSynchronize(first_), cudaErrorIllegalAddress);
  EXPECT_THAT(order_, ElementsAre(1));
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 4), cudaErrorIllegalAddress);
}

}  // namespace
}  // namespace strict

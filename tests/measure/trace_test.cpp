#include "measure/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "core/affinity.hpp"

namespace chexbench::measure {
namespace {

using testing::ElementsAre;

// Runs `body` on a thread of that name, and waits for its end.
template <class Body>
void on_thread(const std::string& name, Body body) {
  std::jthread([&] {
    name_this_thread(name);
    body();
  }).join();
}

void record(const char* name, double begin_s = 1, double end_s = 2) {
  if (is_tracing()) record_span({.name = name, .begin_s = begin_s, .end_s = end_s});
}

std::vector<std::string> names(const ThreadSpans& thread) {
  std::vector<std::string> names;
  for (const Span& span : thread.spans) names.emplace_back(span.name);
  return names;
}

TEST(TraceRecording, KeepsEachThreadsSpansInItsOwnRow) {
  TraceRecording recording(10);
  record("loop");
  on_thread("decode-0", [] {
    record("first", 1.5, 2.5);
    record("second");
  });
  const Trace trace = recording.take();
  ASSERT_EQ(trace.threads.size(), 2u);
  EXPECT_EQ(trace.threads[0].name, "main");
  EXPECT_EQ(trace.threads[1].name, "decode-0");
  EXPECT_THAT(names(trace.threads[0]), ElementsAre("loop"));
  EXPECT_THAT(names(trace.threads[1]), ElementsAre("first", "second"));
  EXPECT_NE(trace.threads[0].row, trace.threads[1].row);
  EXPECT_EQ(trace.threads[1].spans[0].begin_s, 1.5);
  EXPECT_EQ(trace.threads[1].spans[0].end_s, 2.5);
  EXPECT_EQ(trace.dropped_spans, 0u);
}

TEST(TraceRecording, IsOnOnlyFromItsBeginToItsEnd) {
  EXPECT_FALSE(is_tracing());
  {
    TraceRecording recording(10);
    EXPECT_TRUE(is_tracing());
    recording.take();
    EXPECT_FALSE(is_tracing());
  }
  { const TraceRecording abandoned(10); }
  EXPECT_FALSE(is_tracing());
}

TEST(TraceRecording, StartsWithNothingOfTheOneBefore) {
  {
    TraceRecording abandoned(1);
    record("before");
    record("dropped");
  }
  TraceRecording recording(10);
  record("now");
  const Trace trace = recording.take();
  ASSERT_EQ(trace.threads.size(), 1u);
  EXPECT_THAT(names(trace.threads[0]), ElementsAre("now"));
  EXPECT_EQ(trace.dropped_spans, 0u);
}

TEST(TraceRecording, KeepsTheFirstSpansAndCountsTheRest) {
  TraceRecording recording(3);
  for (const char* name : {"a", "b"}) record(name);
  on_thread("late", [] {
    for (const char* name : {"c", "d", "e", "f"}) record(name);
  });
  const Trace trace = recording.take();
  ASSERT_EQ(trace.threads.size(), 2u);
  EXPECT_THAT(names(trace.threads[1]), ElementsAre("c"));
  EXPECT_EQ(trace.dropped_spans, 3u);
}

TEST(TraceRecording, LosesNothingWhereManyThreadsRecordAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kSpans = 2000;
  TraceRecording recording(kThreads * kSpans - 7);
  {
    std::barrier start(kThreads);
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&start] {
        start.arrive_and_wait();
        for (int span = 0; span < kSpans; ++span) record("work");
      });
    }
  }
  const Trace trace = recording.take();
  std::size_t kept = 0;
  for (const ThreadSpans& thread : trace.threads) kept += thread.spans.size();
  EXPECT_EQ(kept, std::size_t{kThreads} * kSpans - 7);
  EXPECT_EQ(trace.dropped_spans, 7u);
}

TEST(TraceRecording, GivesTheRowOfAThreadThatEndedToTheNextOfItsName) {
  TraceRecording recording(10);
  on_thread("reader", [] { record("epoch 0"); });
  on_thread("reader", [] { record("epoch 1"); });
  const Trace trace = recording.take();
  ASSERT_EQ(trace.threads.size(), 1u);
  EXPECT_THAT(names(trace.threads[0]), ElementsAre("epoch 0", "epoch 1"));
}

TEST(TraceRecording, GivesThreadsOfOneNameThatLiveTogetherRowsOfTheirOwn) {
  TraceRecording recording(10);
  on_thread("prefetch", [] {
    record("outer");
    on_thread("prefetch", [] { record("inner"); });
    record("outer");
  });
  const Trace trace = recording.take();
  ASSERT_EQ(trace.threads.size(), 2u);
  EXPECT_THAT(names(trace.threads[0]), ElementsAre("outer", "outer"));
  EXPECT_THAT(names(trace.threads[1]), ElementsAre("inner"));
  EXPECT_NE(trace.threads[0].row, trace.threads[1].row);
}

TEST(TraceRecording, GivesADeviceARowOfItsOwnWhicheverThreadTellsOfIt) {
  TraceRecording recording(3);
  record_device_span("gpu", {.name = "first"});
  record("loop");
  on_thread("gpu", [] { record_device_span("gpu", {.name = "second"}); });
  record_device_span("gpu", {.name = "too late"});
  const Trace trace = recording.take();
  ASSERT_EQ(trace.threads.size(), 2u);
  EXPECT_EQ(trace.threads[0].name, "gpu");
  EXPECT_THAT(names(trace.threads[0]), ElementsAre("first", "second"));
  EXPECT_THAT(names(trace.threads[1]), ElementsAre("loop"));
  EXPECT_EQ(trace.dropped_spans, 1u);
}

TEST(TraceRecording, KeepsTheRowOfANameInLaterRecordings) {
  const auto row_of_decoder = [](bool is_first) {
    TraceRecording recording(10);
    if (!is_first) on_thread("somebody-else", [] { record("work"); });
    on_thread("decoder", [] { record("work"); });
    return recording.take().threads.back().row;
  };
  const int row = row_of_decoder(true);
  EXPECT_EQ(row_of_decoder(false), row);
}

TEST(Interned, GivesEqualNamesOnePlaceForEver) {
  const char* name = interned(std::string("map"));
  EXPECT_STREQ(name, "map");
  EXPECT_EQ(interned("map"), name);
  EXPECT_NE(interned("read"), name);
}

}  // namespace
}  // namespace chexbench::measure

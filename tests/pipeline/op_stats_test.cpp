// Tests counters, and how nested scopes divide a thread's time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <thread>

#include "core/clock.hpp"
#include "measure/trace.hpp"
#include "pipeline/op_stats.hpp"
#include "pipeline/tiny_set.hpp"

namespace chexbench::pipeline {
namespace {

// Works until the thread has used `seconds` more of CPU time, so that a scope around it cannot be shorter.
void burn_cpu(double seconds) {
  const double end_s = thread_cpu_s() + seconds;
  while (thread_cpu_s() < end_s) {
  }
}

constexpr double kBurn = 0.002;
constexpr double kRounding = 1e-8;

TEST(Count, NeverShowsLessThanNothingAndForgetsNoSubtraction) {
  Count count;
  count.add(-3);
  EXPECT_EQ(count.value(), 0u);
  count.add(5);
  EXPECT_EQ(count.value(), 2u);
}

TEST(OpStats, PutsEveryCounterInItsPlace) {
  OpStats stats;
  stats.elements_out.add(1);
  stats.images_decoded.add(2);
  stats.bytes_read.add(3);
  stats.busy_wall.add(4);
  stats.busy_cpu.add(5);
  stats.blocked_input.add(6);
  stats.blocked_output.add(7);
  stats.queue_depth_sum.add(8);
  stats.queue_capacity.add(9);
  stats.queue_depth.add(10);
  stats.bytes_held.add(11);
  stats.images_held.add(12);
  stats.read.add(13);
  stats.parse.add(14);
  stats.decode.add(15);
  stats.resize.add(16);
  stats.bad_records.add(17);
  const measure::OpCounters now = stats.snapshot("map");
  EXPECT_EQ(now.op, "map");
  EXPECT_EQ((std::vector{now.elements_out, now.images_decoded, now.bytes_read, now.queue_capacity, now.queue_depth,
                         now.bytes_held, now.images_held, now.bad_records}),
            (std::vector<std::uint64_t>{1, 2, 3, 9, 10, 11, 12, 17}));
  EXPECT_THAT((std::vector{now.busy_wall_s, now.busy_cpu_s, now.blocked_input_s, now.blocked_output_s,
                           now.queue_depth_sum, now.read_s, now.parse_s, now.decode_s, now.resize_s}),
              testing::Pointwise(testing::DoubleEq(), {4, 5, 6, 7, 8, 13, 14, 15, 16}));
}

TEST(TimeScope, BooksNothingWhereTimesAreNotWanted) {
  OpStats stats;
  stats.timed = false;
  {
    const TimeScope scope(stats, TimeScope::Book::busy);
    burn_cpu(kBurn);
  }
  EXPECT_EQ(stats.busy_wall.seconds(), 0);
  EXPECT_EQ(stats.busy_cpu.seconds(), 0);
}

TEST(TimeScope, OfThreeOpsThatAskEachOtherGivesEachItsOwnTimeAndItsWaitForTheOneBefore) {
  OpStats first, second, third;
  {
    const TimeScope asking_third(third, TimeScope::Book::input);
    burn_cpu(kBurn);
    {
      const TimeScope asking_second(second, TimeScope::Book::input);
      burn_cpu(kBurn);
      const TimeScope asking_first(first, TimeScope::Book::input);
      burn_cpu(2 * kBurn);
    }
    burn_cpu(kBurn);
  }
  EXPECT_GE(first.busy_cpu.seconds(), 2 * kBurn - kRounding);
  EXPECT_GE(second.busy_cpu.seconds(), kBurn - kRounding);
  EXPECT_GE(third.busy_cpu.seconds(), 2 * kBurn - kRounding);
  EXPECT_EQ(first.blocked_input.seconds(), 0);
  EXPECT_NEAR(second.blocked_input.seconds(), first.busy_wall.seconds(), kRounding);
  EXPECT_NEAR(third.blocked_input.seconds(), second.busy_wall.seconds() + second.blocked_input.seconds(), kRounding);
}

TEST(TimeScope, BooksNoCpuOfAWaitToTheOpAroundIt) {
  for (const auto book : {TimeScope::Book::blocked_input, TimeScope::Book::blocked_output, TimeScope::Book::nothing}) {
    OpStats stats;
    const double start_cpu_s = thread_cpu_s();
    {
      const TimeScope working(stats, TimeScope::Book::busy);
      const TimeScope waiting(stats, book);
      burn_cpu(kBurn);
    }
    const double all_cpu_s = thread_cpu_s() - start_cpu_s;
    EXPECT_LE(stats.busy_cpu.seconds(), all_cpu_s - kBurn + kRounding);
    EXPECT_EQ(stats.blocked_input.seconds() >= kBurn, book == TimeScope::Book::blocked_input);
    EXPECT_EQ(stats.blocked_output.seconds() >= kBurn, book == TimeScope::Book::blocked_output);
  }
}

TEST(TimeScope, BooksToTheOuterOpAgainOnceTheInnerOneHasEnded) {
  OpStats outer, inner;
  {
    const TimeScope around(outer, TimeScope::Book::busy);
    { const TimeScope scope(inner, TimeScope::Book::busy); }
    const double before_s = inner.busy_cpu.seconds();
    burn_cpu(kBurn);
    EXPECT_EQ(inner.busy_cpu.seconds(), before_s);
  }
  EXPECT_GE(outer.busy_cpu.seconds(), kBurn - kRounding);
}

TEST(TimeScope, OfOneThreadTakesNothingOutOfAnothers) {
  OpStats here, there;
  {
    const TimeScope around(here, TimeScope::Book::busy);
    std::jthread([&] {
      const TimeScope scope(there, TimeScope::Book::input);
      burn_cpu(kBurn);
    }).join();
  }
  EXPECT_GE(here.busy_wall.seconds(), there.busy_wall.seconds());
  EXPECT_EQ(here.blocked_input.seconds(), 0);
}

TEST(TimeScope, TracesItselfAsASpanWithWhatItBooked) {
  OpStats map;
  map.traced_name = "map";
  map.index = 2;
  measure::TraceRecording recording(10);
  {
    const TimeScope working(map, TimeScope::Book::busy);
    {
      const TimeScope waiting(map, TimeScope::Book::blocked_output);
      burn_cpu(kBurn);
    }
    const double begin_s = now_s();
    burn_cpu(kBurn);
    book_part(map, map.decode, "decode", {.begin_s = begin_s, .end_s = now_s()});
  }
  const measure::Trace trace = recording.take();
  ASSERT_EQ(trace.threads.size(), 1u);
  const auto& spans = trace.threads[0].spans;
  ASSERT_EQ(spans.size(), 3u);
  const measure::Span &waiting = spans[0], &decoding = spans[1], &working = spans[2];
  EXPECT_EQ(waiting.kind, measure::SpanKind::waits_for_room);
  EXPECT_NEAR(waiting.end_s - waiting.begin_s, map.blocked_output.seconds(), kRounding);
  EXPECT_STREQ(decoding.name, "decode");
  EXPECT_NEAR(decoding.end_s - decoding.begin_s, map.decode.seconds(), kRounding);
  EXPECT_EQ(working.kind, measure::SpanKind::op);
  EXPECT_STREQ(working.name, "map");
  EXPECT_EQ(working.detail, 2);
  EXPECT_NEAR(working.end_s - working.begin_s, map.busy_wall.seconds() + map.blocked_output.seconds(), kRounding);
  EXPECT_LE(working.begin_s, waiting.begin_s);
  EXPECT_LE(waiting.end_s, decoding.begin_s);
  EXPECT_LE(decoding.end_s, working.end_s);
}

TEST(TimeScope, TracesNothingWhereTimesAreNotWanted) {
  OpStats stats;
  stats.timed = false;
  measure::TraceRecording recording(10);
  { const TimeScope scope(stats, TimeScope::Book::busy); }
  book_part(stats, stats.decode, "decode", {.begin_s = 1, .end_s = 2});
  EXPECT_TRUE(recording.take().threads.empty());
}

// Nothing reads twice at once in one thread, which took the time of the records before into that of the next.
TEST(OpStats, BookTheReadingOfRecordsThatAreLeftOutOnce) {
  const test::TinySet tiny({6});
  dataset::Dataset last = tiny.of(spec::DataFormat::tfrecord);
  last.partial = true;
  last.images.erase(last.images.begin(), last.images.end() - 1);
  const spec::PipelineSpec pipeline =
      test::list({test::op("list_files"), test::op("interleave"), test::op("map"), test::op("batch")});
  measure::TraceRecording recording(1000);
  const auto running = make_pipeline(test::context_of(last, pipeline, {.batch = 1}));
  EXPECT_EQ(test::drain(*running).size(), 1u);
  std::size_t reads = 0;
  for (const measure::ThreadSpans& thread : recording.take().threads) {
    double read_until_s = 0;
    for (const measure::Span& span : thread.spans) {
      if (span.name != std::string_view("read")) continue;
      EXPECT_GE(span.begin_s, read_until_s);
      read_until_s = span.end_s;
      ++reads;
    }
  }
  EXPECT_EQ(reads, 7u) << "6 records and the end of the shard";
}

}  // namespace
}  // namespace chexbench::pipeline

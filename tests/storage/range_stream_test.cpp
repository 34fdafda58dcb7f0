#include "storage/range_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "storage/http/fake_http.hpp"

namespace chexbench::storage {
namespace {

using test::FakeClient;
using testing::HasSubstr;

class RangeStreamTest : public testing::Test {
 protected:
  void serve(FakeClient::Answer answer) {
    fetcher_ = std::make_unique<HttpFetcher>(std::make_unique<FakeClient>(std::move(answer)), dialect_,
                                             RetryPolicy{.tries = 1});
    pool_ = std::make_unique<ThreadPool>(4);
  }
  std::unique_ptr<ByteStream> open(std::stop_token stop = {}) {
    const auto read = [this](auto first, auto& pieces, const auto& wanted) {
      fetcher_->read_range({.path = "http://h/x", .url = "http://h/x"}, first, pieces, wanted);
    };
    return stream_ranges({.path = "http://h/x", .size = body_.size(), .read = read}, *pool_, {.bytes = 10, .ahead = 3},
                         std::move(stop));
  }
  static std::string body() {
    std::string text;
    for (int i = 0; i < 107; ++i) text += static_cast<char>('!' + i % 90);
    return text;
  }
  const std::string body_ = body();
  const test::PlainDialect dialect_;
  std::unique_ptr<HttpFetcher> fetcher_;
  std::unique_ptr<ThreadPool> pool_;
};

TEST_F(RangeStreamTest, GivesTheBytesInTheirOrderWhateverTheRequestsTake) {
  std::atomic<int> asked = 0;
  serve([&](const HttpRequest& request, const auto& sink) {
    if (++asked % 2 == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return test::send_range(body_, request, sink);
  });
  const auto stream = open();
  std::string got;
  for (const std::size_t bytes : {1u, 9u, 0u, 25u, 10u, 62u}) got += test::text_of(stream->take(bytes).bytes);
  EXPECT_EQ(got, body_);
  EXPECT_EQ(asked, 11);
}

TEST_F(RangeStreamTest, BytesOutliveTheStream) {
  serve([&](const HttpRequest& request, const auto& sink) { return test::send_range(body_, request, sink); });
  const SharedBytes taken = open()->take(25);
  EXPECT_EQ(test::text_of(taken.bytes), body_.substr(0, 25));
}

TEST_F(RangeStreamTest, AsksAfterItKnowsWhatToExpect) {
  std::atomic<int> asked = 0;
  serve([&](const HttpRequest& request, const auto& sink) {
    ++asked;
    return test::send_range(body_, request, sink);
  });
  const auto stream = open();
  stream->expect({.head_bytes = 1, .find = [](auto) { return std::optional<FoundPiece>(); }});
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(test::text_of(stream->take(body_.size()).bytes), body_);
}

TEST(BlockPool, GivesOutAgainWhatCameBack) {
  BlockPool pool;
  const std::byte* first = nullptr;
  {
    const auto block = pool.take(100'000);
    first = block.get();
    EXPECT_EQ(pool.idle_bytes(), 0u);
    EXPECT_NE(pool.take(100'000).get(), first);
  }
  EXPECT_EQ(pool.idle_bytes(), 2 * 2 * 65536u);
  EXPECT_EQ(pool.take(110'000).get(),
            first);  // its size is the same when rounded up, and it was the last to be released
  pool.take(10);
  EXPECT_EQ(pool.idle_bytes(), 2 * 2 * 65536u);  // small blocks are not kept
}

TEST(BlockPool, KeepsWhatWasInUseAtOnceAndHalfAsMuchOfOtherSizes) {
  BlockPool pool;
  std::vector<std::shared_ptr<std::byte[]>> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(pool.take(std::size_t{20} << 20));
  blocks.clear();
  EXPECT_EQ(pool.idle_bytes(), std::size_t{100} << 20);
  for (int i = 0; i < 4; ++i) blocks.push_back(pool.take(std::size_t{15} << 20));
  blocks.clear();
  EXPECT_EQ(pool.idle_bytes(), std::size_t{145} << 20) << "a fourth one would be more than 150 MB";
}

TEST(BlockPool, MayGoBeforeItsBlocks) {
  auto pool = std::make_unique<BlockPool>();
  const auto block = pool->take(100'000);
  pool.reset();
  block[99'999] = std::byte{1};
  EXPECT_EQ(block[99'999], std::byte{1});
}

TEST_F(RangeStreamTest, AsksForSeveralRangesAtOnceAndNoMore) {
  std::atomic<int> asked = 0;
  serve([&](const HttpRequest& request, const auto& sink) {
    ++asked;
    return test::send_range(body_, request, sink);
  });
  const auto stream = open();
  stream->take(1);
  for (int i = 0; i < 200 && asked < 3; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(asked, 3);
}

TEST_F(RangeStreamTest, TellsTheFailureWhereItsBytesWouldStand) {
  serve([&](const HttpRequest& request, const auto& sink) {
    if (request.headers.at(0).find("=20-") != std::string::npos) return HttpReply{.status = 500};
    return test::send_range(body_, request, sink);
  });
  const auto stream = open();
  EXPECT_EQ(test::text_of(stream->take(20).bytes), body_.substr(0, 20));
  EXPECT_THAT(message_of<DataError>([&] { stream->take(1); }), HasSubstr("500"));
}

TEST_F(RangeStreamTest, AWaitEndsWhenItIsStopped) {
  std::stop_source stop;
  std::atomic<bool> release = false;
  serve([&](const auto&, const auto&) {
    stop.request_stop();
    while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return HttpReply{.status = 500};
  });
  {
    const auto stream = open(stop.get_token());
    EXPECT_TRUE(stream->take(5).bytes.empty());
  }
  release = true;
  pool_.reset();
}

TEST_F(RangeStreamTest, NeverTakesTheMemoryThatALieAsksFor) {
  serve([this](const HttpRequest& request, const auto& sink) { return test::send_range(body_, request, sink); });
  EXPECT_THAT(message_of<DataError>([&] { open()->take(std::size_t{1} << 50); }),
              HasSubstr("a record of 1125899906842624 bytes is too large"));
}

}  // namespace
}  // namespace chexbench::storage

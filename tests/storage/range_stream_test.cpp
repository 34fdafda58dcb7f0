#include "storage/range_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
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
  // Answers each request, and counts it in `asked_`.
  void serve_body() {
    serve([this](const HttpRequest& request, const auto& sink) {
      ++asked_;
      return test::send_range(body_, request, sink);
    });
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
  std::atomic<int> asked_ = 0;
  std::unique_ptr<HttpFetcher> fetcher_;
  std::unique_ptr<ThreadPool> pool_;
};

TEST_F(RangeStreamTest, GivesTheBytesInTheirOrderWhateverTheRequestsTake) {
  serve([&](const HttpRequest& request, const auto& sink) {
    if (++asked_ % 2 == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return test::send_range(body_, request, sink);
  });
  const auto stream = open();
  std::string got;
  for (const std::size_t bytes : {1u, 9u, 0u, 25u, 10u, 62u}) got += test::text_of(stream->take(bytes).bytes);
  EXPECT_EQ(got, body_);
  EXPECT_EQ(asked_, 11);
}

TEST_F(RangeStreamTest, BytesOutliveTheStream) {
  serve_body();
  const SharedBytes taken = open()->take(25);
  EXPECT_EQ(test::text_of(taken.bytes), body_.substr(0, 25));
}

TEST_F(RangeStreamTest, AsksAfterItKnowsWhatToExpect) {
  serve_body();
  const auto stream = open();
  stream->expect({.head_bytes = 1, .find = [](auto) { return std::optional<FoundPiece>(); }});
  EXPECT_EQ(asked_, 0);
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
  serve_body();
  const auto stream = open();
  stream->take(1);
  for (int i = 0; i < 200 && asked_ < 3; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(asked_, 3);
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

TEST(RangeStream, LeavesItsMemoryToARequestThatGoesOnAfterIt) {
  RangePlan plan;
  const std::weak_ptr<BlockPool> blocks = plan.blocks;
  std::stop_source stop;
  stop.request_stop();
  std::promise<void> begins, goes_on;
  std::promise<bool> had_memory;
  ThreadPool pool(1);
  const auto read = [&](std::uint64_t, RangePieces& pieces, const auto&) {
    begins.set_value();
    goes_on.get_future().wait();
    const bool is_there = !blocks.expired();
    if (is_there) pieces.append(test::bytes_of("0123456789"));
    had_memory.set_value(is_there);
  };
  auto stream = stream_ranges({.path = "x", .size = 10, .read = read}, pool, std::exchange(plan, {}), stop.get_token());
  EXPECT_TRUE(stream->take(5).bytes.empty());
  begins.get_future().wait();
  stream.reset();
  goes_on.set_value();
  EXPECT_TRUE(had_memory.get_future().get());
}

TEST_F(RangeStreamTest, NeverTakesTheMemoryThatALieAsksFor) {
  serve_body();
  EXPECT_THAT(message_of<DataError>([&] { open()->take(std::size_t{1} << 50); }),
              HasSubstr("a record of 1125899906842624 bytes is too large"));
}

using testing::ElementsAre;

constexpr std::size_t kHead = 8;
constexpr char kMark = '#';

// Pieces of this test begin with "#" and seven digits: how many bytes they have in all. No other byte is a '#'.
std::optional<FoundPiece> find(std::span<const std::byte> bytes) {
  const auto mark = std::ranges::find(bytes, static_cast<std::byte>(kMark));
  const auto at = static_cast<std::size_t>(mark - bytes.begin());
  if (bytes.size() - at < kHead) return {};
  return FoundPiece{.at = at, .bytes = std::stoul(test::text_of(bytes.subspan(at + 1, kHead - 1)))};
}

std::string piece_of(std::size_t bytes, char fill) {
  std::string digits = std::to_string(bytes);
  digits.insert(0, kHead - 1 - digits.size(), '0');
  return kMark + digits + std::string(bytes - kHead, fill);
}

class RangePiecesTest : public testing::Test {
 protected:
  // Receives `range`, `at_once` bytes at a time.
  static void receive(RangePieces& pieces, const std::string& range, std::size_t at_once) {
    for (std::size_t at = 0; at < range.size(); at += at_once) pieces.append(test::bytes_of(range.substr(at, at_once)));
    EXPECT_EQ(pieces.filled(), range.size());
  }
  // Takes all in the largest parts that lie together, and returns their sizes.
  static std::vector<std::size_t> parts_of(RangePieces& pieces, std::string& text) {
    std::vector<std::size_t> sizes;
    while (!pieces.is_taken()) {
      const RangePieces::Taken taken = pieces.take(pieces.size());
      text += test::text_of(taken.view.bytes);
      sizes.push_back(taken.view.bytes.size());
    }
    return sizes;
  }
  BlockPool blocks_;
  const PieceFinder finder_{.head_bytes = kHead, .find = &find};
};

TEST_F(RangePiecesTest, CutsWhereAPieceBeginsHoweverItsBytesArrive) {
  const std::string range = std::string(1000, 'x') + piece_of(100'000, 'a') + piece_of(70'000, 'b') +
                            piece_of(200'000, 'c').substr(0, 90'000);
  for (const std::size_t at_once : {std::size_t{1}, std::size_t{7}, std::size_t{65'536}, range.size()}) {
    RangePieces pieces(range.size(), blocks_, finder_);
    receive(pieces, range, at_once);
    std::string text;
    EXPECT_THAT(parts_of(pieces, text), ElementsAre(1000, 100'000, 70'000, 90'000)) << at_once;
    EXPECT_EQ(text, range);
  }
}

TEST_F(RangePiecesTest, GivesTheRestOfAPieceWithItsMemory) {
  const std::string range = piece_of(100'000, 'a') + piece_of(100'000, 'b');
  RangePieces pieces(range.size(), blocks_, finder_);
  receive(pieces, range, range.size());
  EXPECT_FALSE(pieces.take(kHead).is_most_of_its_memory) << "the head alone must not hold the piece";
  const RangePieces::Taken body = pieces.take(100'000 - kHead);
  EXPECT_TRUE(body.is_most_of_its_memory);
  EXPECT_EQ(test::text_of(body.view.bytes), std::string(100'000 - kHead, 'a'));
  EXPECT_FALSE(pieces.is_taken());
}

TEST_F(RangePiecesTest, DoesNotCutOutSmallPieces) {
  std::string range;
  for (int i = 0; i < 100; ++i) range += piece_of(1000, static_cast<char>('a' + i % 26));
  RangePieces pieces(range.size(), blocks_, finder_);
  receive(pieces, range, 5000);
  std::string text;
  EXPECT_LE(parts_of(pieces, text).size(), 2u);
  EXPECT_EQ(text, range);
}

TEST_F(RangePiecesTest, SurvivesAFinderThatErrs) {
  std::string range = piece_of(100'000, 'a');
  range.replace(50'000, kHead, "#9999999");  // in the middle of a piece, which is not looked at
  range += "#0000000" + std::string(300'000, 'z') + "#9999999" + std::string(80'000, 'y');
  RangePieces pieces(range.size(), blocks_, finder_);
  receive(pieces, range, 3000);
  std::string text;
  parts_of(pieces, text);
  EXPECT_EQ(text, range);
}

TEST_F(RangePiecesTest, BeginsAnewWhenItIsRequestedAgain) {
  const std::string range = piece_of(80'000, 'a') + piece_of(80'000, 'b');
  RangePieces pieces(range.size(), blocks_, finder_);
  const std::string broken = piece_of(160'000, 'q').substr(0, 99'000);
  pieces.append(test::bytes_of(broken));
  pieces.clear();
  pieces.append(test::bytes_of(range));
  std::string text;
  EXPECT_THAT(parts_of(pieces, text), ElementsAre(80'000, 80'000));
  EXPECT_EQ(text, range);
}

TEST_F(RangePiecesTest, IsOnePieceWithoutAFinder) {
  std::string memory(10, '?');
  RangePieces pieces(std::as_writable_bytes(std::span(memory)));
  pieces.append(test::bytes_of("12345"));
  pieces.clear();
  pieces.append(test::bytes_of("0123456789"));
  EXPECT_EQ(memory, "0123456789");
  RangePieces own(5'000'000, blocks_, {});
  receive(own, std::string(5'000'000, 'a'), 1'000'000);
  std::string text;
  EXPECT_THAT(parts_of(own, text), ElementsAre(5'000'000));
}

TEST_F(RangePiecesTest, MayBeEmpty) {
  RangePieces pieces(std::span<std::byte>{});
  EXPECT_EQ(pieces.size(), 0u);
  EXPECT_TRUE(pieces.is_taken());
}

}  // namespace
}  // namespace chexbench::storage

#include "storage/range_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "storage/http/fake_http.hpp"

namespace chexbench::storage {
namespace {

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

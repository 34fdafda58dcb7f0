#include "storage/nfs/nfs_store.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace chexbench::storage {
namespace {

class NfsBlocksTest : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = NfsBlocks::kBytes * 5 / 2;
  static constexpr std::uint64_t kFirst = 7;

  NfsBlocksTest() {
    for (std::size_t i = 0; i < kBytes; ++i) file_ += static_cast<char>(i / 1000 % 251);
  }
  // Answers with up to `bytes` of what is missing of the block.
  void answer(std::size_t block, std::size_t bytes = NfsBlocks::kBytes) {
    const auto whole = std::as_bytes(std::span(file_));
    blocks_.take(block, whole.subspan(blocks_.first_missing(block) - kFirst, std::min(bytes, blocks_.missing(block))));
  }

  std::string file_;
  std::string memory_ = std::string(kBytes, '?');
  RangePieces pieces_{std::as_writable_bytes(std::span(memory_))};
  NfsBlocks blocks_{kFirst, pieces_};
};

TEST_F(NfsBlocksTest, CoverTheRange) {
  ASSERT_EQ(blocks_.count(), 3u);
  EXPECT_EQ(blocks_.first_missing(1), kFirst + NfsBlocks::kBytes);
  EXPECT_EQ(blocks_.missing(1), NfsBlocks::kBytes);
  EXPECT_EQ(blocks_.missing(2), NfsBlocks::kBytes / 2);
}

TEST_F(NfsBlocksTest, AreInTheirOrderHoweverTheyCome) {
  constexpr std::array<std::array<std::size_t, 3>, 6> kOrders = {
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  for (const auto& order : kOrders) {
    pieces_.clear();
    memory_.assign(kBytes, '?');
    NfsBlocks blocks(kFirst, pieces_);
    for (const std::size_t block : order) {
      const auto whole = std::as_bytes(std::span(file_));
      blocks.take(block, whole.subspan(blocks.first_missing(block) - kFirst, blocks.missing(block)));
    }
    EXPECT_EQ(pieces_.filled(), kBytes);
    EXPECT_EQ(memory_, file_) << order[0] << order[1] << order[2];
  }
}

TEST_F(NfsBlocksTest, TakeWhatAServerSendsInPieces) {
  answer(2, 1000);
  answer(1, 5);
  EXPECT_EQ(pieces_.filled(), 0u);
  answer(0, 10);
  EXPECT_EQ(pieces_.filled(), 10u);
  EXPECT_EQ(blocks_.first_missing(0), kFirst + 10);
  answer(0);
  EXPECT_EQ(pieces_.filled(), NfsBlocks::kBytes + 5);
  answer(2);
  answer(1);
  EXPECT_EQ(memory_, file_);
}

TEST_F(NfsBlocksTest, StayIncompleteIfTheFileEndsEarlier) {
  answer(0, 100);
  answer(1);
  answer(2);
  EXPECT_EQ(pieces_.filled(), 100u);
}

TEST(NfsBlocks, OfAnEmptyRangeAreOne) {
  RangePieces nothing(std::span<std::byte>{});
  NfsBlocks blocks(0, nothing);
  EXPECT_EQ(blocks.count(), 1u);
  blocks.take(0, {});
  EXPECT_EQ(blocks.missing(0), 0u);
}

}  // namespace
}  // namespace chexbench::storage

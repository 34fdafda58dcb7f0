#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/random.hpp"
#include "dataset/image_files.hpp"

namespace chexbench::dataset {
namespace {

TEST(NameArena, KeepsTextsOfAnyLengthWhereTheyAre) {
  NameArena arena;
  std::vector<std::string> texts = {"", "a", std::string(5'000, 'x'), std::string(3'000'000, 'y'), "", "z"};
  for (int i = 0; i < 1'000; ++i) texts.push_back(fmt::format("images/{:08}_000.png", i * 7919));
  std::vector<std::string_view> kept;
  for (const std::string& text : texts) kept.push_back(arena.keep(text));
  const NameArena moved = std::move(arena);
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(kept[i], texts[i]) << i;
}

TEST(NameArena, JoinsPartsIntoOneText) {
  NameArena arena;
  EXPECT_EQ(arena.keep({"root", "/", "a.png"}), "root/a.png");
  EXPECT_EQ(arena.keep({}), "");
}

struct Named {
  std::string name;
  std::size_t came = 0;
};

// Names whose order is hard to get right: of few letters, so that many are equal or begin alike, with zeros and bytes
// above 127, and all with a common prefix.
std::vector<Named> random_items(std::uint64_t seed, std::size_t count) {
  RandomStream random(seed);
  constexpr std::string_view kLetters("\0a/\x7f\xff", 5);
  const std::string beginning(random.below(12), 'b');
  std::vector<Named> items;
  for (std::size_t i = 0; i < count; ++i) {
    std::string name = beginning;
    for (std::uint64_t left = random.below(12); left > 0; --left) name += kLetters[random.below(kLetters.size())];
    items.push_back({name, i});
  }
  return items;
}

TEST(NameOrder, IsThatOfAStableSort) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<Named> items = random_items(seed, seed % 67);
    std::vector<Named> expected = items;
    std::ranges::stable_sort(expected, {}, &Named::name);
    const std::vector<std::uint32_t> order =
        order_of_names(items.size(), [&](std::size_t i) -> std::string_view { return items[i].name; });
    ASSERT_TRUE(std::ranges::equal(order, expected, {}, {}, &Named::came)) << seed;
    sort_by_name(items);
    ASSERT_TRUE(std::ranges::equal(items, expected, {}, &Named::name, &Named::name)) << seed;
    ASSERT_TRUE(std::ranges::equal(items, expected, {}, &Named::came, &Named::came)) << seed;
  }
}

}  // namespace
}  // namespace chexbench::dataset

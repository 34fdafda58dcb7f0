// Keeps and orders the names and paths of a data set's images, possibly millions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace chexbench::dataset {

// Copies text into large blocks, one text after another: a std::string for each would cost 32 bytes and, from 16
// characters on, an allocation. Views stay valid as long as the arena, also when it is moved. Not thread-safe.
class NameArena {
 public:
  // Keeps the parts as one text.
  std::string_view keep(std::initializer_list<std::string_view> parts);
  std::string_view keep(std::string_view text) { return keep({text}); }

 private:
  char* room_for(std::size_t bytes);

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t used_ = 0;   // bytes of the last block
  std::size_t bytes_ = 0;  // size of the last block
};

// Sorts millions of names without comparing most of their characters.

// Returns the numbers below `count` in the order of the names that `name_of` gives for them; equal names keep their
// order. Takes 16 bytes a name besides the result. Up to 2^32 names. `name_of` must not return a std::string.
std::vector<std::uint32_t> order_of_names(std::size_t count,
                                          const std::function<std::string_view(std::size_t)>& name_of);

// Sorts items by their member `name`; those with equal names keep their order.
template <typename Item>
void sort_by_name(std::vector<Item>& items) {
  std::vector<std::uint32_t> order =
      order_of_names(items.size(), [&](std::size_t i) -> std::string_view { return items[i].name; });
  // Moves each item to its position along the cycles of the permutation, so no second vector is needed.
  for (std::size_t begin = 0; begin < order.size(); ++begin) {
    if (order[begin] == begin) continue;
    Item first = std::move(items[begin]);
    std::size_t place = begin;
    for (std::size_t from = order[place]; from != begin; from = order[place]) {
      items[place] = std::move(items[from]);
      order[place] = static_cast<std::uint32_t>(place);
      place = from;
    }
    items[place] = std::move(first);
    order[place] = static_cast<std::uint32_t>(place);
  }
}

}  // namespace chexbench::dataset

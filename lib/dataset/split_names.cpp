#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "core/text.hpp"
#include "dataset/layouts.hpp"

namespace chexbench::dataset {
namespace {

// As the loader of Hugging Face's datasets knows them, and MIMIC-CXR's "validate".
constexpr std::array<std::pair<std::string_view, bool IndexRow::*>, 11> kSplitNames{
    {{"train", &IndexRow::in_train},
     {"training", &IndexRow::in_train},
     {"val", &IndexRow::in_val},
     {"valid", &IndexRow::in_val},
     {"validate", &IndexRow::in_val},
     {"validation", &IndexRow::in_val},
     {"dev", &IndexRow::in_val},
     {"test", &IndexRow::in_test},
     {"testing", &IndexRow::in_test},
     {"eval", &IndexRow::in_test},
     {"evaluation", &IndexRow::in_test}}};
constexpr std::size_t kLongestName = 10;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

}  // namespace

bool IndexRow::*split_called(std::string_view name) {
  if (name.size() > kLongestName) return nullptr;
  const std::string lower = lower_case(name);
  const auto* const found = std::ranges::find(kSplitNames, lower, &decltype(kSplitNames)::value_type::first);
  return found == kSplitNames.end() ? nullptr : found->second;
}

bool suggests_split(std::string_view name) {
  auto at = name.begin();
  while ((at = std::find_if(at, name.end(), is_letter)) != name.end()) {
    const auto end = std::find_if_not(at, name.end(), is_letter);
    if (split_called({at, end}) != nullptr) return true;
    at = end;
  }
  return false;
}

void note_split(bool IndexRow::*split, Index& index) {
  index.has_train_list |= split == &IndexRow::in_train;
  index.has_val_list |= split == &IndexRow::in_val;
  index.has_test_list |= split == &IndexRow::in_test;
}

}  // namespace chexbench::dataset

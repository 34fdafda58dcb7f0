#include "storage/listed_names.hpp"

#include <algorithm>

#include "core/log.hpp"
#include "storage/limits.hpp"
#include "storage/shown.hpp"

namespace chexbench::storage {

bool is_one_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

bool is_safe_name(std::string_view name) { return name.size() <= kMostNameBytes && !has_control_character(name); }

void keep_safe_names(const std::string& folder, std::vector<StoreEntry>& entries) {
  const auto is_unsafe = [](const StoreEntry& entry) { return !is_safe_name(entry.name); };
  const auto first = std::ranges::find_if(entries, is_unsafe);
  if (first == entries.end()) return;
  const std::string shown_name = shown(first->name);
  const std::size_t removed = std::erase_if(entries, is_unsafe);
  log::warning("{}: {} of its names left out, because they hold control characters or over {} bytes; the first is '{}'",
               shown(folder), removed, kMostNameBytes, shown_name);
}

}  // namespace chexbench::storage

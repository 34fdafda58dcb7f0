#include "storage/listed_names.hpp"

#include "core/log.hpp"
#include "storage/limits.hpp"
#include "storage/shown.hpp"

namespace chexbench::storage {

bool is_one_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos;
}

bool is_safe_name(std::string_view name) { return name.size() <= kMostNameBytes && !has_control_character(name); }

bool ListedNames::take(std::string_view name) {
  if (!is_one_name(name)) return false;
  if (is_safe_name(name)) return true;
  if (unsafe_++ == 0) first_ = shown(name);
  return false;
}

void ListedNames::tell() const {
  if (unsafe_ == 0) return;
  log::warning("{}: {} of its names left out, because they hold control characters or over {} bytes; the first is '{}'",
               shown(folder_), unsafe_, kMostNameBytes, first_);
}

}  // namespace chexbench::storage

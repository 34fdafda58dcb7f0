// Decides which names of a server's listing are used, and how messages show them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace chexbench::storage {

// Returns true for the name of one file or folder: not empty, "." or "..", and without '/'. No other name may be
// appended to a folder, because it would lead out of it.
bool is_one_name(std::string_view name);

// Returns true if the name may be used in paths and messages: it has no control character (a NUL would end it, an
// escape sequence would reach the terminal) and at most kMostNameBytes bytes.
bool is_safe_name(std::string_view name);

// Chooses the names of one listing and counts those that it leaves out, without keeping them: a server may send
// gigabytes of them. Not thread-safe.
class ListedNames {
 public:
  // `folder` is the one that is listed, and must outlive this object.
  explicit ListedNames(const std::string& folder) : folder_(folder) {}

  // Returns whether the name is used. One that is not a name is skipped silently, because honest servers list such
  // entries (the folder itself, its parent); an unsafe one is counted.
  bool take(std::string_view name);
  // Warns of the names that were counted, if there are any, and shows the first.
  void tell() const;

 private:
  const std::string& folder_;
  std::size_t unsafe_ = 0;
  std::string first_;
};

// Makes text of servers safe to print.

// Returns true if the text has a control character, which a terminal may obey: those below 0x20, DEL, and U+0080 to
// U+009F in UTF-8.
bool has_control_character(std::string_view text);

// Returns the text with each byte that is not printable ASCII as \xNN, and "..." in place of anything beyond
// `most_bytes`. The result is always UTF-8.
std::string shown(std::string_view text, std::size_t most_bytes = 200);

}  // namespace chexbench::storage

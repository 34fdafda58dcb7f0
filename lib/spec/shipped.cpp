#include "spec/shipped.hpp"

#include <algorithm>
#include <string_view>

#include "spec/profile.hpp"

namespace chexbench::spec {
namespace {

// Returns the lines of the comment that begins a file as one line.
std::string leading_comment(std::string_view text) {
  constexpr std::string_view kMark = "// ";
  std::string comment;
  while (text.starts_with(kMark)) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!comment.empty()) comment += ' ';
    comment += text.substr(kMark.size(), end - kMark.size());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return comment;
}

// Returns the text up to the first end of a sentence that is followed by a space.
std::string first_sentence(const std::string& text) {
  const std::size_t end = std::min(text.find(". "), text.find("? "));
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

std::vector<ShippedFile> described(std::span<const EmbeddedFile> files) {
  std::vector<ShippedFile> list;
  for (const EmbeddedFile& file : files)
    list.push_back({.name = std::string(file.name), .description = first_sentence(leading_comment(file.text))});
  return list;
}

}  // namespace

std::vector<ShippedFile> shipped_experiments() { return described(embedded_experiments()); }

std::vector<ShippedFile> shipped_pipelines() { return described(embedded_pipelines()); }

std::vector<ShippedFile> shipped_accelerators() {
  std::vector<ShippedFile> list;
  for (const std::string& name : profile_names())
    list.push_back({.name = name, .description = load_profile(name).device});
  return list;
}

}  // namespace chexbench::spec

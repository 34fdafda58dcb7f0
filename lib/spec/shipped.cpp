#include "spec/shipped.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/errors.hpp"
#include "spec/comm_profile.hpp"
#include "spec/document.hpp"
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

std::vector<ShippedFile> shipped_communication() {
  std::vector<ShippedFile> list;
  for (const EmbeddedFile& file : embedded_communication())
    list.push_back(
        {.name = std::string(file.name), .description = load_comm_profile(std::string(file.name)).description});
  return list;
}

std::vector<ShippedFile> known_links() {
  std::vector<ShippedFile> list;
  for (const NamedLink& link : links()) {
    list.push_back({.name = std::string(link.name),
                    .description = fmt::format("{:.3g} GB/s, {:.3g} us: {}", link.beta_bytes_per_s / 1e9,
                                               link.alpha_s * 1e6, link.title)});
  }
  return list;
}

std::vector<std::string> names_of(std::span<const EmbeddedFile> files) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : files) names.emplace_back(file.name);
  return names;
}

bool is_path_of_file(const std::string& name_or_path) {
  return name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json");
}

NamedText read_shipped(const std::string& name_or_path, std::span<const EmbeddedFile> files, std::string_view folder,
                       std::string_view kind) {
  if (is_path_of_file(name_or_path))
    return {.text = read_text_file(name_or_path, std::string(kind)), .where = name_or_path};
  const auto found = std::ranges::find(files, name_or_path, &EmbeddedFile::name);
  if (found == files.end()) {
    throw SpecError(fmt::format("no {} '{}'{}; for a file, give a path that ends in .json", kind, shown(name_or_path),
                                suggestion(name_or_path, names_of(files))));
  }
  return {.text = std::string(found->text), .where = fmt::format("{}/{}.json", folder, found->name)};
}

}  // namespace chexbench::spec

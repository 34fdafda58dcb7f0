#include "verbs/import/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/csv.hpp"
#include "core/errors.hpp"
#include "spec/document.hpp"

namespace chexbench::verbs {
namespace {

// Paths are kept for each key, so a hostile file could ask for much memory without these.
constexpr std::size_t kMostLevels = 16, kMostKeys = 20'000, kLongestKey = 100;
constexpr std::string_view kKeyLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";

bool is_comment(std::string_view text) { return text.empty() || text.starts_with('#'); }

class YamlReader {
 public:
  explicit YamlReader(const std::string& source) : source_(source) {}

  void read_line(std::string_view text) {
    ++line_;
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
      fail("it has a tab or another control character; indent by blanks");
    const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
    text.remove_prefix(indent);
    const bool begins_document = open_.empty() && trimmed(text) == "---";
    const bool is_item = text.starts_with("- ") || text == "-";
    if (begins_document || is_comment(text) || (list_ && (indent > *list_ || (indent == *list_ && is_item)))) return;
    list_.reset();
    if (is_item && above_ && !open_.empty() && indent >= open_.back().indent) {
      values_.push_back({.path = std::exchange(above_, {})->path, .text = std::string(text), .line = line_});
      list_ = indent;
      return;
    }
    find_place(indent);
    read_key(text);
  }

  std::vector<YamlValue> finish() {
    if (above_ && !above_->path.empty()) values_.push_back(*std::move(above_));
    return std::move(values_);
  }

 private:
  struct Mapping {
    std::string path;
    std::size_t indent = 0;  // of its keys
  };

  [[noreturn]] void fail(const std::string& complaint) const {
    throw SpecError(fmt::format("{}:{}: {}", source_, line_, complaint));
  }

  // Closes what ended before a line, so that the last of open_ is what the line belongs to.
  void find_place(std::size_t indent) {
    if (std::optional<YamlValue> above = std::exchange(above_, {})) {
      if (!open_.empty() && indent <= open_.back().indent) {
        values_.push_back(*std::move(above));
      } else {
        if (open_.size() >= kMostLevels) fail(fmt::format("nested more than {} deep", kMostLevels));
        open_.push_back({.path = std::move(above->path), .indent = indent});
      }
    }
    while (open_.size() > 1 && indent < open_.back().indent) open_.pop_back();
    if (indent != open_.back().indent) fail("its indentation fits no line above; a text must be on one line");
  }

  void read_key(std::string_view text) {
    const std::size_t end = std::min(text.find_first_not_of(kKeyLetters), text.size());
    if (end == 0 || (text.substr(end) != ":" && !text.substr(end).starts_with(": ")))
      fail(fmt::format("'{}' is no 'key: value'; is the file cut, or no YAML?", spec::shown(text)));
    if (end > kLongestKey) fail(fmt::format("a key has more than {} bytes", kLongestKey));
    const std::string& outer = open_.back().path;
    YamlValue value = {.path = outer + (outer.empty() ? "" : ".") + std::string(text.substr(0, end)), .line = line_};
    if (!keys_.insert(value.path).second) fail(fmt::format("the key '{}' is there twice", value.path));
    if (keys_.size() > kMostKeys) fail(fmt::format("more than {} keys", kMostKeys));
    const std::string_view rest = trimmed(text.substr(end + 1));
    if (is_comment(rest)) {
      above_ = std::move(value);
    } else if (rest.starts_with('[')) {
      read_list(value.path, trimmed(rest.substr(1, rest.find(" #") - 1)));
    } else {
      values_.push_back({.path = std::move(value.path), .text = scalar(rest), .line = line_});
    }
  }

  void read_list(const std::string& path, std::string_view text) {
    if (!text.ends_with(']')) fail("a list in brackets must end on its line");
    text.remove_suffix(1);
    for (int i = 0; !trimmed(text).empty(); ++i) {
      const std::size_t end = std::min(text.find(','), text.size());
      values_.push_back(
          {.path = fmt::format("{}[{}]", path, i), .text = scalar(trimmed(text.substr(0, end))), .line = line_});
      if (values_.size() > kMostKeys) fail(fmt::format("more than {} values", kMostKeys));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  // Returns the text without quotes and without the comment behind it.
  std::string scalar(std::string_view text) const {
    if (text.starts_with('"') || text.starts_with('\'')) {
      const std::size_t end = text.find(text.front(), 1);
      if (end == std::string_view::npos || text.find('\\') < end || !is_comment(trimmed(text.substr(end + 1))))
        fail(
            fmt::format("{}: quotes must be around all of the value, on its line, without escapes", spec::shown(text)));
      return std::string(text.substr(1, end - 1));
    }
    text = trimmed(text.substr(0, text.find(" #")));
    if (text.starts_with("- ") || text.starts_with("? ") || text.find_first_of("&*!|>%@`{}[],") == 0 ||
        text.find(": ") != std::string_view::npos || text.ends_with(':'))
      fail(fmt::format("'{}': anchors, tags, braces and texts of several lines are not read; write plain values",
                       spec::shown(text)));
    return std::string(text);
  }

  const std::string& source_;
  int line_ = 0;
  std::optional<YamlValue> above_ = YamlValue{};  // what it holds may follow below; first of all the file itself
  std::optional<std::size_t> list_;               // the indentation of a list whose lines are passed over
  std::vector<Mapping> open_;
  std::set<std::string> keys_;
  std::vector<YamlValue> values_;
};

}  // namespace

std::vector<YamlValue> read_yaml(const std::string& text, const std::string& source) {
  YamlReader reader(source);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    reader.read_line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return reader.finish();
}

}  // namespace chexbench::verbs

#include "verbs/import/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "spec/document.hpp"

namespace chexbench::verbs {
namespace {

// Paths are kept for each value; without these limits a hostile file could take much memory.
constexpr std::size_t kMostLevels = 16;
constexpr std::size_t kMostValues = 20'000;
constexpr std::size_t kLongestKey = 100;

// A mapping or a list that is still open.
struct Open {
  enum class Kind { unknown, mapping, list };
  std::string path;
  int line = 0;     // of its key
  int indent = -1;  // of its keys or dashes; unknown before the first of them
  Kind kind = Kind::unknown;
  std::set<std::string> keys = {};
  int items = 0;
};

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view without_blanks_behind(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view without_blanks_before(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

class YamlReader {
 public:
  explicit YamlReader(const std::string& source) : source_(source) { open_.push_back({.path = "", .line = 1}); }

  void read_line(std::string_view text) {
    ++line_;
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (line_ == 1 && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    const auto control = [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; };
    if (std::ranges::any_of(text, control)) fail("it has a control character, so this is not YAML");
    const int indent = static_cast<int>(std::min(text.find_first_not_of(' '), text.size()));
    text.remove_prefix(static_cast<std::size_t>(indent));
    const std::string_view content = without_blanks_before(text);
    if (content.empty() || content.starts_with('#')) return;
    if (content.size() < text.size()) fail("a tab indents it; indent by blanks");
    if (marks_document(indent, text)) return;
    read_entry(indent, without_blanks_behind(text));
  }

  std::vector<YamlValue> finish() {
    while (!open_.empty()) close();
    return std::move(values_);
  }

 private:
  [[noreturn]] void fail(const std::string& complaint) const {
    throw SpecError(fmt::format("{}:{}: {}", source_, line_, complaint));
  }

  // Returns whether the line marks the beginning or end of the document.
  bool marks_document(int indent, std::string_view text) {
    const std::string_view mark = without_blanks_behind(text.substr(0, text.find(" #")));
    const auto is_like = [&](std::string_view word) {
      return mark == word || mark.starts_with(std::string(word) + " ");
    };
    const bool is_mark = indent == 0 && (is_like("---") || is_like("...") || text.starts_with('%'));
    const bool is_first = values_.empty() && open_.size() == 1 && open_.back().indent < 0;
    const bool begins = mark == "---" && is_first && !has_mark_, ends = mark == "...";
    if ((is_mark && !begins && !ends) || (has_ended_ && !ends))
      fail("this begins another document or directs the reader; keep one document, without directives");
    has_mark_ = has_mark_ || (is_mark && begins);
    has_ended_ = has_ended_ || (is_mark && ends);
    return is_mark;
  }

  void read_entry(int indent, std::string_view text) {
    const bool is_item = text == "-" || text.starts_with("- ");
    find_place(indent, is_item);
    Open& place = open_.back();
    const Open::Kind kind = is_item ? Open::Kind::list : Open::Kind::mapping;
    if (place.kind == Open::Kind::unknown) place.kind = kind;
    if (place.kind != kind) fail("keys and the items of a list, '- ', stand side by side; indent one of them");
    if (is_item) {
      read_item(indent, text);
    } else {
      read_key(text);
    }
  }

  // Closes what ends before a line, so that the line belongs to the last of open_.
  void find_place(int indent, bool is_item) {
    while (true) {
      Open& last = open_.back();
      if (last.indent < 0) {
        const int outer = open_.size() > 1 ? open_[open_.size() - 2].indent : -1;
        const bool outer_is_mapping = open_.size() > 1 && open_[open_.size() - 2].kind == Open::Kind::mapping;
        if (indent > outer || (indent == outer && is_item && outer_is_mapping)) {
          last.indent = indent;
          return;
        }
      } else if (indent == last.indent) {
        const bool ends_list =
            last.kind == Open::Kind::list && !is_item && open_.size() > 1 && open_[open_.size() - 2].indent == indent;
        if (!ends_list) return;
      } else if (indent > last.indent) {
        fail("it is indented, but the line before it has a value already; a text must be on one line");
      }
      if (open_.size() == 1) fail("it is indented less than the first key");
      close();
    }
  }

  // A key without a value and without anything below it has an empty value.
  void close() {
    const Open& last = open_.back();
    if (last.indent < 0 && !last.path.empty()) add(last.path, "", last.line);
    open_.pop_back();
  }

  void add(const std::string& path, std::string text, int line) {
    if (values_.size() >= kMostValues) fail(fmt::format("more than {} values", kMostValues));
    values_.push_back({.path = path, .text = std::move(text), .line = line});
  }

  void open(std::string path) {
    if (open_.size() >= kMostLevels) fail(fmt::format("nested more than {} deep", kMostLevels));
    open_.push_back({.path = std::move(path), .line = line_});
  }

  void read_item(int indent, std::string_view text) {
    Open& list = open_.back();
    const std::string path = fmt::format("{}[{}]", list.path, list.items++);
    const std::string_view rest = without_blanks_before(text.substr(1));
    const int column = indent + static_cast<int>(text.size() - rest.size());
    if (rest == "-" || rest.starts_with("- ")) fail("it begins a list in a list; give each a separate line");
    if (rest.empty() || rest.starts_with('#')) return open(path);
    if (!key_end(rest)) return read_value(path, rest);
    open(path);
    read_entry(column, rest);
  }

  void read_key(std::string_view text) {
    const std::optional<std::size_t> end = key_end(text);
    if (!end) fail(fmt::format("'{}' is not 'key: value'; is the file truncated, or not YAML?", spec::shown(text)));
    std::string_view rest = text.substr(0, *end);
    const bool in_quotes = rest.starts_with('"') || rest.starts_with('\'');
    const std::string key = in_quotes ? quoted(rest) : std::string(without_blanks_behind(rest));
    if (in_quotes) end_of_value(rest);
    if (key.size() > kLongestKey) fail(fmt::format("a key has more than {} bytes", kLongestKey));
    if (key.empty() || key.find_first_of("&*!|>%@`{}[],?") == 0)
      fail(fmt::format("'{}' begins with unsupported YAML syntax; write plain keys", spec::shown(text)));
    Open& mapping = open_.back();
    if (!mapping.keys.insert(key).second) fail(fmt::format("the key '{}' is there twice", spec::shown(key)));
    const std::string path = mapping.path.empty() ? key : mapping.path + "." + key;
    const std::string_view value = without_blanks_before(text.substr(*end + 1));
    if (value.empty() || value.starts_with('#')) return open(path);
    read_value(path, value);
  }

  // Returns the position of the colon after a key, if the text begins with a key.
  static std::optional<std::size_t> key_end(std::string_view text) {
    std::size_t from = 0;
    if (text.starts_with('"') || text.starts_with('\'')) {
      from = text.find(text.front(), 1);
      if (from == std::string_view::npos) return {};
    }
    if (text.starts_with('[') || text.starts_with('{')) return {};
    for (std::size_t at = text.find(':', from); at != std::string_view::npos; at = text.find(':', at + 1)) {
      const std::size_t comment = text.substr(0, at).find(" #");
      if (comment != std::string_view::npos && comment > from) return {};
      if (at + 1 == text.size() || is_blank(text[at + 1])) return at;
    }
    return {};
  }

  void read_value(const std::string& path, std::string_view text) {
    if (text.starts_with('[')) {
      read_list(path, text.substr(1));
      return;
    }
    std::string value = scalar(text, "");
    end_of_value(text);
    add(path, std::move(value), line_);
  }

  void read_list(const std::string& path, std::string_view text) {
    text = without_blanks_before(text);
    for (int i = 0; !text.starts_with(']'); ++i) {
      if (text.empty()) fail("a list in brackets has no ']'; it must end on its line");
      std::string value = scalar(text, ",]");
      if (value.empty()) fail("an item of the list is empty");
      add(fmt::format("{}[{}]", path, i), std::move(value), line_);
      text = without_blanks_before(text);
      if (text.starts_with(']')) break;
      if (!text.starts_with(',')) fail("a list in brackets lacks a ',' between its items, or the ']' after them");
      text = without_blanks_before(text.substr(1));
      if (text.starts_with(']')) break;
    }
    text.remove_prefix(1);
    end_of_value(text);
  }

  void end_of_value(std::string_view text) const {
    text = without_blanks_before(text);
    if (!text.empty() && !text.starts_with('#')) fail(fmt::format("'{}' follows a value", spec::shown(text)));
  }

  // Takes a text that ends before a comment, or one of the characters `ends`, from `text`.
  std::string scalar(std::string_view& text, std::string_view ends) const {
    if (text.starts_with('"') || text.starts_with('\'')) return quoted(text);
    constexpr std::string_view kOthers = "&*!|>%@`{}[],";
    if (text.find_first_of(kOthers) == 0 || text.starts_with("? ") || text.starts_with("- ")) {
      fail(fmt::format("'{}': anchors, tags, braces and texts of several lines are not read; write plain values",
                       spec::shown(text)));
    }
    std::size_t end = std::min(text.find_first_of(ends), text.size());
    end = std::min(end, text.find(" #"));
    const std::string_view value = without_blanks_behind(text.substr(0, end));
    if (value.find(": ") != std::string_view::npos || value.ends_with(':'))
      fail(fmt::format("'{}' has two keys on one line", spec::shown(value)));
    text.remove_prefix(end);
    return std::string(value);
  }

  // Takes a text in quotes from `text`.
  std::string quoted(std::string_view& text) const {
    const char quote = text.front();
    std::string value;
    for (std::size_t i = 1; i < text.size(); ++i) {
      const bool doubled = quote == '\'' && text.substr(i).starts_with("''");
      const bool escaped = quote == '"' && text[i] == '\\';
      if (text[i] == quote && !doubled) {
        text.remove_prefix(i + 1);
        return value;
      }
      if (doubled || escaped) ++i;
      if (escaped && (i == text.size() || (text[i] != '\\' && text[i] != '"' && text[i] != '/')))
        fail("a text in quotes has an escape other than \\\\, \\\" and \\/");
      value += text[i];
    }
    fail("a text in quotes does not end on its line");
  }

  const std::string& source_;
  int line_ = 0;
  bool has_mark_ = false;
  bool has_ended_ = false;
  std::vector<Open> open_;
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

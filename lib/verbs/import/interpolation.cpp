#include "verbs/import/interpolation.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "core/csv.hpp"
#include "core/errors.hpp"
#include "spec/document.hpp"

namespace chexbench::verbs {
namespace {

// Without these, a small hostile file could take any time and memory.
constexpr std::size_t kMostReferences = 1000;
constexpr std::size_t kMostDepth = 32;
constexpr std::size_t kMostFilledBytes = 4096;

constexpr std::string_view kBegin = "${";
constexpr std::string_view kGroup = "workload.";  // where DLIO's own configuration puts such a file

std::string with_points(std::string_view path) {
  std::string points;
  for (const char c : path) {
    if (c == '[') points += '.';
    if (c != '[' && c != ']') points += c;
  }
  return points;
}

// Returns the position of the first of `marks` outside of all references, or the end.
std::size_t find_outside(std::string_view text, std::string_view marks) {
  std::size_t open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (open == 0 && marks.find(text[i]) != std::string_view::npos) return i;
    if (text.substr(i).starts_with(kBegin)) ++open;
    if (open > 0 && text[i] == '}') --open;
  }
  return text.size();
}

std::string_view without_quotes(std::string_view text) {
  const bool is_quoted =
      text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front();
  return is_quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

Interpolation::Interpolation(const std::vector<YamlValue>& values, const std::string& source) : source_(source) {
  for (const YamlValue& value : values) values_.emplace(with_points(value.path), &value);
}

std::string Interpolation::text_of(const YamlValue& value) {
  asked_ = &value;
  references_ = depth_ = 0;
  return filled(value, value.text);
}

void Interpolation::fail(const std::string& complaint) const {
  throw SpecError(fmt::format("{}:{}: {} {}", source_, asked_->line, asked_->path, complaint));
}

// `value` contains the text.
std::string Interpolation::filled(const YamlValue& value, std::string_view text) {
  if (text == "???") fail("is to be given on DLIO's command line: write it out");
  if (++depth_ > kMostDepth) fail(fmt::format("refers to itself, or more than {} deep", kMostDepth));
  std::string out;
  while (!text.empty()) {
    if (text.starts_with("\\${")) {
      out += kBegin;
      text.remove_prefix(kBegin.size() + 1);
    } else if (text.starts_with(kBegin)) {
      text.remove_prefix(kBegin.size());
      const std::size_t end = find_outside(text, "}");
      if (end == text.size()) fail("has '${' without '}'");
      out += referred(value, text.substr(0, end));
      text.remove_prefix(end + 1);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
    if (out.size() > kMostFilledBytes) fail(fmt::format("becomes longer than {} bytes", kMostFilledBytes));
  }
  --depth_;
  return out;
}

std::string Interpolation::referred(const YamlValue& value, std::string_view reference) {
  if (++references_ > kMostReferences) fail(fmt::format("refers to more than {} values", kMostReferences));
  const std::size_t colon = find_outside(reference, ":");
  if (colon == reference.size()) return node(value, std::string(trimmed(filled(value, reference))));
  const std::string resolver(trimmed(filled(value, reference.substr(0, colon))));
  if (resolver != "oc.env")
    fail(fmt::format("has ${{{}:...}}, which Hydra fills in: write it out", spec::shown(resolver)));
  return environment_of(value, reference.substr(colon + 1));
}

std::string Interpolation::node(const YamlValue& value, const std::string& reference) {
  std::string from = with_points(value.path);
  std::size_t dots = 0;
  for (; dots < reference.size() && reference[dots] == '.'; ++dots) {
    if (from.empty()) fail(fmt::format("refers to '{}', which is above the file", spec::shown(reference)));
    from.resize(from.find('.') == std::string::npos ? 0 : from.rfind('.'));
  }
  std::string path = with_points(std::string_view(reference).substr(dots));
  if (dots > 0 && !from.empty()) path = from + "." + path;
  if (dots == 0 && path.starts_with(kGroup) && !values_.contains(path)) path.erase(0, kGroup.size());
  if (const auto found = values_.find(path); found != values_.end()) return filled(*found->second, found->second->text);
  const auto below = values_.lower_bound(path + ".");
  if (!path.empty() && below != values_.end() && below->first.starts_with(path + "."))
    fail(fmt::format("refers to '{}', which has keys: write the value out", spec::shown(reference)));
  fail(fmt::format("refers to '{}', which the file does not have: write the value out", spec::shown(reference)));
}

std::string Interpolation::environment_of(const YamlValue& value, std::string_view arguments) {
  const std::size_t comma = find_outside(arguments, ",");
  const std::string name(without_quotes(trimmed(filled(value, arguments.substr(0, comma)))));
  if (const char* const found = std::getenv(name.c_str())) return found;
  if (comma == arguments.size())
    fail(fmt::format("refers to the variable {} of the environment, which is not set", spec::shown(name)));
  return std::string(without_quotes(trimmed(filled(value, arguments.substr(comma + 1)))));
}

}  // namespace chexbench::verbs

#include "storage/s3/s3_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/errors.hpp"
#include "storage/http/entities.hpp"
#include "storage/url.hpp"

namespace chexbench::storage {
namespace {

// What stands in the first element called `name` from `from` on; `from` goes behind it.
std::optional<std::string_view> next_element(std::string_view xml, std::string_view name, std::size_t& from) {
  const std::string open = fmt::format("<{}>", name), close = fmt::format("</{}>", name);
  const std::size_t begin = xml.find(open, from);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = xml.find(close, begin);
  if (end == std::string_view::npos) return {};
  from = end + close.size();
  return xml.substr(begin + open.size(), end - begin - open.size());
}

std::string element(std::string_view xml, std::string_view name) {
  std::size_t from = 0;
  return std::string(next_element(xml, name, from).value_or(""));
}

// With encoding-type=url a blank is a '+'.
std::string key_of(const std::string& text, bool is_encoded) {
  std::string plain = without_entities(text);
  if (!is_encoded) return plain;
  std::replace(plain.begin(), plain.end(), '+', ' ');
  return percent_decoded(plain);
}

std::optional<std::uint64_t> number_of(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return number;
}

}  // namespace

S3Page parse_s3_page(std::string_view xml) {
  if (xml.find("<ListBucketResult") == std::string_view::npos) {
    throw DataError("the answer to a listing is no ListBucketResult: is this an S3 server?");
  }
  if (xml.find("</ListBucketResult>") == std::string_view::npos) throw DataError("the answer to a listing was cut");
  const bool is_encoded = element(xml, "EncodingType") == "url";
  S3Page page;
  std::size_t at = 0;
  while (const auto object = next_element(xml, "Contents", at)) {
    page.objects.push_back({key_of(element(*object, "Key"), is_encoded),
                            {number_of(element(*object, "Size")), without_entities(element(*object, "ETag"))}});
  }
  at = 0;
  while (const auto folder = next_element(xml, "CommonPrefixes", at)) {
    page.folders.push_back(key_of(element(*folder, "Prefix"), is_encoded));
  }
  if (element(xml, "IsTruncated") == "true") {
    page.next = without_entities(element(xml, "NextContinuationToken"));
    if (page.next.empty()) throw DataError("a listing says that it goes on, but not where");
  }
  return page;
}

std::string s3_error_code(std::string_view xml) {
  const std::string code = element(xml, "Code");
  const bool is_word = code.size() <= 64 && std::ranges::all_of(code, [](char c) {
                         return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
                       });
  return is_word ? code : std::string();
}

}  // namespace chexbench::storage

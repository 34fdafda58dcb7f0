#include "storage/s3/s3_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <pugixml.hpp>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "storage/url.hpp"

namespace chexbench::storage {
namespace {

// Keeps a text of only blanks, because a key may be one. Custom entities are never expanded.
constexpr unsigned kParse = pugi::parse_default | pugi::parse_ws_pcdata_single;

// With encoding-type=url, '+' stands for a blank.
std::string key_of(std::string text, bool is_encoded) {
  if (!is_encoded) return text;
  std::replace(text.begin(), text.end(), '+', ' ');
  return percent_decoded(text);
}

}  // namespace

S3Page parse_s3_page(std::string_view xml) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size(), kParse, pugi::encoding_utf8);
  const pugi::xml_node listing = document.child("ListBucketResult");
  if (!listing) throw DataError("the answer to a listing is not a ListBucketResult: is this an S3 server?");
  if (!parsed) {
    throw DataError(fmt::format("the answer to a listing was cut or damaged at byte {} of {}: {}", parsed.offset,
                                xml.size(), parsed.description()));
  }
  const bool is_encoded = listing.child_value("EncodingType") == std::string_view("url");
  S3Page page;
  for (const pugi::xml_node object : listing.children("Contents")) {
    page.objects.push_back({key_of(object.child_value("Key"), is_encoded),
                            {parse_number<std::uint64_t>(object.child_value("Size")), object.child_value("ETag")}});
  }
  for (const pugi::xml_node folder : listing.children("CommonPrefixes")) {
    page.folders.push_back(key_of(folder.child_value("Prefix"), is_encoded));
  }
  if (listing.child_value("IsTruncated") == std::string_view("true")) {
    page.next = listing.child_value("NextContinuationToken");
    if (page.next.empty()) throw DataError("a listing says that it continues, but not where");
  }
  return page;
}

std::string s3_error_code(std::string_view xml) {
  pugi::xml_document document;
  // The text may be truncated, because only the beginning of a body is kept: the part parsed so far counts.
  const bool is_whole = document.load_buffer(xml.data(), xml.size(), kParse, pugi::encoding_utf8);
  const pugi::xml_node found =
      document.find_node([](const pugi::xml_node& node) { return node.name() == std::string_view("Code"); });
  if (!is_whole && !found.next_sibling()) return {};  // it may be truncated
  const std::string code = found.child_value();
  const bool is_word = code.size() <= 64 && std::ranges::all_of(code, [](char c) {
                         return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
                       });
  return is_word ? code : std::string();
}

}  // namespace chexbench::storage

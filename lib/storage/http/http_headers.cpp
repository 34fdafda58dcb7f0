#include "storage/http/http_headers.hpp"

#include <algorithm>

#include "core/csv.hpp"
#include "core/numbers.hpp"

namespace chexbench::storage {

std::string_view header_value(std::string_view line, std::string_view name) {
  const bool has_name =
      line.size() > name.size() && line[name.size()] == ':' &&
      std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) { return a == (b | 0x20) || a == b; });
  return has_name ? trimmed(line.substr(name.size() + 1)) : std::string_view();
}

void read_header_line(HttpReply& reply, std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) return;
  if (line.starts_with("HTTP/")) {
    const std::size_t blank = std::min(line.find(' '), line.size() - 1);
    reply = {};
    reply.status = parse_number<int>(line.substr(blank + 1, 3)).value_or(0);
    return;
  }
  const auto take = [line](std::string_view name, std::string& to) {
    if (const std::string_view value = header_value(line, name); !value.empty()) to = value;
  };
  if (const std::string_view length = header_value(line, "content-length"); !length.empty()) {
    reply.length = parse_number<std::uint64_t>(length);
  }
  take("content-encoding", reply.content_encoding);
  take("content-range", reply.content_range);
  take("etag", reply.etag);
  take("last-modified", reply.last_modified);
}

AnswerHead read_head(std::string_view head, HttpReply& reply) {
  if (!head.starts_with("HTTP/1.1 ")) return {};
  AnswerHead read{.is_plain = true, .is_reusable = true};
  while (!head.empty()) {
    const std::string_view line = head.substr(0, std::min(head.find('\n'), head.size() - 1) + 1);
    head.remove_prefix(line.size());
    read_header_line(reply, line);
    if (!header_value(line, "transfer-encoding").empty()) read.is_plain = false;
    if (header_value(line, "connection").starts_with("close")) read.is_reusable = false;
  }
  const bool is_success = reply.status == kWholeContent || reply.status == kPartialContent;
  read.is_plain &= is_success && reply.length && reply.content_encoding.empty();
  return read;
}

}  // namespace chexbench::storage

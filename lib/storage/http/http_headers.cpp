#include "storage/http/http_headers.hpp"

#include <algorithm>

#include "core/csv.hpp"
#include "core/numbers.hpp"

namespace chexbench::storage {
namespace {

std::string_view without_end(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Cuts the first line off and returns it without its end.
std::string_view take_line(std::string_view& head) {
  const std::string_view line = head.substr(0, std::min(head.find('\n'), head.size() - 1) + 1);
  head.remove_prefix(line.size());
  return without_end(line);
}

}  // namespace
std::string_view header_value(std::string_view line, std::string_view name) {
  const bool has_name =
      line.size() > name.size() && line[name.size()] == ':' &&
      std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) { return a == (b | 0x20) || a == b; });
  return has_name ? trimmed(line.substr(name.size() + 1)) : std::string_view();
}

std::string_view header_of(std::string_view head, std::string_view name) {
  while (!head.empty()) {
    if (const std::string_view value = header_value(take_line(head), name); !value.empty()) return value;
  }
  return {};
}

void read_header_line(HttpReply& reply, std::string_view line) {
  line = without_end(line);
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
    const std::string_view line = take_line(head);
    read_header_line(reply, line);
    if (const std::string_view coding = header_value(line, "transfer-encoding"); !coding.empty()) {
      read.is_plain = false;
      read.is_in_chunks = coding == "chunked";
    }
    if (header_value(line, "connection").starts_with("close")) read.is_reusable = false;
  }
  const bool is_success = reply.status == kWholeContent || reply.status == kPartialContent;
  const bool is_as_it_is = reply.content_encoding.empty();
  read.is_error = reply.status >= kFirstError && is_as_it_is && (read.is_in_chunks || (read.is_plain && reply.length));
  read.is_plain &= is_success && reply.length && is_as_it_is;
  return read;
}

ChunkedText read_chunks(std::string_view body) {
  ChunkedText read;
  while (true) {
    const std::size_t line_end = body.find("\r\n");
    if (line_end == std::string_view::npos) return read;
    const std::string_view size = body.substr(0, std::min(body.find(';'), line_end));  // an extension may follow
    const auto bytes = parse_number<std::uint32_t>(size, 16);
    read.is_broken = !bytes;
    if (read.is_broken) return read;
    if (*bytes == 0) {
      read.is_complete = body.find("\r\n\r\n", line_end) != std::string_view::npos;
      return read;
    }
    body.remove_prefix(line_end + 2);
    read.content += body.substr(0, *bytes);
    body.remove_prefix(std::min<std::size_t>(*bytes + std::size_t{2}, body.size()));
  }
}

}  // namespace chexbench::storage

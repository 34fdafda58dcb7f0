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

// Returns the value of a header line "Name: value", or an empty text if it has another name than `name`, which is in
// lower case.
std::string_view header_value(std::string_view line, std::string_view name) {
  const bool has_name =
      line.size() > name.size() && line[name.size()] == ':' &&
      std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) { return a == (b | 0x20) || a == b; });
  return has_name ? trimmed(line.substr(name.size() + 1)) : std::string_view();
}

}  // namespace

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

}  // namespace chexbench::storage

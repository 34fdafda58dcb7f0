// Reads the headers of answers over HTTP/1.
#pragma once

#include <string_view>

#include "storage/http/http_client.hpp"

namespace chexbench::storage {

// Returns the value of a header line "Name: value", or an empty text if it has another name than `name`, which is in
// lower case.
std::string_view header_value(std::string_view line, std::string_view name);

// Books a line of an answer's head to `reply`: a status line begins it anew, maybe after a redirect or a 1xx answer.
void read_header_line(HttpReply& reply, std::string_view line);

}  // namespace chexbench::storage

// Reads the headers of answers over HTTP/1.
#pragma once

#include <string_view>

#include "storage/http/http_client.hpp"

namespace chexbench::storage {

constexpr int kPartialContent = 206;  // the status of an answer that is a part of an object

// Adds a header line to `reply`: a status line starts it afresh, maybe after a redirect or a 1xx answer.
void read_header_line(HttpReply& reply, std::string_view line);

}  // namespace chexbench::storage

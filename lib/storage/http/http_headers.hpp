// Reads the headers of answers over HTTP/1.
#pragma once

#include <string_view>

#include "storage/http/http_client.hpp"

namespace chexbench::storage {

constexpr int kWholeContent = 200;    // the status of an answer that is a whole object
constexpr int kPartialContent = 206;  // of one that is a part of it

// Returns the value of a header line "Name: value", or an empty text if it has another name than `name`, which is in
// lower case.
std::string_view header_value(std::string_view line, std::string_view name);

// Books a line of an answer's head to `reply`: a status line begins it anew, maybe after a redirect or a 1xx answer.
void read_header_line(HttpReply& reply, std::string_view line);

// What the head of an answer says of the bytes behind it.
struct AnswerHead {
  bool is_plain = false;     // an object or a part of it, of known length and as it is: its bytes can be counted
  bool is_reusable = false;  // the connection serves another request
};
// Reads the head of an answer, with the empty line at its end, and books it to `reply`. Whatever is not as simple as
// what an object store answers is not plain.
AnswerHead read_head(std::string_view head, HttpReply& reply);

}  // namespace chexbench::storage

// Reads the headers of answers over HTTP/1.
#pragma once

#include <string>
#include <string_view>

#include "storage/http/http_client.hpp"

namespace chexbench::storage {

constexpr int kWholeContent = 200;    // the status of an answer that is a whole object
constexpr int kPartialContent = 206;  // of one that is a part of it
constexpr int kFirstError = 400;      // no error has a status below it

// Returns the value of a header line "Name: value", or an empty text if it has another name than `name`, which is in
// lower case.
std::string_view header_value(std::string_view line, std::string_view name);

// Returns that of the first line of a head that has this name, or an empty text.
std::string_view header_of(std::string_view head, std::string_view name);

// Books a line of an answer's head to `reply`: a status line begins it anew, maybe after a redirect or a 1xx answer.
void read_header_line(HttpReply& reply, std::string_view line);

// What the head of an answer says of the bytes behind it.
struct AnswerHead {
  bool is_plain = false;  // an object or a part of it, of known length and as it is: its bytes can be counted
  bool is_error = false;  // of status 400 or above, with a text of known length or in chunks
  bool is_in_chunks = false;
  bool is_reusable = false;  // the connection serves another request
};
// Reads the head of an answer, with the empty line at its end, and books it to `reply`. Whatever is not as simple as
// what an object store answers is not plain.
AnswerHead read_head(std::string_view head, HttpReply& reply);

// The content of a body in chunks (RFC 9112, section 7.1), as far as it has come.
struct ChunkedText {
  std::string content;
  bool is_complete = false;  // the last chunk has come
  bool is_broken = false;    // something has come that is no chunk
};
ChunkedText read_chunks(std::string_view body);

}  // namespace chexbench::storage

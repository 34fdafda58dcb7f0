// Reads the answers of S3, as far as a reader of data sets needs them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/http/http_fetcher.hpp"
#include "storage/store.hpp"

namespace chexbench::storage {

// One page of a listing.
struct S3Page {
  struct Object {
    std::string key;  // decoded; from the server, so it may be anything
    ObjectVersion version;
  };
  std::vector<Object> objects;
  std::vector<std::string> folders;  // common prefixes, each with the '/' at its end
  std::string next;                  // the token by which to ask for the next page; empty: this is the last
};

// Parses an answer to ListObjectsV2, with or without encoding-type=url.
// @throws DataError if it is not a ListBucketResult, was cut or damaged, or goes on without a token
S3Page parse_s3_page(std::string_view xml);

// Returns the <Code> of an error, such as NoSuchBucket, or "" if `xml` has none of up to 64 letters (access keys
// have digits). The
// rest must not appear in messages, since it may repeat keys. `xml` may be the beginning of an answer.
std::string s3_error_code(std::string_view xml);

}  // namespace chexbench::storage

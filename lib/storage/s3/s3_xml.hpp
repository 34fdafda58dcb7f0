// Parses the S3 answers that reading data sets needs.
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
    std::string key;  // decoded; untrusted
    ObjectVersion version;
  };
  std::vector<Object> objects;
  std::vector<std::string> folders;  // common prefixes, each with the '/' at its end
  std::string next;                  // the token for the next page; empty: this is the last
};

// Parses an answer to ListObjectsV2, with or without encoding-type=url.
// @throws DataError if it is not a ListBucketResult, was truncated or damaged, or continues without a token
S3Page parse_s3_page(std::string_view xml);

// Returns the <Code> of an error, such as NoSuchBucket, or "" if `xml` has none of up to 64 letters (access keys have
// digits). The rest must not appear in messages, because it may repeat keys. `xml` may be truncated.
std::string s3_error_code(std::string_view xml);

}  // namespace chexbench::storage

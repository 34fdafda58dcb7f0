// The answers of S3, as far as a reader needs them. No XML parser: the elements that are read hold no others of their
// name, and S3 writes neither attributes nor CDATA in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "storage/http/http_fetcher.hpp"
#include "storage/store.hpp"

namespace chexbench::storage {

struct S3Page {
  struct Object {
    std::string key;
    ObjectVersion version;
  };
  std::vector<Object> objects;
  std::vector<std::string> folders;  // common prefixes, each with the '/' at its end
  std::string next;                  // to be asked for next; empty: the last page
};

// An answer to ListObjectsV2 with encoding-type=url. @throws DataError where it is none
S3Page parse_s3_page(std::string_view xml);

// The <Code> of an error, such as NoSuchBucket; empty where there is none that looks like one. The rest is not for
// messages: it may repeat keys.
std::string s3_error_code(std::string_view xml);

}  // namespace chexbench::storage

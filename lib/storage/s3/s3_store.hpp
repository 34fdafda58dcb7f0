// The store of s3://bucket/prefix roots: Amazon's S3, and servers that speak its protocol.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spec/trial_spec.hpp"
#include "storage/http/http_fetcher.hpp"
#include "storage/s3/aws_settings.hpp"
#include "storage/store.hpp"
#include "storage/url.hpp"

namespace chexbench::storage {

// The place of a bucket: how the URLs of its objects are built, and the region that signatures name.
struct S3Place {
  std::string scheme = "https";
  std::string host;    // and :port
  std::string before;  // precedes each key in the URL's path: "/bucket/", or "/" if the bucket is part of the host
  std::string region;
};

// Combines the settings; the spec overrides the environment, and the region is us-east-1 if neither names one. Amazon's
// own hosts are addressed by virtual host, as Amazon requires, unless the bucket name has a dot, which no certificate
// covers. Other endpoints are addressed by path.
// @throws DataError if the endpoint is not http(s)://host[:port]
S3Place find_s3_place(const std::string& bucket, const spec::StoreSpec& spec, const AwsSettings& settings);

// Returns the store of s3://bucket or s3://bucket/prefix. Sends no request yet.
// @throws DataError if the endpoint is not http(s)://host[:port]
std::unique_ptr<Store> make_s3_store(const Url& root, const spec::StoreSpec& spec, const AwsSettings& settings,
                                     std::unique_ptr<HttpClient> client, const RetryPolicy& policy);

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

// The store of s3://bucket/prefix roots: Amazon's S3, and servers that speak its protocol.
#pragma once

#include <memory>
#include <string>

#include "spec/trial_spec.hpp"
#include "storage/http/http_client.hpp"
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

}  // namespace chexbench::storage

// s3://bucket/prefix: Amazon's S3 and what speaks its language.
#pragma once

#include <memory>
#include <string>

#include "spec/experiment.hpp"
#include "storage/http/http_client.hpp"
#include "storage/http/http_fetcher.hpp"
#include "storage/s3/aws_settings.hpp"
#include "storage/store.hpp"
#include "storage/url.hpp"

namespace chexbench::storage {

// How a bucket is reached.
struct S3Place {
  std::string scheme = "https";
  std::string host;    // and :port
  std::string before;  // of each key, in the URL's path: "/bucket/", or "/" where the bucket is part of the host
  std::string region;
};

// What the spec says goes before what the environment says. Amazon's own hosts are asked by virtual host, as Amazon
// wants it, unless the bucket's name has a dot, which no certificate covers; other endpoints by path.
// @throws DataError for an endpoint that is no URL
S3Place find_s3_place(const std::string& bucket, const spec::StoreSpec& spec, const AwsSettings& settings);

// `root` is s3://bucket or s3://bucket/prefix. @throws DataError: as above
std::unique_ptr<Store> make_s3_store(const Url& root, const spec::StoreSpec& spec, const AwsSettings& settings,
                                     std::unique_ptr<HttpClient> client, const RetryPolicy& policy);

}  // namespace chexbench::storage

// AWS Signature Version 4 for S3 (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html). Of our own:
// libcurl's (7.88) does not sort the query, so that no listing would pass (curl issue 9717).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chexbench::storage {

struct AwsCredentials {
  std::string access_key;  // empty: none, requests are not signed
  std::string secret_key;
  std::string session_token;  // of temporary ones
};

// A request as it is signed. A GET or a HEAD: without a body.
struct AwsRequest {
  std::string method = "GET";
  std::string host;                                          // and :port where the URL has one
  std::string path;                                          // encoded once, as in the URL
  std::vector<std::pair<std::string, std::string>> query;    // encoded
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case; besides host and x-amz-...
};

// The query as it stands in the URL and in the signature: in the order of names.
std::string sorted_query(std::vector<std::pair<std::string, std::string>> query);

// The headers to add to the request, "Name: value". `time` is UTC, as 20130524T000000Z.
std::vector<std::string> sign(const AwsRequest& request, const AwsCredentials& credentials, std::string_view region,
                              std::string_view time);

// Now, as sign() wants it.
std::string aws_time_now();

}  // namespace chexbench::storage

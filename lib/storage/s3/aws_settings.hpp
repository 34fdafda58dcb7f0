// Finds the credentials, region and endpoint of S3 where the AWS tools find them.
#pragma once

#include <string>

#include "storage/http/http_client.hpp"
#include "storage/s3/aws_signature.hpp"

namespace chexbench::storage {

// The settings from the environment; empty members are not set.
struct AwsSettings {
  AwsCredentials credentials;
  std::string region;
  std::string endpoint;  // a URL; empty: Amazon's
};

// Reads the settings from these places, the first one that is set:
// - credentials: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or else the profile AWS_PROFILE (by
//   default "default") of AWS_SHARED_CREDENTIALS_FILE (by default ~/.aws/credentials). Without a key, requests are not
//   signed, which public buckets allow.
// - region: AWS_REGION, AWS_DEFAULT_REGION, or else that profile of AWS_CONFIG_FILE (by default ~/.aws/config).
// - endpoint: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL.
// @throws DataError if only one half of a key is set, or AWS_PROFILE names a profile that does not exist; the message
// does not contain the keys
AwsSettings find_aws_settings(const Environment& environment);

}  // namespace chexbench::storage

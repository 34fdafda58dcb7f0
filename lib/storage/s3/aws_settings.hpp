// Keys, region and endpoint of S3, from where the AWS tools take them.
#pragma once

#include <string>

#include "storage/environment.hpp"
#include "storage/s3/aws_signature.hpp"

namespace chexbench::storage {

struct AwsSettings {
  AwsCredentials credentials;
  std::string region;    // empty: not said
  std::string endpoint;  // URL; empty: Amazon's
};

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or else the profile AWS_PROFILE (default) of
// AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials); AWS_REGION, AWS_DEFAULT_REGION, or else the profile's region in
// AWS_CONFIG_FILE (~/.aws/config); AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL. No key anywhere: requests are not signed, as
// public buckets allow.
// @throws DataError, without the values, for half a key, or a profile that was named and is not there
AwsSettings find_aws_settings(const Environment& environment);

}  // namespace chexbench::storage

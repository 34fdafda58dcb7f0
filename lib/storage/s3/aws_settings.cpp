#include "storage/s3/aws_settings.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string_view>

#include "core/csv.hpp"
#include "core/errors.hpp"
#include "core/printable.hpp"

namespace chexbench::storage {
namespace {

using Section = std::map<std::string, std::string, std::less<>>;

std::string first_of(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (std::string value = environment(name); !value.empty()) return value;
  }
  return {};
}

// Returns the keys of section [name] of an INI file, read as botocore does, or none if there is no such file or
// section.
Section read_section(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  Section section;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    const std::string_view text = trimmed(line);
    if (text.empty() || text.front() == '#' || text.front() == ';') continue;
    if (text.front() == '[') {
      inside = trimmed(text.substr(1, text.find(']') - 1)) == name;
      continue;
    }
    const std::size_t equals = text.find('=');
    if (!inside || equals == std::string_view::npos) continue;
    section[std::string(trimmed(text.substr(0, equals)))] = trimmed(text.substr(equals + 1));
  }
  return section;
}

std::string value_of(const Section& section, std::string_view key) {
  const auto found = section.find(key);
  return found == section.end() ? std::string() : found->second;
}

void check(const AwsCredentials& credentials, const std::string& place) {
  if (credentials.access_key.empty() == credentials.secret_key.empty()) return;
  throw DataError(fmt::format("{} holds half of an S3 key: it needs the access key's id and its secret", place));
}

AwsCredentials from_file(const Environment& environment, const std::string& path) {
  const std::string named = environment("AWS_PROFILE");
  const std::string profile = named.empty() ? "default" : named;
  const Section section = read_section(path, profile);
  if (section.empty() && !named.empty()) {
    throw DataError(fmt::format("AWS_PROFILE is '{}', and {} has no such profile", printable(named), path));
  }
  AwsCredentials credentials{.access_key = value_of(section, "aws_access_key_id"),
                             .secret_key = value_of(section, "aws_secret_access_key"),
                             .session_token = value_of(section, "aws_session_token")};
  check(credentials, fmt::format("profile '{}' of {}", profile, path));
  return credentials;
}

}  // namespace

AwsSettings find_aws_settings(const Environment& environment) {
  const std::string home = environment("HOME") + "/.aws/";
  const auto file = [&](const char* variable, const char* name) {
    const std::string path = environment(variable);
    return path.empty() ? home + name : path;
  };
  AwsSettings settings;
  settings.credentials = {.access_key = environment("AWS_ACCESS_KEY_ID"),
                          .secret_key = environment("AWS_SECRET_ACCESS_KEY"),
                          .session_token = environment("AWS_SESSION_TOKEN")};
  check(settings.credentials, "the environment");
  if (settings.credentials.access_key.empty()) {
    settings.credentials = from_file(environment, file("AWS_SHARED_CREDENTIALS_FILE", "credentials"));
  }
  settings.endpoint = first_of(environment, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  settings.region = first_of(environment, {"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (settings.region.empty()) {
    const std::string profile = environment("AWS_PROFILE");
    const bool is_default = profile.empty() || profile == "default";
    settings.region = value_of(
        read_section(file("AWS_CONFIG_FILE", "config"), is_default ? "default" : "profile " + profile), "region");
  }
  return settings;
}

}  // namespace chexbench::storage

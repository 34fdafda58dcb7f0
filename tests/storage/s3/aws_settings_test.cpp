// Tests of where the settings of S3 come from.
#include "storage/s3/aws_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/errors.hpp"
#include "core/scratch.hpp"

namespace chexbench::storage {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class AwsSettingsTest : public testing::Test {
 protected:
  AwsSettings find() {
    variables_.emplace("HOME", folder_.path());
    return find_aws_settings([this](const std::string& name) { return variables_[name]; });
  }
  ScratchFolder folder_;
  std::map<std::string, std::string> variables_;
};

TEST_F(AwsSettingsTest, AreEmptyWhereThereAreNone) {
  const AwsSettings settings = find();
  EXPECT_EQ(settings.credentials.access_key, "");
  EXPECT_EQ(settings.region, "");
}

TEST_F(AwsSettingsTest, ComeFromTheEnvironmentFirst) {
  write_text(folder_ / ".aws/credentials", "[default]\naws_access_key_id = file\naws_secret_access_key = s\n");
  variables_ = {{"AWS_ACCESS_KEY_ID", "env"},
                {"AWS_SECRET_ACCESS_KEY", "s"},
                {"AWS_SESSION_TOKEN", "t"},
                {"AWS_REGION", "eu-west-1"},
                {"AWS_ENDPOINT_URL", "http://h"}};
  const AwsSettings settings = find();
  EXPECT_EQ(settings.credentials.access_key, "env");
  EXPECT_EQ(settings.credentials.session_token, "t");
  EXPECT_EQ(settings.region, "eu-west-1");
  EXPECT_EQ(settings.endpoint, "http://h");
}

TEST_F(AwsSettingsTest, ComeFromTheProfileThatIsNamed) {
  write_text(folder_ / ".aws/credentials",
             "[default]\naws_access_key_id = one\naws_secret_access_key = s\n# comment\n[ other ]\n"
             "aws_access_key_id=two\naws_secret_access_key=a=b\naws_session_token = t\n");
  write_text(folder_ / ".aws/config", "[default]\nregion = us-west-2\n[profile other]\nregion = eu-north-1\n");
  EXPECT_EQ(find().credentials.access_key, "one");
  EXPECT_EQ(find().region, "us-west-2");
  variables_["AWS_PROFILE"] = "other";
  EXPECT_EQ(find().credentials.access_key, "two");
  EXPECT_EQ(find().credentials.secret_key, "a=b");
  EXPECT_EQ(find().credentials.session_token, "t");
  EXPECT_EQ(find().region, "eu-north-1");
}

TEST_F(AwsSettingsTest, HalfAKeyIsRefusedWithoutShowingIt) {
  variables_ = {{"AWS_SECRET_ACCESS_KEY", "hunter2"}};
  const std::string message = message_of<DataError>([&] { find(); });
  EXPECT_THAT(message, AllOf(HasSubstr("half"), Not(HasSubstr("hunter2"))));
}

TEST_F(AwsSettingsTest, AProfileThatIsNotThereIsRefused) {
  variables_ = {{"AWS_PROFILE", "nobody"}};
  EXPECT_THAT(message_of<DataError>([&] { find(); }), HasSubstr("no such profile"));
}

}  // namespace
}  // namespace chexbench::storage

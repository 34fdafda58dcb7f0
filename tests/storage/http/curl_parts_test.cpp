#include "storage/http/curl_parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/scratch.hpp"

namespace chexbench::storage {
namespace {

using spec::Redirects;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kRoot = "https://host/set/";

TEST(Redirects, WithinOneOriginAreFollowed) {
  for (const char* to : {"https://host/other", "https://HOST/x?token=1", "https://host:443/x"}) {
    EXPECT_EQ(redirect_refusal(kRoot, to, Redirects::same_host), "") << to;
    EXPECT_TRUE(have_same_origin(kRoot, to)) << to;
  }
}

TEST(Redirects, ToAnotherHostOrPortAreFollowedOnlyIfTheSpecAllowsAny) {
  for (const char* to : {"https://other/x", "https://host:8443/x", "https://host.evil/x", "https://host./x"}) {
    EXPECT_THAT(redirect_refusal(kRoot, to, Redirects::same_host), HasSubstr("store.redirects")) << to;
    EXPECT_FALSE(have_same_origin(kRoot, to)) << to;
  }
  EXPECT_THAT(redirect_refusal(kRoot, "https://other:8443/x", Redirects::same_host),
              AllOf(HasSubstr("to https://other:8443: "), HasSubstr("data.root"), HasSubstr("store.redirects")));
  EXPECT_THAT(redirect_refusal("http://host/", kRoot, Redirects::same_host), HasSubstr("https://host:443"));
  EXPECT_EQ(redirect_refusal(kRoot, "https://other/x", Redirects::any), "");
  EXPECT_EQ(redirect_refusal("http://host/", kRoot, Redirects::any), "");
}

TEST(Redirects, ThatWouldHarmAreNeverFollowed) {
  for (const char* to : {"http://host/set/", "file:///etc/passwd", "ftp://host/x", "https://me:hunter2@other/x", "",
                         "gopher://host:25/x"}) {
    EXPECT_NE(redirect_refusal(kRoot, to, Redirects::any), "") << to;
  }
}

TEST(Redirects, AreFollowedWithoutTheUserOfTheirUrl) {
  EXPECT_EQ(redirect_refusal(kRoot, "https://me:hunter2@host/x", Redirects::same_host), "");
  EXPECT_EQ(without_user("https://me:hunter2@host/x/../y?z=1"), "https://host/x/../y?z=1");
}

TEST(Redirects, AreToldWithoutWhatMayBeSecret) {
  for (const char* to : {"https://me:hunter2@other/x", "https://other/x?key=hunter2", "http://other/hunter2"}) {
    const std::string told = redirect_refusal(kRoot, to, Redirects::same_host);
    EXPECT_THAT(told, AllOf(HasSubstr("other"), Not(HasSubstr("hunter2")))) << to;
  }
}

class TrustedCertificatesTest : public testing::Test {
 protected:
  std::string find() {
    return trusted_certificates([this](const std::string& name) { return variables_[name]; }, root_.path());
  }
  ScratchFolder root_;
  std::map<std::string, std::string> variables_;
};

TEST_F(TrustedCertificatesTest, AreThoseOfEachDistribution) {
  for (const char* const file : {"etc/ssl/cert.pem", "etc/ssl/ca-bundle.pem", "etc/pki/tls/certs/ca-bundle.crt",
                                 "etc/ssl/certs/ca-certificates.crt"}) {
    write_text(root_ / file, "");
    EXPECT_EQ(find(), root_ / file);
  }
}

TEST_F(TrustedCertificatesTest, AreLeftToLibcurlWhereNoneIsKnown) { EXPECT_EQ(find(), ""); }

TEST_F(TrustedCertificatesTest, OfTheEnvironmentComeFirst) {
  write_text(root_ / "etc/ssl/certs/ca-certificates.crt", "");
  variables_["SSL_CERT_FILE"] = "/own.pem";
  EXPECT_EQ(find(), "/own.pem");
  variables_["CURL_CA_BUNDLE"] = "/curl.pem";
  EXPECT_EQ(find(), "/curl.pem");
}

}  // namespace
}  // namespace chexbench::storage

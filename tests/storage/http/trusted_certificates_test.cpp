#include "storage/http/curl_parts.hpp"

#include <gtest/gtest.h>

#include <map>

#include "core/scratch.hpp"

namespace chexbench::storage {
namespace {

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

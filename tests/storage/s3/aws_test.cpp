// Tests of the signatures of S3, and of where a bucket is. The vectors are from Amazon S3 API Reference, "Signature
// Calculations for the Authorization Header: Transferring Payload in a Single Chunk".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "storage/s3/aws_settings.hpp"
#include "storage/s3/aws_signature.hpp"
#include "storage/s3/s3_store.hpp"

namespace chexbench::storage {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const AwsCredentials kExample{.access_key = "AKIAIOSFODNN7EXAMPLE",
                              .secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                              .session_token = {}};

std::string authorization(const AwsRequest& request, const AwsCredentials& credentials = kExample) {
  return AwsSigner(credentials, "us-east-1").sign(request, "20130524T000000Z").back();
}

TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Hmac, GivesTheDigestsOfRfc4231) {
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(AwsSignature, OfARangeIsThePublishedOne) {
  const std::string line = authorization({.host = "examplebucket.s3.amazonaws.com",
                                          .path = "/test.txt",
                                          .query = {},
                                          .headers = {{"range", "bytes=0-9"}}});
  EXPECT_THAT(line, EndsWith("SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature="
                             "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"));
  EXPECT_THAT(line, HasSubstr("Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"));
}

TEST(AwsSignature, OfAListingIsThePublishedOneInAnyOrderOfTheQuery) {
  EXPECT_THAT(authorization({.host = "examplebucket.s3.amazonaws.com",
                             .path = "/",
                             .query = {{"prefix", "J"}, {"max-keys", "2"}},
                             .headers = {}}),
              EndsWith("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(AwsSignature, OfAQueryWithoutAValueIsThePublishedOne) {
  EXPECT_THAT(authorization(
                  {.host = "examplebucket.s3.amazonaws.com", .path = "/", .query = {{"lifecycle", ""}}, .headers = {}}),
              EndsWith("Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
}

TEST(AwsSignature, CoversTheSessionTokenAndNeverShowsTheSecret) {
  AwsCredentials temporary = kExample;
  temporary.session_token = "TOKEN";
  const std::vector<std::string> lines =
      AwsSigner(temporary, "us-east-1")
          .sign({.host = "h", .path = "/x", .query = {}, .headers = {}}, "20130524T000000Z");
  EXPECT_THAT(lines, Contains("x-amz-security-token: TOKEN"));
  EXPECT_THAT(lines.back(), HasSubstr(";x-amz-security-token,"));
  for (const std::string& line : lines) EXPECT_THAT(line, Not(HasSubstr("wJalr")));
}

TEST(AwsSignature, TakesTheKeyOfItsDay) {
  const AwsRequest request{.host = "h", .path = "/x", .query = {}, .headers = {}};
  const AwsSigner signer(kExample, "us-east-1");
  for (const char* const time : {"20130524T000000Z", "20130524T235959Z", "20130525T000000Z", "20130524T000000Z"}) {
    EXPECT_EQ(signer.sign(request, time), AwsSigner(kExample, "us-east-1").sign(request, time)) << time;
  }
}

TEST(S3Place, OfAmazonIsAVirtualHostUnlessTheNameHasADot) {
  const S3Place plain = find_s3_place("bucket", {}, {.region = "eu-west-1"});
  EXPECT_EQ(plain.host, "bucket.s3.eu-west-1.amazonaws.com");
  EXPECT_EQ(plain.before, "/");
  EXPECT_EQ(plain.scheme, "https");
  const S3Place dotted = find_s3_place("my.bucket", {}, {});
  EXPECT_EQ(dotted.host, "s3.us-east-1.amazonaws.com");
  EXPECT_EQ(dotted.before, "/my.bucket/");
}

TEST(S3Place, OfAnEndpointIsAPathUnlessTheSpecSaysElse) {
  const AwsSettings settings{.credentials = {}, .region = {}, .endpoint = "http://from.environment"};
  EXPECT_EQ(find_s3_place("b", {}, settings).host, "from.environment");
  const S3Place path = find_s3_place("b", {.endpoint = "http://127.0.0.1:9000/"}, settings);
  EXPECT_EQ(path.scheme + path.host + path.before, "http127.0.0.1:9000/b/");
  const S3Place host =
      find_s3_place("b", {.endpoint = "http://h:9000", .addressing = spec::S3Addressing::virtual_host}, settings);
  EXPECT_EQ(host.host + host.before, "b.h:9000/");
}

TEST(S3Place, RefusesAnEndpointThatIsNone) {
  for (const char* endpoint : {"h:9000", "ftp://h", "http://h/path", "http://"}) {
    EXPECT_THAT(message_of<DataError>([&] { find_s3_place("b", {.endpoint = endpoint}, {}); }),
                HasSubstr("store.endpoint"));
  }
}

}  // namespace
}  // namespace chexbench::storage

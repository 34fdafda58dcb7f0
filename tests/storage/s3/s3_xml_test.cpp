// Tests of how the answers of S3 are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "storage/s3/s3_store.hpp"

namespace chexbench::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kPage = R"(<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix>p/</Prefix>
<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>1+a/b==</NextContinuationToken>
<Contents><Key>p/a%2Bb+c.png</Key><ETag>&quot;12&quot;</ETag><Size>123</Size></Contents>
<Contents><Key>p/d.png</Key><ETag>&#34;13&#34;</ETag><Size>0</Size></Contents>
<CommonPrefixes><Prefix>p/images/</Prefix></CommonPrefixes></ListBucketResult>)";

TEST(S3Page, IsRead) {
  const S3Page page = parse_s3_page(kPage);
  ASSERT_EQ(page.objects.size(), 2u);
  EXPECT_EQ(page.objects[0].key, "p/a+b c.png");
  EXPECT_EQ(page.objects[0].version.bytes, 123u);
  EXPECT_EQ(page.objects[0].version.tag, "\"12\"");
  EXPECT_EQ(page.objects[1].version.tag, "\"13\"");
  EXPECT_THAT(page.folders, ElementsAre("p/images/"));
  EXPECT_EQ(page.next, "1+a/b==");
}

TEST(S3Page, OfAnotherServerIsRefused) {
  EXPECT_THAT(message_of<DataError>([] { parse_s3_page("<html>hello</html>"); }), HasSubstr("is this an S3 server"));
}

TEST(S3Page, ThatWasCutIsRefused) {
  const std::string cut(kPage, std::string_view(kPage).rfind("</"));
  EXPECT_THAT(message_of<DataError>([&] { parse_s3_page(cut); }), HasSubstr("was cut"));
}

TEST(S3Page, OfPlainKeysIsReadWithItsEntitiesAndBlanks) {
  const S3Page page = parse_s3_page(
      "<ListBucketResult><Contents><Key>a&amp;b &#233;+&#x41;</Key></Contents><Contents><Key> </Key></Contents>"
      "</ListBucketResult>");
  ASSERT_EQ(page.objects.size(), 2u);
  EXPECT_EQ(page.objects[0].key, "a&b \u00e9+A");
  EXPECT_EQ(page.objects[1].key, " ");
  EXPECT_FALSE(page.objects[0].version.bytes);
}

TEST(S3Page, NeverExpandsEntitiesOfItsOwn) {
  const S3Page page = parse_s3_page(
      "<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/hostname\">]>"
      "<ListBucketResult><Contents><Key>&e;</Key></Contents></ListBucketResult>");
  EXPECT_EQ(page.objects.at(0).key, "&e;");
}

TEST(S3Page, ThatGoesOnWithoutATokenIsRefused) {
  EXPECT_THAT(message_of<DataError>(
                  [] { parse_s3_page("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"); }),
              HasSubstr("but not where"));
}

TEST(S3Error, GivesItsCodeAndNothingElse) {
  EXPECT_EQ(s3_error_code("<Error><Code>NoSuchBucket</Code><Message>hunter2</Message></Error>"), "NoSuchBucket");
  EXPECT_EQ(s3_error_code("<Error><Code>key hunter2 is bad</Code></Error>"), "");
  EXPECT_EQ(s3_error_code("<Error><Code>AKIAIOSFODNN7EXAMPLE</Code></Error>"), "");
  EXPECT_EQ(s3_error_code("<Error><Code>No\x1B[2J</Code></Error>"), "");
  EXPECT_EQ(s3_error_code("502 Bad Gateway"), "");
}

TEST(S3Error, OfAnAnswerThatWasCutIsReadIfItsCodeIsWhole) {
  EXPECT_EQ(s3_error_code("<Error><Code>NoSuchBucket</Code><Mess"), "NoSuchBucket");
  EXPECT_EQ(s3_error_code("<Error><Code>NoSuchBu"), "");
  EXPECT_EQ(s3_error_code("<Error><Co"), "");
}

}  // namespace
}  // namespace chexbench::storage

// Tests of the texts that stores parse: URLs, index pages of web servers, and answers of S3.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "storage/http/http_index.hpp"
#include "storage/s3/s3_xml.hpp"
#include "storage/url.hpp"

namespace chexbench::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Url, IsToldFromAPath) {
  for (const char* path : {"data/nih", "/data/nih", "C:/x", "://x", "a b://c", ""})
    EXPECT_FALSE(parse_url(path)) << path;
  const auto url = parse_url("S3://bucket/a/b//");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme, "s3");
  EXPECT_EQ(url->authority, "bucket");
  EXPECT_EQ(url->path, "/a/b");
}

TEST(Url, MayNotHoldASecret) {
  for (const char* url : {"http://me:hunter2@host/x", "http://host/x?X-Amz-Signature=hunter2", "s3://hunter2@b",
                          "http://host/#hunter2"}) {
    const std::string message = message_of<DataError>([&] { parse_url(url); });
    EXPECT_THAT(message, HasSubstr("no secret"));
    EXPECT_THAT(message, Not(HasSubstr("hunter2")));
  }
}

TEST(Url, EncodesWhatItsRulesAskFor) {
  EXPECT_EQ(percent_encoded("a b/c+d~e"), "a%20b/c%2Bd~e");
  EXPECT_EQ(percent_encoded_all("a/b="), "a%2Fb%3D");
  EXPECT_EQ(percent_decoded("a%20b%2fc%zz%4"), "a b/c%zz%4");
}

std::vector<std::string> names_of(const std::vector<StoreEntry>& entries) {
  std::vector<std::string> names;
  for (const StoreEntry& entry : entries) {
    names.push_back(entry.name + (entry.kind == StoreEntry::Kind::folder ? "/" : ""));
  }
  return names;
}

TEST(IndexPage, OfNginxIsRead) {
  EXPECT_THAT(names_of(parse_index_page("<html><h1>Index of /nih/</h1><hr><pre><a href=\"../\">../</a>\n"
                                        "<a href=\"images/\">images/</a>  22-Nov-2026 01:00  -\n"
                                        "<a href=\"a%20b.png\">a b.png</a>  22-Nov-2026 01:00  12\n</pre>")),
              ElementsAre("images/", "a b.png"));
}

TEST(IndexPage, OfApacheAndPythonIsRead) {
  EXPECT_THAT(names_of(parse_index_page("<a href=\"?C=N;O=D\">Name</a> <a href=\"/parent/\">Parent</a>"
                                        "<a href=\"http://else.where/x\">x</a><a href=\"./x&amp;y.csv\">x&amp;y</a>"
                                        "<a href=\"tfrecord/\">tfrecord/</a>")),
              ElementsAre("x&y.csv", "tfrecord/"));
}

TEST(IndexPage, NeverLeadsOutOfItsFolder) {
  EXPECT_THAT(parse_index_page("<a href=\"..%2f..%2fetc\">x</a><a href=\"a/b\">x</a><a href=\"..\">x</a><a href=\"\">"),
              IsEmpty());
}

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

TEST(S3Error, GivesItsCodeAndNothingElse) {
  EXPECT_EQ(s3_error_code("<Error><Code>NoSuchBucket</Code><Message>hunter2</Message></Error>"), "NoSuchBucket");
  EXPECT_EQ(s3_error_code("<Error><Code>key hunter2 is bad</Code></Error>"), "");
  EXPECT_EQ(s3_error_code("502 Bad Gateway"), "");
}

}  // namespace
}  // namespace chexbench::storage

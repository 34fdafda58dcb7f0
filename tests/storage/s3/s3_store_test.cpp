// Tests of how the answers of S3 are read.
#include "storage/s3/s3_store.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "storage/http/fake_http.hpp"

namespace chexbench::storage {
namespace {

using testing::AllOf;
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

// Tests of how listings of S3 come to an end, and of the names in them.

// Returns a store whose server answers its n-th request, from 0 on, with the page `page(n)`.
std::unique_ptr<Store> open(std::function<std::string(int)> page) {
  auto answer = [page = std::move(page), asked = 0](const HttpRequest&, const HttpClient::Sink& sink) mutable {
    return test::send({.status = 200}, page(asked++), sink);
  };
  return make_s3_store(*parse_url("s3://b/set"), {}, {}, std::make_unique<test::FakeClient>(std::move(answer)),
                       {.tries = 1});
}

std::string page_of(const std::string& entries, const std::string& next) {
  const std::string more =
      next.empty() ? "" : "<IsTruncated>true</IsTruncated><NextContinuationToken>" + next + "</NextContinuationToken>";
  return "<ListBucketResult>" + more + entries + "</ListBucketResult>";
}

std::string listing_failure(std::function<std::string(int)> page) {
  const auto store = open(std::move(page));
  return message_of<DataError>([&] { store->list("s3://b/set"); });
}

TEST(S3Listing, ThatRepeatsItsTokensIsRefused) {
  EXPECT_THAT(listing_failure([](int) { return page_of("", "x"); }), HasSubstr("repeats what it has already sent"));
  EXPECT_THAT(listing_failure([](int n) { return page_of("", fmt::format("{}", n % 3)); }),
              AllOf(HasSubstr("cannot list s3://b/set"), HasSubstr("repeats")));
}

TEST(S3Listing, ThatNeverEndsIsRefused) {
  EXPECT_THAT(listing_failure([](int n) { return page_of("", fmt::format("{}", n)); }), HasSubstr("20000 pages"));
  EXPECT_THAT(listing_failure([](int) { return page_of("", std::string(20'000, 'x')); }), HasSubstr("absurd length"));
}

TEST(S3Listing, OfTooManyEntriesIsRefused) {
  std::string entries;
  for (int i = 0; i < 250'000; ++i)
    entries += fmt::format("<CommonPrefixes><Prefix>set/{}/</Prefix></CommonPrefixes>", i);
  EXPECT_THAT(listing_failure([&](int n) { return page_of(entries, fmt::format("{}", n)); }),
              HasSubstr("more than 2000000 entries"));
}

TEST(S3Listing, PageThatIsTooLongIsRefused) {
  EXPECT_THAT(listing_failure([](int) { return std::string((16u << 20) + 1, ' '); }), HasSubstr("which is too much"));
}

// No path leads to set//a.png, so the listing reports it.
TEST(S3Listing, SaysThatKeysHaveEmptyParts) {
  const auto store = open([](int) {
    return page_of(
        "<Contents><Key>set/</Key></Contents><Contents><Key>set/b.png</Key></Contents>"
        "<CommonPrefixes><Prefix>set//</Prefix></CommonPrefixes><CommonPrefixes><Prefix>set/../</Prefix>"
        "</CommonPrefixes>",
        "");
  });
  const auto entries = store->list("s3://b/set");
  ASSERT_EQ(entries.size(), 2u) << "no path may hold '..'";
  EXPECT_EQ(entries[0].name, "b.png");
  EXPECT_EQ(entries[1].name, "");
  EXPECT_EQ(entries[1].kind, StoreEntry::Kind::other);
}

TEST(S3Listing, LeavesNamesOutThatNobodyMayPrint) {
  const auto store = open([](int) {
    return page_of(
        "<EncodingType>url</EncodingType><Contents><Key>set/a%00.png</Key></Contents><Contents><Key>"
        "set/b.png</Key></Contents><CommonPrefixes><Prefix>set/%1B[2J/</Prefix></CommonPrefixes>",
        "");
  });
  testing::internal::CaptureStderr();
  const auto entries = store->list("s3://b/set");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("2 of its names"));
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].name, "b.png");
}

}  // namespace
}  // namespace chexbench::storage

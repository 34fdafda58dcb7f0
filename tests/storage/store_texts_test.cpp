// Tests of the texts that stores parse: URLs, and index pages of web servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "storage/http/http_store.hpp"
#include "storage/untrusted.hpp"
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

std::vector<StoreEntry> page_entries(std::string_view html) { return parse_index_page(html, "http://host:80/nih"); }

TEST(IndexPage, OfNginxIsRead) {
  EXPECT_THAT(names_of(page_entries("<html><h1>Index of /nih/</h1><hr><pre><a href=\"../\">../</a>\n"
                                    "<a href=\"images/\">images/</a>  22-Nov-2026 01:00  -\n"
                                    "<a href=\"a%20b.png\">a b.png</a>  22-Nov-2026 01:00  12\n</pre>")),
              ElementsAre("images/", "a b.png"));
}

TEST(IndexPage, OfApacheAndPythonIsRead) {
  EXPECT_THAT(names_of(page_entries("<a href=\"?C=N;O=D\">Name</a> <a href=\"/parent/\">Parent</a>"
                                    "<a href=\"http://else.where/x\">x</a><a href=\"./x&amp;y.csv\">x&amp;y</a>"
                                    "<a href=\"tfrecord/\">tfrecord/</a>")),
              ElementsAre("x&y.csv", "tfrecord/"));
}

TEST(IndexPage, OfWholePathsIsRead) {
  EXPECT_THAT(names_of(page_entries("<A HREF=\"/nih/images/\">images</A><a class=x href = '/nih/a%20b.png'>a b</a>"
                                    "<a href=c.png>c</a><a data-href=\"no.png\" HREF='//HOST:80/nih/d.png'>d</a>"
                                    "<a href=\"http://host:80/nih/e:f.png\">e</a><a href='./g&amp;h.png'>g</a>"
                                    "<a href=\"c.png\"><img></a><a href=\"/n%69h/i.png\">i</a>")),
              ElementsAre("images/", "a b.png", "c.png", "d.png", "e:f.png", "g&h.png", "i.png"));
  EXPECT_THAT(
      page_entries("<a href='/'>up</a><a href='/nih/'>here</a><a href='/nih'>x</a><a href='/other/a.png'>x</a>"
                   "<a href='//else/nih/a.png'>x</a><a href='http://else/nih/a.png'>x</a><a href='/nih/a/b'>x</a>"
                   "<a href='mailto:me'>x</a><a href='/nih/..'>x</a><a href='/nih/?C=N'>x</a><a href="),
      IsEmpty());
  EXPECT_THAT(names_of(parse_index_page("<a href='/a.png'>a</a><a href='http://h/b/'>b</a>", "http://h")),
              ElementsAre("a.png", "b/"))
      << "the root of a server";
}

TEST(IndexPage, NeverLeadsOutOfItsFolder) {
  EXPECT_THAT(page_entries("<a href=\"..%2f..%2fetc\">x</a><a href=\"a/b\">x</a><a href=\"..\">x</a><a href=\"\">"),
              IsEmpty());
}

TEST(IndexPage, OfMoreLinksThanAnyFolderHasIsRefused) {
  std::string page;
  for (std::size_t i = 0; i <= kMostEntries; ++i) page += "href=\"a\"";
  EXPECT_THAT(message_of<DataError>([&] { page_entries(page); }), HasSubstr("more than 2000000 links"));
}

TEST(Entities, AreDecodedOnceAndInOneGo) {
  EXPECT_EQ(without_entities("&lt;&gt;&quot;&#34;&apos;&#39;&#x27;&amp;"), "<>\"\"'''&");
  EXPECT_EQ(without_entities("&amp;lt; & &nbsp; &am"), "&lt; & &nbsp; &am");
  constexpr std::size_t kMany = 1'000'000;  // quadratic time would be a minute
  std::string text;
  for (std::size_t i = 0; i < kMany; ++i) text += "&amp;";
  EXPECT_EQ(without_entities(text), std::string(kMany, '&'));
}

}  // namespace
}  // namespace chexbench::storage

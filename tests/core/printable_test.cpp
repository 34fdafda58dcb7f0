#include "core/printable.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace chexbench {
namespace {

using namespace std::string_view_literals;

TEST(Printable, LeavesWhatCanBeReadAsItIs) {
  for (const auto text : {"", "a b", "Äpfel.png", "胸部", "\xf0\x9f\xab\x81", "C:\\x1b", "'\"<&"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, ShowsWhatTerminalsObey) {
  EXPECT_EQ(printable("a\0b\x1b[31m\r\n\t\x7f"sv), "a\\x00b\\x1b[31m\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(printable("gpj.\xe2\x80\xae"), "gpj.\\xe2\\x80\\xae") << "text that runs from right to left";
}

TEST(Printable, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("\xff|\xc3"), "\\xff|\\xc3");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xe2\x82|"), "\\xe2\\x82|") << "the start of a character";
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("abcd", 4), "abcd");
  EXPECT_EQ(printable("abcde", 4), "abcd...");
  EXPECT_EQ(printable("ab\xc3\xa4", 3), "ab...");
  EXPECT_EQ(printable("\n\n", 7), "\\x0a...");
  EXPECT_LT(printable(std::string(50'000'000, 'x')).size(), 210u);
}

TEST(PrintableLines, KeepsLineEndsAndTabsAndCutsNothing) {
  EXPECT_EQ(printable_lines("a\tb\n\x1b[2J\r\n\xe2\x80\xa8\xff\0"sv), "a\tb\n\\x1b[2J\\x0d\n\\xe2\\x80\\xa8\\xff\\x00");
  EXPECT_EQ(printable_lines(std::string(1000, 'x')), std::string(1000, 'x'));
}

TEST(Utf8, IsWhatRfc3629Allows) {
  for (const auto text : {""sv, "a\0"sv, "\xc2\x80"sv, "\xe0\xa0\x80"sv, "\xed\x9f\xbf"sv, "\xee\x80\x80"sv,
                          "\xef\xbf\xbf"sv, "\xf0\x90\x80\x80"sv, "\xf4\x8f\xbf\xbf"sv}) {
    EXPECT_TRUE(is_utf8(text)) << printable(text);
  }
  for (const auto text : {"\x80"sv, "\xc0\x80"sv, "\xc1\xbf"sv, "\xc2"sv, "\xc2\x7f"sv, "\xe0\x9f\xbf"sv,
                          "\xed\xa0\x80"sv, "\xe2\x82"sv, "\xe2\x82\x7f"sv, "\xf0\x8f\xbf\xbf"sv, "\xf4\x90\x80\x80"sv,
                          "\xf5\x80\x80\x80"sv, "\xf0\x90\x80"sv, "\xff"sv}) {
    EXPECT_FALSE(is_utf8(text)) << printable(text);
  }
}

TEST(Credentials, AreHiddenInUrlsHoweverMalformed) {
  for (const auto& [text, shown] : {
           std::pair{"http://me:word@host/path", "http://...@host/path"},
           {"data.root=http://me:word@host:80/a", "data.root=http://...@host:80/a"},
           {"http://me:word@", "http://...@"},
           {"s3://me:word@@bucket", "s3://...@bucket"},
           {"HtTp://word@host", "HtTp://...@host"},
           {"http:/me:word@host", "http:/...@host"},
           {"http://me:wo/rd@host/a", "http://...@host/a"},
           {"http://me:wo rd'@host/a", "http://...@host/a"},
           {"http://me:word%40host/a", "http://...@host/a"},
           {"http://me:word", "http://..."},
           {"me:word@host:3128", "...@host:3128"},
           {"data.root=me:word@host", "data.root=...@host"},
           {"https://host/a?X-Amz-Signature=word", "https://host/a?..."},
           {"https://host/a#word", "https://host/a#..."},
           {"//host/a?sig=word", "//host/a?..."},
       }) {
    EXPECT_EQ(without_credentials(text), shown) << text;
  }
}

TEST(Credentials, OtherTextStays) {
  for (const char* const text :
       {"", "http://host:80/a%20b", "https://[::1]:8080/a", "s3://bucket/folder", "files=img?.png", "/data/a@b",
        "nfs://10.0.0.1:2049/export", "lib/a.cpp:12: error", "50% of 3:40"}) {
    EXPECT_EQ(without_credentials(text), text);
    EXPECT_EQ(without_credentials_in_message(text), text);
  }
}

TEST(Credentials, OfEachUrlOfAMessageAreHidden) {
  EXPECT_EQ(without_credentials_in_message("cannot read http://a:b@c/d: HTTP 404, nor 's3://e:f@g' (mail h@i)"),
            "cannot read http://...@c/d: HTTP 404, nor 's3://...@g' (mail h@i)");
  EXPECT_EQ(without_credentials_in_message("http://127.0.0.1:80 gave no answer; try http://me:wo rd@host now"),
            "http://127.0.0.1:80 gave no answer; try http://...@host now");
  EXPECT_EQ(without_credentials_in_message("http://host:80: it does not answer"), "http://host:80: it does not answer");
  EXPECT_EQ(without_credentials_in_message("from https://a/b?token=word to https://c/d?sig=word"),
            "from https://a/b?... to https://c/d?...");
}

}  // namespace
}  // namespace chexbench

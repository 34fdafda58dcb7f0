#include "core/printable.hpp"

#include <gtest/gtest.h>

namespace chexbench {
namespace {

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

#include "spec/url.hpp"

#include <gtest/gtest.h>

namespace chexbench::spec {
namespace {

TEST(Url, IsToldFromAPathByItsScheme) {
  for (const char* const url : {"s3://bucket/images", "nfs://filer/export", "https://host:80/a b"})
    EXPECT_TRUE(is_url(url)) << url;
  for (const char* const path : {"", "/data/nih", "data", "a:/b", "data:x//y"}) EXPECT_FALSE(is_url(path)) << path;
}

}  // namespace
}  // namespace chexbench::spec

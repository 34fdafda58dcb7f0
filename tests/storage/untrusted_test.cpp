// Tests which names of listings are used, and how a server's text is shown.
#include "storage/untrusted.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chexbench::storage {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ListedNames, MayNotLeadOutOfTheirFolder) {
  for (const char* name : {"", ".", "..", "../x", "a/b", "/etc"}) EXPECT_FALSE(is_one_name(name)) << name;
  for (const char* name : {"a.png", "...", "a b", "\\", "~"}) EXPECT_TRUE(is_one_name(name)) << name;
}

TEST(ListedNames, MayNotHoldWhatEndsATextOrReachesATerminal) {
  for (const std::string& name : {"a\0.png"s, "a\n"s, "\x1B[2J"s, "\x7F"s, "a\xC2\x9B"s, "Icon\r"s}) {
    EXPECT_FALSE(is_safe_name(name)) << shown(name);
  }
  for (const char* name : {"a.png", "\u00e4.png", "\u00a0", "\u6771", "a b"}) EXPECT_TRUE(is_safe_name(name)) << name;
  EXPECT_TRUE(is_safe_name(std::string(kMostNameBytes, 'a')));
  EXPECT_FALSE(is_safe_name(std::string(kMostNameBytes + 1, 'a')));
}

TEST(ListedNames, AreLeftOutWithOneWarningThatShowsTheFirst) {
  const std::string folder = "s3://b/images";
  ListedNames names(folder);
  EXPECT_TRUE(names.take("a.png"));
  for (const char* name : {"..", "b\x1B[2J", "c\n"}) EXPECT_FALSE(names.take(name));
  testing::internal::CaptureStderr();
  names.tell();
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_THAT(told,
              AllOf(HasSubstr("s3://b/images: 2 of its names"), HasSubstr("'b\\x1B[2J'"), Not(HasSubstr("\x1B"))));
}

TEST(ShownText, HasNoControlCharacterAndAnEnd) {
  EXPECT_EQ(shown("plain 'text'"), "plain 'text'");
  EXPECT_EQ(shown("a\0\x1B\n\xFF"s), "a\\x00\\x1B\\x0A\\xFF");
  EXPECT_EQ(shown(std::string(1000, 'x'), 10), "xxxxxxxxxx...");
}

}  // namespace
}  // namespace chexbench::storage

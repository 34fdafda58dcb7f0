#include "storage/http/http_fetcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "storage/http/fake_http.hpp"

namespace chexbench::storage {
namespace {

using test::FakeClient;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const HttpTarget kTarget{.path = "s3://b/x", .url = "http://h/b/x"};

class HttpFetcherTest : public testing::Test {
 protected:
  HttpFetcher fetcher(FakeClient::Answer answer, int tries = 3) {
    return {std::make_unique<FakeClient>(std::move(answer)), dialect_,
            RetryPolicy{.tries = tries, .first_delay_s = 1e-4, .most_delay_s = 1e-3}};
  }
  static std::string read_range(HttpFetcher& one, std::uint64_t first, std::size_t bytes, bool wanted = true) {
    std::vector<std::byte> part(bytes);
    RangePieces pieces(part);
    one.read_range(kTarget, first, pieces, [wanted] { return wanted; });
    return test::text_of(part);
  }
  const test::PlainDialect dialect_;
  ByteBuffer buffer_;
};

TEST(Backoff, DoublesUpToItsMostAndIsSpreadOverAllOfIt) {
  const RetryPolicy policy{.first_delay_s = 0.1, .most_delay_s = 1};
  EXPECT_DOUBLE_EQ(backoff_s(policy, 1, 1.0), 0.1);
  EXPECT_DOUBLE_EQ(backoff_s(policy, 3, 1.0), 0.4);
  EXPECT_DOUBLE_EQ(backoff_s(policy, 30, 1.0), 1.0);
  EXPECT_DOUBLE_EQ(backoff_s(policy, 3, 0.25), 0.1);
  EXPECT_DOUBLE_EQ(backoff_s(policy, 3, 0.0), 0.0);
}

TEST_F(HttpFetcherTest, ReadsAWholeObject) {
  HttpFetcher one = fetcher([](const HttpRequest& request, const auto& sink) {
    EXPECT_EQ(request.url, kTarget.url);
    return test::send({.status = 200, .length = 5}, "hello", sink);
  });
  EXPECT_EQ(test::text_of(one.read(kTarget, buffer_)), "hello");
}

TEST_F(HttpFetcherTest, ReadsAnObjectOfUnknownLength) {
  const std::string body(1000, 'x');
  HttpFetcher one = fetcher([&](const auto&, const auto& sink) { return test::send({.status = 200}, body, sink); });
  EXPECT_EQ(test::text_of(one.read(kTarget, buffer_)), body);
}

// libcurl documents that its first call may have no bytes; their address is null then, which memcpy must not get.
TEST_F(HttpFetcherTest, TakesPiecesWithoutBytes) {
  HttpFetcher one = fetcher([](const HttpRequest& request, const auto& sink) {
    HttpReply reply = request.headers.empty() ? HttpReply{.status = 200, .length = 5}
                                              : HttpReply{.status = 206, .length = 5, .content_range = "bytes 0-4/5"};
    for (const char* piece : {"", "hello", ""}) {
      if (reply.failure.empty())
        reply.failure = sink(reply, *piece == 0 ? std::span<const std::byte>() : test::bytes_of(piece));
    }
    return reply;
  });
  EXPECT_EQ(test::text_of(one.read(kTarget, buffer_)), "hello");
  EXPECT_EQ(read_range(one, 0, 5), "hello");
}

TEST_F(HttpFetcherTest, TriesAgainAfterWhatMayPassAndForgetsTheHalfThatCame) {
  int asked = 0;
  HttpFetcher one = fetcher([&](const auto&, const auto& sink) {
    if (++asked == 1) return HttpReply{.status = 503};
    if (asked == 2) {
      HttpReply half = test::send({.status = 200, .length = 5}, "he", sink);
      half.failure = "connection reset";
      half.is_temporary = true;
      return half;
    }
    return test::send({.status = 200, .length = 5}, "hello", sink);
  });
  EXPECT_EQ(test::text_of(one.read(kTarget, buffer_)), "hello");
  EXPECT_EQ(asked, 3);
}

// Requests that a throttling server postpones succeed later.
TEST_F(HttpFetcherTest, WaitsAsLongAsAServerThatThrottlesAsks) {
  for (const int status : {429, 503}) {
    constexpr double kAskedS = 0.2;
    double refused_s = 0;
    HttpFetcher one = fetcher([&](const auto&, const auto& sink) {
      if (refused_s == 0) {
        refused_s = now_s();
        return HttpReply{.status = status, .retry_after_s = kAskedS};
      }
      EXPECT_GE(now_s() - refused_s, kAskedS);
      return test::send({.status = 200, .length = 5}, "hello", sink);
    });
    EXPECT_EQ(test::text_of(one.read(kTarget, buffer_)), "hello") << status;
  }
}

TEST_F(HttpFetcherTest, GivesUpWhenTriesAreUsedUp) {
  int asked = 0;
  HttpFetcher one = fetcher([&](const auto&, const auto&) { return HttpReply{.status = ++asked > 0 ? 500 : 0}; });
  EXPECT_THAT(message_of<DataError>([&] { one.read(kTarget, buffer_); }),
              AllOf(HasSubstr("s3://b/x"), HasSubstr("500"), HasSubstr("3 tries"), Not(HasSubstr("http://h"))));
  EXPECT_EQ(asked, 3);
}

TEST_F(HttpFetcherTest, DoesNotTryAgainWhatWillNotPass) {
  int asked = 0;
  HttpFetcher one = fetcher([&](const auto&, const auto&) { return HttpReply{.status = ++asked > 0 ? 403 : 0}; });
  EXPECT_THAT(message_of<DataError>([&] { one.read(kTarget, buffer_); }), HasSubstr("403"));
  EXPECT_EQ(asked, 1);
}

TEST_F(HttpFetcherTest, KnowsNoSizeOfWhatIsNotThere) {
  HttpFetcher one = fetcher([](const auto&, const auto&) { return HttpReply{.status = 404}; });
  EXPECT_EQ(one.size(kTarget), std::nullopt);
}

TEST_F(HttpFetcherTest, AsksForASizeOnce) {
  int asked = 0;
  HttpFetcher one = fetcher([&](const HttpRequest& request, const auto&) {
    ++asked;
    EXPECT_TRUE(request.head_only);
    return HttpReply{.status = 200, .length = 7};
  });
  EXPECT_EQ(one.size(kTarget), 7u);
  EXPECT_EQ(one.size(kTarget), 7u);
  EXPECT_EQ(asked, 1);
}

TEST_F(HttpFetcherTest, ReadsARange) {
  HttpFetcher one = fetcher(
      [](const HttpRequest& request, const auto& sink) { return test::send_range("0123456789", request, sink); });
  EXPECT_EQ(read_range(one, 2, 4), "2345");
}

TEST_F(HttpFetcherTest, RefusesARangeThatIsNotTheOneAskedFor) {
  struct Case {
    HttpReply reply;
    std::string body;
    std::string failure;
  };
  for (const Case& wrong :
       {Case{{.status = 200, .length = 10}, "0123456789", "whole files"},
        Case{{.status = 206, .content_range = "bytes 0-3/10"},
             "0123",
             "asked for bytes 2-5, the server sends 'bytes 0-3/10'"},
        Case{{.status = 206, .content_range = "bytes \x1B[2J"}, "0123", "the server sends 'bytes \\x1B[2J'"},
        Case{{.status = 206, .content_range = "bytes 2-5/10"}, "2345678", "more bytes"},
        Case{{.status = 206, .content_range = "bytes 2-5/10"}, "23", "sends 2 of 4"}}) {
    HttpFetcher one = fetcher([&](const auto&, const auto& sink) { return test::send(wrong.reply, wrong.body, sink); });
    EXPECT_THAT(message_of<DataError>([&] { read_range(one, 2, 4); }),
                AllOf(HasSubstr(wrong.failure), Not(HasSubstr("\x1B"))));
  }
}

TEST_F(HttpFetcherTest, LeavesARangeThatNobodyWantsAnyMore) {
  int asked = 0;
  HttpFetcher one = fetcher([&](const HttpRequest& request, const auto& sink) {
    ++asked;
    return test::send_range("0123456789", request, sink);
  });
  read_range(one, 2, 4, false);
  EXPECT_EQ(asked, 1);
}

TEST_F(HttpFetcherTest, NoticesAnObjectThatChanged) {
  std::string tag = "\"1\"", body = "hello";
  HttpFetcher one = fetcher([&](const auto&, const auto& sink) {
    return test::send({.status = 200, .length = body.size(), .etag = tag}, body, sink);
  });
  one.read(kTarget, buffer_);
  one.read(kTarget, buffer_);
  tag = "\"2\"";
  EXPECT_THAT(message_of<DataError>([&] { one.read(kTarget, buffer_); }), HasSubstr("changed under the run"));
  tag = "\"1\"";
  body = "shorter or not";
  EXPECT_THAT(message_of<DataError>([&] { one.read(kTarget, buffer_); }), HasSubstr("had 5 bytes and has 14 now"));
}

// Sends pieces of 1 MiB until the sink has enough.
HttpReply send_for_ever(HttpReply reply, const HttpClient::Sink& sink, int* mebibytes) {
  const std::string piece(1 << 20, 'x');
  for (*mebibytes = 0; reply.failure.empty(); ++*mebibytes) reply.failure = sink(reply, test::bytes_of(piece));
  return reply;
}

TEST_F(HttpFetcherTest, TakesNoMoreThanItsLimitFromAnEndlessBody) {
  int mebibytes = 0;
  HttpFetcher one =
      fetcher([&](const auto&, const auto& sink) { return send_for_ever({.status = 200}, sink, &mebibytes); });
  EXPECT_THAT(message_of<DataError>([&] { one.read(kTarget, buffer_); }),
              AllOf(HasSubstr("cannot read s3://b/x"), HasSubstr("more than 67108864 bytes")));
  EXPECT_EQ(mebibytes, 65);
  EXPECT_THAT(message_of<DataError>([&] { one.read_listing(kTarget, 5 << 20); }), HasSubstr("more than 5242880 bytes"));
  EXPECT_EQ(mebibytes, 6);
}

TEST_F(HttpFetcherTest, TakesNothingOfABodyThatIsAnnouncedTooLong) {
  int mebibytes = 0;
  HttpFetcher one = fetcher([&](const auto&, const auto& sink) {
    return send_for_ever({.status = 200, .length = std::uint64_t{1} << 40}, sink, &mebibytes);
  });
  EXPECT_THAT(message_of<DataError>([&] { one.read(kTarget, buffer_); }), HasSubstr("more than 536870912 bytes"));
  EXPECT_EQ(mebibytes, 1);
}

TEST_F(HttpFetcherTest, TakesNoMoreThanAnObjectHad) {
  int mebibytes = 0;
  HttpFetcher one =
      fetcher([&](const auto&, const auto& sink) { return send_for_ever({.status = 200}, sink, &mebibytes); });
  one.known().expect(kTarget.path, {.bytes = 5, .tag = ""});
  EXPECT_THAT(message_of<DataError>([&] { one.read(kTarget, buffer_); }), HasSubstr("it had 5 bytes"));
  EXPECT_EQ(mebibytes, 1);
}

TEST_F(HttpFetcherTest, RefusesWhatIsCompressedOnTheWay) {
  HttpFetcher one = fetcher([](const auto&, const auto& sink) {
    return test::send({.status = 200, .content_encoding = "gzip"}, "hello", sink);
  });
  EXPECT_THAT(message_of<DataError>([&] { one.read(kTarget, buffer_); }), HasSubstr("compressed (gzip)"));
  const HttpTarget packed{.path = "s3://b/x.gz", .url = "http://h/b/x.gz"};
  EXPECT_EQ(test::text_of(one.read(packed, buffer_)), "hello");
}

TEST_F(HttpFetcherTest, HoldsAnObjectAgainstItsListing) {
  HttpFetcher one = fetcher([](const auto&, const auto& sink) {
    return test::send({.status = 200, .length = 5, .etag = "\"2\""}, "hello", sink);
  });
  one.known().expect(kTarget.path, {.bytes = 5, .tag = "\"1\""});
  EXPECT_EQ(one.size(kTarget), 5u);
  EXPECT_THAT(message_of<DataError>([&] { one.read(kTarget, buffer_); }), HasSubstr("its version was \"1\""));
}

}  // namespace
}  // namespace chexbench::storage

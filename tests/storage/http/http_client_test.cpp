// libcurl, as the stores use it, with a server of this test.
#include "storage/http/http_client.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "storage/http/fake_http.hpp"

namespace chexbench::storage {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Answers each request on a connection, in a separate thread, with a function's result; an empty text closes it.
class Server {
 public:
  using Answer = std::function<std::string(const std::string& request)>;

  explicit Server(Answer answer) : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof address;
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, general, bytes), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    EXPECT_EQ(::getsockname(listener_, general, &bytes), 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/b/x?q=1";
    accepting_ = std::jthread([this] { accept(); });
  }
  ~Server() {
    ::shutdown(listener_, SHUT_RDWR);
    accepting_ = {};
    for (const int connection : connections_) ::shutdown(connection, SHUT_RDWR);
    serving_.clear();
    for (const int connection : connections_) ::close(connection);
    ::close(listener_);
  }
  const std::string& url() const { return url_; }
  std::string tls_url() const { return "https" + url_.substr(std::string("http").size()); }
  std::size_t connections() const {
    const std::scoped_lock lock(mutex_);
    return connections_.size();
  }

 private:
  void accept() {
    for (int connection = 0; (connection = ::accept(listener_, nullptr, nullptr)) >= 0;) {
      const std::scoped_lock lock(mutex_);
      connections_.push_back(connection);
      serving_.emplace_back([this, connection] { serve(connection); });
    }
  }
  void serve(int connection) const {
    std::string request;
    for (char c = 0; ::recv(connection, &c, 1, 0) == 1;) {
      request += c;
      if (!request.ends_with("\r\n\r\n")) continue;
      const std::string sent = answer_(request);
      request.clear();
      for (std::size_t at = 0; at < sent.size();) {
        const ssize_t count = ::send(connection, sent.data() + at, sent.size() - at, MSG_NOSIGNAL);
        if (count < 0) return;
        at += static_cast<std::size_t>(count);
      }
      if (sent.empty() || sent.find("Connection: close") != std::string::npos) break;
    }
    ::shutdown(connection, SHUT_RDWR);
  }

  const Answer answer_;
  const int listener_;
  std::string url_;
  mutable std::mutex mutex_;
  std::vector<int> connections_;
  std::vector<std::jthread> serving_;
  std::jthread accepting_;
};

std::string answer_of(const std::string& body, const std::string& headers = "", const char* status = "206 Partial") {
  return std::string("HTTP/1.1 ") + status + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nContent-Range: bytes 0-" + std::to_string(body.size() - 1) + "/1000000\r\n" + headers + "\r\n" + body;
}

class HttpClientTest : public testing::Test {
 protected:
  // Reads bytes 0 to `bytes` - 1 through a client, like a store.
  std::string read(const std::string& url, std::size_t bytes) { return read(url, bytes, fetcher_); }
  std::string read(const std::string& url, std::size_t bytes, HttpFetcher& fetcher) {
    std::string part(bytes, '?');
    RangePieces pieces(std::as_writable_bytes(std::span(part)));
    fetcher.read_range({.path = "s3://b/x", .url = url}, 0, pieces, [this] { return wanted_.load(); });
    return part;
  }
  std::string failure(const std::string& url, std::size_t bytes) { return failure(url, bytes, fetcher_); }
  std::string failure(const std::string& url, std::size_t bytes, HttpFetcher& fetcher) {
    return message_of<DataError>([&] { read(url, bytes, fetcher); });
  }
  HttpReply ask(const HttpRequest& request) const {
    return client_->perform(request, [](const HttpReply&, std::span<const std::byte>) { return std::string(); });
  }
  const std::unique_ptr<HttpClient> client_ = make_http_client();
  const test::PlainDialect dialect_;
  std::atomic<bool> wanted_ = true;
  HttpFetcher fetcher_{make_http_client(), dialect_, {.tries = 1, .timeout_s = 20}};
};

TEST_F(HttpClientTest, ReceivesRangesOnOneConnection) {
  const std::string body(3'000'000, 'b');
  std::string asked;
  Server server([&](const std::string& request) {
    asked = request;
    return answer_of(body);
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read(server.url(), body.size()), body);
  EXPECT_EQ(server.connections(), 1u);
  EXPECT_THAT(asked, AllOf(HasSubstr("GET /b/x?q=1 HTTP/1.1\r\n"), HasSubstr("\r\nRange: bytes=0-2999999\r\n"),
                           HasSubstr("\r\nUser-Agent: chexbench\r\n"), HasSubstr("\r\nHost: 127.0.0.1:")));
}

TEST_F(HttpClientTest, SendsTheHostThatWasSignedAndNoOther) {
  std::string asked;
  Server server([&](const std::string& request) {
    asked = request;
    return answer_of("hello");
  });
  EXPECT_EQ(ask({.url = server.url(), .headers = {"host: bucket.example"}}).status, 206);
  EXPECT_THAT(asked, AllOf(HasSubstr("\r\nHost: bucket.example\r\n"), Not(HasSubstr("127.0.0.1"))));
}

TEST_F(HttpClientTest, ConnectsAgainWhereTheServerCloses) {
  Server server([](const std::string&) { return answer_of("hello", "Connection: close\r\n"); });
  EXPECT_EQ(read(server.url(), 5), "hello");
  EXPECT_EQ(read(server.url(), 5), "hello");
  EXPECT_EQ(server.connections(), 2u);
}

TEST_F(HttpClientTest, TakesAnotherConnectionIfAServerClosesAtTheNextRequest) {
  std::atomic<int> asked = 0;
  Server server([&](const std::string&) { return ++asked == 2 ? std::string() : answer_of("hello"); });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read(server.url(), 5), "hello");
  EXPECT_EQ(asked, 4) << "the second one was sent again";
  EXPECT_EQ(server.connections(), 2u);
}

TEST_F(HttpClientTest, ReadsARangeInChunks) {
  Server server([](const std::string&) {
    return std::string("HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-4/9\r\nTransfer-Encoding: chunked\r\n\r\n") +
           "5\r\nhello\r\n0\r\n\r\n";
  });
  EXPECT_EQ(read(server.url(), 5), "hello");
}

TEST_F(HttpClientTest, NoticesABodyThatEndsTooEarly) {
  Server server([](const std::string&) {
    return std::string("HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-4/9\r\nContent-Length: 5\r\n") +
           "X: Connection: close\r\n\r\nhel";
  });
  EXPECT_THAT(failure(server.url(), 5), HasSubstr("transfer closed with 2 bytes remaining to read"));
}

TEST_F(HttpClientTest, AHeadWithoutEndIsNotReadForEver) {
  Server server([](const std::string&) { return "HTTP/1.1 206 Partial\r\n" + std::string(600'000, 'x'); });
  EXPECT_THAT(failure(server.url(), 5), HasSubstr("cannot read s3://b/x"));
}

std::string object_of(const std::string& body, const std::string& headers = "") {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body;
}

TEST_F(HttpClientTest, ReceivesObjectsOfKnownSizeOnTheSameConnection) {
  const std::string body(3'000'000, 'b');
  std::string asked;
  Server server([&](const std::string& request) {
    asked = request;
    return object_of(body, "ETag: \"1\"\r\n");
  });
  const HttpTarget object{.path = "s3://b/x", .url = server.url()};
  fetcher_.known().expect(object.path, {.bytes = body.size(), .tag = "\"1\""});
  ByteBuffer buffer;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(test::text_of(fetcher_.read(object, buffer)), body);
  EXPECT_EQ(server.connections(), 1u);
  EXPECT_THAT(asked, Not(HasSubstr("Range:")));
}

TEST_F(HttpClientTest, GoesOnAfterAnAnswerThatWasRefused) {
  std::string body = "hello, world";
  Server server([&](const std::string&) { return object_of(body); });
  const HttpTarget object{.path = "s3://b/x", .url = server.url()};
  fetcher_.known().expect(object.path, {.bytes = 5, .tag = ""});
  ByteBuffer buffer;
  EXPECT_THAT(message_of<DataError>([&] { fetcher_.read(object, buffer); }),
              HasSubstr("it had 5 bytes and has 12 now"));
  body = "HELLO";
  EXPECT_EQ(test::text_of(fetcher_.read(object, buffer)), "HELLO");
}

constexpr const char* kBusyInChunks =
    "HTTP/1.1 503 Slow Down\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbu\r\n2;x=1\r\nsy\r\n0\r\n\r\n";

// A server that throttles gets no second request for its reason.
TEST_F(HttpClientTest, ReadsTheTextOfAnErrorOnItsConnection) {
  for (const std::string& busy :
       {answer_of("busy", "Retry-After: 7\r\n", "503 Slow Down"), std::string(kBusyInChunks)}) {
    std::atomic<int> asked = 0;
    const Server server([&](const std::string&) { return ++asked < 3 ? busy : answer_of("hello"); });
    for (int i = 0; i < 2; ++i) {
      const HttpReply reply = ask({.url = server.url()});
      EXPECT_EQ(reply.status, 503);
      EXPECT_EQ(reply.error_text, "busy");
      EXPECT_EQ(reply.retry_after_s.value_or(7), 7);
    }
    EXPECT_EQ(ask({.url = server.url()}).status, 206);
    EXPECT_EQ(asked, 3);
    EXPECT_EQ(server.connections(), 1u);
  }
}

TEST_F(HttpClientTest, KnowsBothFormsOfRetryAfter) {
  const auto asked_s = [this](const std::string& when) {
    const Server server(
        [&](const std::string&) { return answer_of("busy", "Retry-After: " + when + "\r\n", "503 Busy"); });
    return ask({.url = server.url()}).retry_after_s;
  };
  EXPECT_EQ(asked_s("7"), 7);
  EXPECT_GT(asked_s("Fri, 01 Jan 2100 00:00:00 GMT").value_or(0), 1e6);
  EXPECT_EQ(asked_s("Fri, 01 Jan 1999 00:00:00 GMT"), std::nullopt);
  EXPECT_EQ(asked_s("soon"), std::nullopt);
}

TEST_F(HttpClientTest, LeavesAConnectionWhoseErrorHasNoEnd) {
  std::atomic<int> asked = 0;
  Server server([&](const std::string&) {
    return ++asked > 1 ? answer_of("hello")
                       : "HTTP/1.1 503 Slow Down\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n";
  });
  EXPECT_THAT(failure(server.url(), 5), HasSubstr("the server says 503"));
  EXPECT_EQ(read(server.url(), 5), "hello");
  EXPECT_EQ(server.connections(), 2u);
}

// The server waits for the end of a request, which the first message of TLS does not have.
TEST_F(HttpClientTest, AHandshakeEndsWhenNobodyWaits) {
  const Server server([](const std::string&) { return std::string(); });
  int asked = 0;
  EXPECT_EQ(ask({.url = server.tls_url(), .wanted = [&] { return ++asked < 2; }}).status, 0);
  EXPECT_EQ(asked, 2);
  wanted_ = false;
  EXPECT_EQ(read(server.tls_url(), 5), "?????");
}

TEST_F(HttpClientTest, ATryTakesTheTimeToConnectOnce) {
  const Server server([](const std::string&) { return std::string(); });
  HttpFetcher impatient{make_http_client(), dialect_, {.tries = 1, .timeout_s = 0.5}};
  EXPECT_THAT(failure(server.tls_url(), 5, impatient), AllOf(HasSubstr("cannot read s3://b/x"), HasSubstr("time")));
  EXPECT_LE(server.connections(), 1u);
}

TEST_F(HttpClientTest, AServerThatIsNotThereIsTriedAgain) {
  std::string url;
  {
    const Server gone([](const std::string&) { return std::string(); });
    url = gone.url();
  }
  HttpFetcher stubborn{make_http_client(), dialect_, {.tries = 2, .first_delay_s = 0.001}};
  EXPECT_THAT(failure(url, 5, stubborn), AllOf(HasSubstr("Failed to connect"), HasSubstr("(2 tries)")));
}

TEST_F(HttpClientTest, EndsWhenNobodyWaits) {
  Server server([this](const std::string&) {
    wanted_ = false;
    return std::string("HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-4/9\r\nContent-Length: 5\r\n\r\nhel");
  });
  read(server.url(), 5);
  EXPECT_FALSE(wanted_);
}

}  // namespace
}  // namespace chexbench::storage

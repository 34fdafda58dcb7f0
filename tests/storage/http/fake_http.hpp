// A client that answers from a script instead of a network.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "storage/http/http_fetcher.hpp"

namespace chexbench::storage::test {

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class FakeClient final : public HttpClient {
 public:
  using Answer = std::function<HttpReply(const HttpRequest&, const Sink&)>;
  explicit FakeClient(Answer answer) : answer_(std::move(answer)) {}
  HttpReply perform(const HttpRequest& request, const Sink& sink) override { return answer_(request, sink); }
  void cancel() override { cancelled_ = true; }
  bool is_cancelled() const override { return cancelled_; }

 private:
  const Answer answer_;
  std::atomic<bool> cancelled_ = false;
};

// Passes `body` to the sink in two pieces, like a client.
inline HttpReply send(HttpReply reply, const std::string& body, const HttpClient::Sink& sink) {
  const std::size_t half = body.size() / 2;
  for (const std::string& piece : {body.substr(0, half), body.substr(half)}) {
    if (piece.empty()) continue;
    reply.failure = sink(reply, bytes_of(piece));
    if (!reply.failure.empty()) break;
  }
  return reply;
}

// Answers a request for a range of `body`, like a server that supports ranges.
inline HttpReply send_range(const std::string& body, const HttpRequest& request, const HttpClient::Sink& sink) {
  const std::string& range = request.headers.at(0);  // "Range: bytes=2-5"
  const std::size_t equals = range.find('='), dash = range.find('-');
  const std::size_t first = std::stoul(range.substr(equals + 1)), last = std::stoul(range.substr(dash + 1));
  const std::string part = body.substr(first, last - first + 1);
  HttpReply reply{.status = 206, .length = part.size(), .etag = "\"1\""};
  reply.content_range = "bytes " + std::to_string(first) + "-" + std::to_string(first + part.size() - 1) + "/" +
                        std::to_string(body.size());
  return send(std::move(reply), part, sink);
}

class PlainDialect final : public HttpDialect {
 public:
  HttpRequest request(const std::string& url, const std::string& range, bool head_only) const override {
    HttpRequest request{.url = url, .headers = {}, .head_only = head_only};
    if (!range.empty()) request.headers.push_back("Range: " + range);
    return request;
  }
};

}  // namespace chexbench::storage::test

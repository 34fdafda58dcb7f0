// One HTTP request and its answer. What to make of them is http_fetcher.hpp's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace chexbench::storage {

struct HttpRequest {
  std::string url;                   // encoded
  std::vector<std::string> headers;  // "Name: value"; may hold secrets
  bool head_only = false;
  bool may_redirect = true;
  bool may_use_netrc = false;  // a password for the host from ~/.netrc
  double timeout_s = 20;       // to connect, and with not a byte coming in
};

// What came back.
struct HttpReply {
  int status = 0;                       // 0: no answer
  std::string failure;                  // why there is no whole answer, without secrets; empty: it is whole
  bool is_temporary = false;            // the failure may be gone at the next try
  std::optional<std::uint64_t> length;  // Content-Length
  std::string content_range;
  std::string etag;
  std::string last_modified;
  std::optional<double> retry_after_s;
  std::string error_text;  // the beginning of the body where the status is no 2xx
};

// Thread-safe. Connections are kept and used again, one for each request that goes on at a time.
class HttpClient {
 public:
  // Takes a piece of the body of a 2xx; the reply's headers are complete. What it returns ends the transfer and becomes
  // its failure, unless it is empty.
  using Sink = std::function<std::string(const HttpReply& reply, std::span<const std::byte> piece)>;

  virtual ~HttpClient() = default;
  // Sends the request once. Failures are told in the reply. Ends within a second once cancel() was called or a signal
  // asked the run to end.
  virtual HttpReply perform(const HttpRequest& request, const Sink& sink) = 0;
  // Ends all requests, now and later.
  virtual void cancel() = 0;
  virtual bool is_cancelled() const = 0;
};

// @throws DataError where this build has no libcurl
std::unique_ptr<HttpClient> make_http_client();

}  // namespace chexbench::storage

// Sends single HTTP requests. http_fetcher.hpp interprets the replies and decides what to retry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/trial_spec.hpp"
#include "storage/retry.hpp"

namespace chexbench::storage {

// Returns the value of an environment variable from which stores take keys, endpoints and certificates, or "" if it is
// not set. Tests pass a fake environment.
using Environment = std::function<std::string(const std::string&)>;

// The Environment of this process. Thread-safe as long as no thread changes the environment.
inline std::string environment_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : value;
}

constexpr std::size_t kMostErrorBytes = 4096;  // kept of the body of an error
constexpr int kPartialContent = 206;           // the status of an answer that is a part of an object

// A GET or HEAD request.
struct HttpRequest {
  // Is called about once a second during a request, with the seconds since it began.
  using WaitNote = std::function<void(double waited_s)>;

  std::string url;                   // percent-encoded
  std::vector<std::string> headers;  // "Name: value"; may contain secrets
  bool head_only = false;
  // Which redirects are followed (redirect_refusal()); none: a redirect is treated as an ordinary answer.
  std::optional<spec::Redirects> redirects = {};
  bool may_use_netrc = false;         // take a password for the host from ~/.netrc
  RetryPolicy limits = {};            // its timeouts; the caller does the retries
  WaitNote note_wait = {};            // may be empty
  std::function<bool()> wanted = {};  // whether the answer is still needed; called often; may be empty
};

// The outcome of one request. Texts from the server are unmodified: shown() makes them safe to print.
struct HttpReply {
  int status = 0;                       // 0: no answer
  std::string failure;                  // why the answer is not complete, without secrets; empty: it is complete
  bool is_temporary = false;            // the next try may succeed
  std::optional<std::uint64_t> length;  // Content-Length
  std::string content_encoding;
  std::string content_range;
  std::string etag;
  std::string last_modified;
  std::optional<double> retry_after_s;
  std::string error_text;  // the beginning of the body (at most kMostErrorBytes) if the status is not 2xx
};

// Adds a header line over HTTP/1 to `reply`: a status line starts it afresh, maybe after a redirect or a 1xx answer.
void read_header_line(HttpReply& reply, std::string_view line);

// Sends requests over connections that it keeps and reuses, one for each request in flight. Thread-safe.
class HttpClient {
 public:
  // Receives one piece of the body of a 2xx reply, whose headers are complete by then. Returning a non-empty text ends
  // the transfer and becomes its failure. perform() rethrows the sink's exceptions.
  using Sink = std::function<std::string(const HttpReply& reply, std::span<const std::byte> piece)>;

  virtual ~HttpClient() = default;
  // Sends the request once, and after each redirect that may be followed again, and blocks until it ends.
  // HttpReply::failure reports failures of the transfer, and a redirect that may not be followed. Ends within a second
  // after cancel() is called or a signal asks the run to end.
  // @throws DataError if libcurl runs out of memory
  virtual HttpReply perform(const HttpRequest& request, const Sink& sink) = 0;
  // Ends all requests in flight, and makes later ones fail at once.
  virtual void cancel() = 0;
  virtual bool is_cancelled() const = 0;
};

// Returns a client that trusts the certificates of trusted_certificates().
// @throws DataError if this build has no libcurl, or libcurl does not start
std::unique_ptr<HttpClient> make_http_client();

}  // namespace chexbench::storage

// A connection to a web server on which objects and ranges are requested by hand, so that they are received where they
// stay. libcurl, which connects and encrypts, would receive them into a buffer of its own, out of which they had to be
// copied.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "storage/http/http_client.hpp"

namespace chexbench::storage {

// Not thread-safe.
class HttpLine {
 public:
  virtual ~HttpLine() = default;
  // Sends the request, which must have `into`, and receives the answer. Returns std::nullopt if that is neither one of
  // status 200 or 206 with a known length nor an error with a text: then nothing of it has been used, and another
  // client may say what it is.
  // `ends` is asked often; if it returns true, the reply fails.
  virtual std::optional<HttpReply> get(const HttpRequest& request, const std::function<bool()>& ends) = 0;
  // Whether the last request brought an answer that was not used and tells no error: the next one will be alike. (A
  // server may also close a connection when the next request is sent.)
  virtual bool answers_otherwise() const = 0;
  // Whether another request may be sent on it.
  virtual bool is_open() const = 0;
};

// Why no connection was made.
struct ConnectFailure {
  int curl_code = 0;   // a CURLcode; 0: another client may try
  std::string reason;  // libcurl's own words; may be empty
};

// Connects to the server of the URL. Returns null if that fails (then `failure` says why), or `ends`, which is asked
// about once a second, returns true. `ca_file` holds the certificates to trust; empty: the system's.
std::unique_ptr<HttpLine> connect_line(const HttpRequest& request, const std::string& ca_file,
                                       const std::function<bool()>& ends, ConnectFailure& failure);

}  // namespace chexbench::storage

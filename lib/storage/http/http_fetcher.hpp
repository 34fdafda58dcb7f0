// Fetches objects over HTTP: it retries failed requests, and checks each answer against the request and what is known
// of the object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/file_bytes.hpp"
#include "storage/http/http_client.hpp"
#include "storage/range_stream.hpp"
#include "storage/retry.hpp"
#include "storage/untrusted.hpp"

namespace chexbench::storage {

// One object to request.
struct HttpTarget {
  std::string path;  // for messages, and the key of KnownVersions
  std::string url;   // percent-encoded
};

// What differs between the servers of one kind of store: how to write a request, and what an error means. Must be
// thread-safe.
class HttpDialect {
 public:
  virtual ~HttpDialect() = default;
  // Returns the request for one try at `url`, signed if the server needs that. `range` is the value of the Range
  // header, "bytes=first-last", or empty.
  virtual HttpRequest request(const std::string& url, const std::string& range, bool head_only) const = 0;
  // Returns details of the error for its message, without secrets; may be empty.
  virtual std::string reason(const HttpReply&) const { return {}; }
};

// Fetches the objects of one store. Thread-safe.
// @throws DataError from every function that asks the server: at once if the answer is wrong or the object changed, and
// after the last try if the failure is temporary; the message names the path and the reason
// @throws InterruptedError from the same functions, if a signal asked the run to end
class HttpFetcher {
 public:
  // `dialect` must outlive the fetcher. `name` names the store in warnings.
  HttpFetcher(std::unique_ptr<HttpClient> client, const HttpDialect& dialect, const RetryPolicy& policy,
              const std::string& name = "a store");

  // Returns the bytes of the object, or std::nullopt if there is none. Asks the server only if they are not known yet.
  std::optional<std::uint64_t> size(const HttpTarget& target);
  // Reads the whole object into `buffer`; the view is valid until the next use of the buffer. An object of more than
  // kMostObjectBytes, or kMostUnannouncedBytes if nothing announces its size, is a DataError.
  std::span<const std::byte> read(const HttpTarget& target, ByteBuffer& buffer);
  // Returns the answer to a listing of a folder, of at most `most_bytes` bytes. A listing is not an object, so it may
  // differ each time. With `may_be_absent`, returns std::nullopt if the server answers 404: there is no such folder.
  std::optional<std::string> read_listing(const HttpTarget& target, std::uint64_t most_bytes,
                                          bool may_be_absent = false);
  // Fills `pieces` with the bytes of the object from byte `first` on. Calls `wanted` whenever data arrives: false ends
  // the request and leaves `pieces` incomplete.
  void read_range(const HttpTarget& target, std::uint64_t first, RangePieces& pieces,
                  const std::function<bool()>& wanted);
  // The versions with which every answer is compared. Stores add what their listings report.
  KnownVersions& known() { return known_; }
  // Ends all current and future requests.
  void cancel() { client_->cancel(); }

 private:
  struct Ask {
    const HttpTarget& target;
    std::string range;
    bool head_only = false;
    bool may_be_absent = false;
    std::function<bool()> wanted = {};
  };
  // Retries until an answer is complete, and returns it. A 404 is an answer if ask.may_be_absent is set.
  HttpReply ask(const Ask& ask, const std::function<HttpClient::Sink()>& new_sink);
  HttpReply try_once(const Ask& ask, const HttpClient::Sink& sink);
  // @throws DataError if the object changed since it was first seen
  void check_version(const HttpTarget& target, const HttpReply& reply, std::optional<std::uint64_t> bytes);

  const std::unique_ptr<HttpClient> client_;
  const HttpDialect& dialect_;
  const RetryPolicy policy_;
  KnownVersions known_;
  RetryNotes notes_;
};

}  // namespace chexbench::storage

// Requests that are tried again, and answers that are held against what was asked and against what was known.
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
#include "storage/known_versions.hpp"
#include "storage/retry.hpp"

namespace chexbench::storage {

// One object, as a server is asked for it.
struct HttpTarget {
  std::string path;  // as in messages
  std::string url;   // encoded
};

// How a store's servers want to be asked, and what their errors mean.
class HttpDialect {
 public:
  virtual ~HttpDialect() = default;
  // For one try at `url`, signed where that is needed.
  virtual HttpRequest request(const std::string& url, const std::string& range, bool head_only) const = 0;
  // What the answer's body says about an error, without secrets; may be empty.
  virtual std::string reason(const HttpReply&) const { return {}; }
};

// Thread-safe. All functions @throw DataError naming the path and the reason, when tries are used up.
class HttpFetcher {
 public:
  HttpFetcher(std::unique_ptr<HttpClient> client, const HttpDialect& dialect, const RetryPolicy& policy);

  // Bytes of the object; nothing where there is none. Asks the server where they are not known yet.
  std::optional<std::uint64_t> size(const HttpTarget& target);
  // The whole object; the view is valid until the buffer's next use.
  std::span<const std::byte> read(const HttpTarget& target, ByteBuffer& buffer);
  // What the server says of a folder: no object, so it may differ each time.
  std::string read_listing(const HttpTarget& target);
  // The same; nothing where there is no such folder.
  std::optional<std::string> find_listing(const HttpTarget& target);
  // Fills `part` with the object's bytes from `first` on. `wanted` is asked at every piece: false ends the request, and
  // leaves `part` undefined.
  void read_range(const HttpTarget& target, std::uint64_t first, std::span<std::byte> part,
                  const std::function<bool()>& wanted);
  // What a listing tells of objects is told to it; every answer is held against it.
  KnownVersions& known() { return known_; }
  // Ends all that goes on.
  void cancel() { client_->cancel(); }

 private:
  struct Ask {
    const HttpTarget& target;
    std::string range;
    bool head_only = false;
    bool may_be_absent = false;
    std::function<bool()> wanted = {};
  };
  std::optional<std::string> ask_listing(const HttpTarget& target, bool may_be_absent);
  // Until there is a whole answer, which is returned; a 404 too where that is allowed.
  HttpReply ask(const Ask& ask, const std::function<HttpClient::Sink()>& new_sink);
  HttpReply try_once(const Ask& ask, const HttpClient::Sink& sink);
  // @throws DataError where the object is not the one that it was
  void check_version(const HttpTarget& target, const HttpReply& reply, std::optional<std::uint64_t> bytes);

  const std::unique_ptr<HttpClient> client_;
  const HttpDialect& dialect_;
  const RetryPolicy policy_;
  KnownVersions known_;
};

}  // namespace chexbench::storage

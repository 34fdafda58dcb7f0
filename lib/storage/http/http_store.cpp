#include "storage/http/http_store.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/errors.hpp"

namespace chexbench::storage {
namespace {

// The requests of one rank in flight: the interleave cycle of the pipeline `optimized`, and some that its files read
// ahead. Their threads wait, so they may exceed the cores.
constexpr std::size_t kRequestsAtOnce = 16;

}  // namespace

HttpStore::HttpStore(const std::string& root, std::unique_ptr<HttpDialect> dialect, std::unique_ptr<HttpClient> client,
                     const RetryPolicy& policy)
    : dialect_(std::move(dialect)),
      fetcher_(std::make_unique<HttpFetcher>(std::move(client), *dialect_, policy, root)),
      pool_(std::make_unique<ThreadPool>(kRequestsAtOnce)) {}

HttpStore::~HttpStore() { fetcher_->cancel(); }

std::optional<std::uint64_t> HttpStore::size(const std::string& path) const { return fetcher_->size(target(path)); }

std::span<const std::byte> HttpStore::read(const std::string& path, ByteBuffer& buffer) const {
  return fetcher_->read(target(path), buffer);
}

std::unique_ptr<ByteStream> HttpStore::stream(const std::string& path, std::stop_token stop) const {
  HttpTarget object = target(path);
  const std::optional<std::uint64_t> bytes = fetcher_->size(object);
  if (!bytes) throw DataError(fmt::format("cannot read {}: there is no such object", path));
  const auto read = [fetcher = fetcher_.get(), object = std::move(object)](auto first, auto& pieces,
                                                                           const auto& wanted) {
    fetcher->read_range(object, first, pieces, wanted);
  };
  return stream_ranges({.path = path, .size = *bytes, .read = read}, *pool_, plan_, std::move(stop));
}

}  // namespace chexbench::storage

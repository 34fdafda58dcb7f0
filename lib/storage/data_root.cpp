#include "storage/data_root.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/errors.hpp"
#include "storage/http/http_store.hpp"
#include "storage/nfs/nfs_store.hpp"
#include "storage/s3/aws_settings.hpp"
#include "storage/s3/s3_store.hpp"
#include "storage/shaped_store.hpp"
#include "storage/store.hpp"
#include "storage/url.hpp"

namespace chexbench::storage {
namespace {

std::shared_ptr<const Store> open_plain(const std::string& path, const spec::StoreSpec& spec) {
  const std::optional<Url> url = parse_url(path);
  if (!url) return local_store(spec.read);
  if (url->authority.empty()) {
    throw DataError(fmt::format("data.root '{}' names no {}", path, url->scheme == "s3" ? "bucket" : "host"));
  }
  const RetryPolicy policy{.tries = spec.tries, .timeout_s = spec.timeout_s};
  if (url->scheme == "http" || url->scheme == "https") {
    return make_web_store(path, make_http_client(), policy, spec.redirects);
  }
  if (url->scheme == "s3") {
    return make_s3_store(*url, spec, find_aws_settings(environment_variable), make_http_client(), policy);
  }
  if (url->scheme == "nfs") return make_nfs_store(*url, nfs_connect(), policy);
  throw DataError(fmt::format("data.root '{}': no store is called '{}' (known: a plain path, http, https, s3, nfs)",
                              path, url->scheme));
}

bool slows_down(const spec::StoreShape& shape) {
  return shape.bandwidth_mb_per_s || shape.iops || shape.latency_ms.value_or(0) > 0 || shape.jitter_ms.value_or(0) > 0;
}

std::shared_ptr<const Store> open_store(const std::string& path, const spec::StoreSpec& spec) {
  std::shared_ptr<const Store> store = open_plain(path, spec);
  return slows_down(spec.shape) ? shape_store(std::move(store), spec.shape) : store;
}

}  // namespace

DataRoot::DataRoot(std::string root) : DataRoot(spec::DataSpec{.root = std::move(root)}) {}

DataRoot::DataRoot(const spec::DataSpec& spec)
    : DataRoot(spec, open_store(without_last_slash(spec.root), spec.store)) {}

DataRoot::DataRoot(const std::string& root, std::shared_ptr<const Store> store_of_root)
    : DataRoot(spec::DataSpec{.root = root}, std::move(store_of_root)) {}

DataRoot::DataRoot(const spec::DataSpec& spec, std::shared_ptr<const Store> store_of_root)
    : path(without_last_slash(spec.root)), store(std::move(store_of_root)), layout(spec.layout), labels(spec.labels) {}

}  // namespace chexbench::storage

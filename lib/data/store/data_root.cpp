#include "data/store/data_root.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/errors.hpp"
#include "data/store/http_store.hpp"
#include "data/store/local_store.hpp"
#include "data/store/url.hpp"

namespace chexbench::data {
namespace {

std::shared_ptr<const Store> open_store(const spec::DataSpec& spec) {
  const std::optional<Url> url = parse_url(spec.root);
  if (!url) return local_store();
  if (url->authority.empty()) throw DataError(fmt::format("data.root '{}' names no host", spec.root));
  if (url->scheme == "http" || url->scheme == "https") return make_web_store(spec.root, make_http_client(), {});
  throw DataError(fmt::format("data.root '{}': no store is called '{}' (known: a plain path, http, https)", spec.root,
                              url->scheme));
}

}  // namespace

DataRoot::DataRoot(std::string root) : DataRoot(spec::DataSpec{.root = std::move(root)}) {}

DataRoot::DataRoot(const spec::DataSpec& spec) : path(spec.root), store(open_store(spec)) {}

}  // namespace chexbench::data

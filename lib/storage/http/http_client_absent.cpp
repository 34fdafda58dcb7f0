#include "core/errors.hpp"
#include "storage/http/http_client.hpp"

namespace chexbench::storage {

std::unique_ptr<HttpClient> make_http_client() {
  throw DataError(
      "this chexbench was built without libcurl and reads plain folders only: install it (scripts/setup build) and "
      "build again, or copy the data set here");
}

}  // namespace chexbench::storage

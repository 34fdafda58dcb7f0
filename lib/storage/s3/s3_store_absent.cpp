#include "core/errors.hpp"
#include "storage/s3/s3_store.hpp"

namespace chexbench::storage {

std::unique_ptr<Store> make_s3_store(const Url&, const spec::StoreSpec&, const AwsSettings&,
                                     std::unique_ptr<HttpClient>, const RetryPolicy&) {
  throw DataError(
      "this chexbench was built without libcrypto or pugixml and cannot read s3://: install them (scripts/setup build) "
      "and build again, or copy the data set here");
}

}  // namespace chexbench::storage

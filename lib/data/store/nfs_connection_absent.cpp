#include "core/errors.hpp"
#include "data/store/nfs_connection.hpp"

namespace chexbench::data {

NfsConnect nfs_connect() {
  throw DataError(
      "this chexbench was built without libnfs and cannot read nfs://: install it (scripts/setup build) and build "
      "again, or mount the folder and give its path");
}

}  // namespace chexbench::data

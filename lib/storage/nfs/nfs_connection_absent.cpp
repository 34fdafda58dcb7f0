#include "core/errors.hpp"
#include "storage/nfs/nfs_store.hpp"

namespace chexbench::storage {

NfsConnect nfs_connect() {
  throw DataError(
      "this chexbench was built without libnfs and cannot read nfs://: install it (scripts/setup build) and build "
      "again, or mount the folder and give its path");
}

}  // namespace chexbench::storage

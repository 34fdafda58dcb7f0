// The root of a data set: its store, and the path of its folder in that store.
#pragma once

#include <memory>
#include <string>

#include "spec/trial_spec.hpp"
#include "storage/store.hpp"

namespace chexbench::storage {

// A plain path is a folder of this machine; a scheme selects another store: http://, https://, s3:// or nfs://. If
// StoreSpec::shape slows the store down, `store` is the shaped one. Opening a root sends no request.
struct DataRoot {
  // Opens the store of `root` with the defaults of StoreSpec. Implicit, so that a path can be passed as a root.
  // @throws DataError if the scheme is unknown or this build cannot open it, if the URL has no host, bucket or export,
  // or if the settings of its store (port, endpoint, credentials) are wrong
  DataRoot(std::string root);                                  // NOLINT(google-explicit-constructor)
  DataRoot(const char* root) : DataRoot(std::string(root)) {}  // NOLINT(google-explicit-constructor)
  // Opens the store of spec.root with the settings of spec.store. @throws DataError as above
  explicit DataRoot(const spec::DataSpec& spec);
  // Uses a store that is already open.
  DataRoot(const std::string& root, std::shared_ptr<const Store> store_of_root);
  DataRoot(const spec::DataSpec& spec, std::shared_ptr<const Store> store_of_root);

  std::string path;  // as in the spec; a URL without the slashes at its end
  std::shared_ptr<const Store> store;
  spec::DataLayout layout = spec::DataLayout::automatic;
  spec::LabelsSpec labels = {};
};

}  // namespace chexbench::storage

// A data set's root: which store holds it, and the path of its folder there.
#pragma once

#include <memory>
#include <string>

#include "spec/experiment.hpp"
#include "storage/store.hpp"

namespace chexbench::storage {

// A plain path is a folder of this machine; a scheme names another store: http://, https://, s3://, nfs://. What
// StoreSpec says of its shape lies in front of any.
struct DataRoot {
  // Implicit, so that a path can stand for a root: with the defaults of StoreSpec.
  // @throws DataError for a scheme that is not known, or that this build cannot open
  DataRoot(std::string root);                                  // NOLINT(google-explicit-constructor)
  DataRoot(const char* root) : DataRoot(std::string(root)) {}  // NOLINT(google-explicit-constructor)
  explicit DataRoot(const spec::DataSpec& spec);
  // In a store that is open already.
  DataRoot(const std::string& root, std::shared_ptr<const Store> store_of_root);
  DataRoot(const spec::DataSpec& spec, std::shared_ptr<const Store> store_of_root);

  std::string path;
  std::shared_ptr<const Store> store;
  spec::DataLayout layout = spec::DataLayout::automatic;  // how it is to be read, and which labels it has
  spec::LabelsSpec labels = {};
};

}  // namespace chexbench::storage

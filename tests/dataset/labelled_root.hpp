// A fixture for tests of layouts: a folder of tables and images, read as its spec says.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/scratch.hpp"
#include "dataset/layouts.hpp"

namespace chexbench::dataset {

class LabelledRoot : public testing::Test {
 protected:
  void file(const std::string& name, std::string_view text = "1") { write_text(root_ / name, text); }
  void files(const std::vector<std::string>& names, std::string_view text = "1234") {
    for (const std::string& name : names) file(name, text);
  }
  storage::DataRoot root() {
    spec_.root = root_.path();
    return storage::DataRoot(spec_);
  }
  Index read() { return read_index(root()); }
  Dataset open(spec::Split split) {
    spec_.root = root_.path();
    spec_.split = split;
    return open_dataset(spec_);
  }
  // Returns the message of reading the index.
  template <typename Error>
  std::string failure() {
    return message_of<Error>([&] { read(); });
  }
  // Returns the message of opening a split.
  template <typename Error>
  std::string failure(spec::Split split) {
    return message_of<Error>([&] { open(split); });
  }
  static std::string text_of(const Index& index, std::size_t row) {
    return labels_text(index.rows.at(row).labels, index.label_names);
  }

  ScratchFolder root_;
  spec::DataSpec spec_;
};

}  // namespace chexbench::dataset

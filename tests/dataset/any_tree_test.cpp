// Tests with random folders that every file in them is used, is an image without a row, or is named as passed over.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/scratch.hpp"
#include "dataset/layouts.hpp"

namespace chexbench::dataset {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

constexpr const char* kFolders[] = {
    "",       "cat",   "dog",        "Train/cat", "test/dog",  "images",   "images_001/images",
    "cat/in", ".git",  "cached",     "answer",    "tfrecord",  "__MACOSX", "validation",
    "a b",    "dev/x", "images-224", "CAT",       "webdataset"};
constexpr const char* kEndings[] = {".png", ".PNG", ".jpg",  ".jpeg", ".bmp", ".tif",   ".webp", ".dcm",
                                    ".csv", ".tar", ".json", "",      ".txt", ".tfrec", ".gz",   ".xlsx"};
constexpr const char* kTables[] = {"image,Mass\n1.png,1\ncat/2.jpg,0\n3.png,1\n", "experiment,trial,x\n1,2,3\n",
                                   "image;Mass\r\n1.png;True\r\n", ""};

// The folder tree of a seed.
class Tree {
 public:
  explicit Tree(unsigned seed) : random_(seed) {
    const unsigned count = below(14);
    for (unsigned i = 0; i < count; ++i) add_file();
    if (below(4) == 0) add("labels.CSV", kTables[below(4)]);
    if (below(8) == 0) add("Data_Entry_2017.csv", "Image Index,Finding Labels,Patient ID\n1.png,Mass,1\n2.png,,2\n");
    if (below(8) == 0) add("train_val_list.txt", "1.png\n");
    if (below(6) == 0) add("answer/evaluation.json", "{}");
  }

  std::string path() const { return root_.path(); }
  const Names& files() const { return files_; }

 private:
  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }

  void add_file() {
    const std::string folder = kFolders[below(std::size(kFolders))];
    const std::string name = (folder.empty() ? "" : folder + "/") + (below(9) == 0 ? "._" : "") +
                             fmt::to_string(below(5)) + kEndings[below(std::size(kEndings))];
    if (below(10) != 0) return add(name, name.ends_with(".csv") ? kTables[below(4)] : "1");
    if (files_.contains(name)) return;
    fs::create_directories(fs::path(root_ / name).parent_path());
    fs::create_symlink("nowhere", root_ / name);
    files_.insert(name);
  }

  void add(const std::string& name, std::string_view text) {
    if (files_.insert(name).second) write_text(root_ / name, text);
  }

  std::mt19937 random_;
  const ScratchFolder root_;
  Names files_;
};

// The fate of each file of a root: "" if it is in no list.
class Fates {
 public:
  explicit Fates(const Tree& tree) : root_(tree.path()) {
    const storage::DataRoot root(root_);
    const Index index = read_index(root);
    used(index.table);
    for (const std::string& table : index.other_tables) used(table);
    NameArena names;
    PassedOver passed;
    for (const ImageFile& file : find_files(root, index, names, &passed)) used(std::string(file.path));
    for (const auto& [kind, files] : passed.kinds()) {
      passed_ += files.count;
      named_.insert(files.names.begin(), files.names.end());
    }
  }

  // Returns whether the file is used or named, or lies in a folder that is named.
  bool knows(const std::string& file) const {
    if (used_.contains(file) || named_.contains(file)) return true;
    if (file.starts_with("tfrecord/") || file.starts_with("webdataset/") || file.starts_with("cached/"))
      return !is_image_name(file) || fs::path(file).filename().string().starts_with('.') ||
             !fs::exists(root_ + "/" + file);
    for (std::size_t slash = file.find('/'); slash != std::string::npos; slash = file.find('/', slash + 1)) {
      if (named_.contains(file.substr(0, slash + 1))) return true;
    }
    return false;
  }
  bool counts_fit() const { return passed_ == named_.size(); }
  bool are_apart() const {
    return std::ranges::none_of(used_, [&](const std::string& file) { return named_.contains(file); });
  }

 private:
  void used(const std::string& path) { used_.insert(path.substr(std::min(root_.size() + 1, path.size()))); }

  const std::string root_;
  Names used_, named_;
  std::size_t passed_ = 0;
};

TEST(AnyTree, UsesEachFileOrNamesItAsPassedOver) {
  log::configure(log::Level::error);
  int read = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    const Tree tree(seed);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    try {
      const Fates fates(tree);
      ++read;
      for (const std::string& file : tree.files()) EXPECT_TRUE(fates.knows(file)) << file;
      EXPECT_TRUE(fates.counts_fit());
      EXPECT_TRUE(fates.are_apart());
    } catch (const Error& error) {
      EXPECT_STRNE(error.what(), "");
    }
  }
  log::configure(log::Level::info);
  EXPECT_GT(read, 150) << "the others are errors, which are no silence";
}

}  // namespace
}  // namespace chexbench::dataset

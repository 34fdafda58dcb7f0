// Tests that files of any kind that a data set does not use are counted and named.
#include "dataset/passed_over.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "dataset/image_files.hpp"
#include "dataset/index_report.hpp"
#include "dataset/make/check.hpp"
#include "dataset/make/outcome.hpp"

namespace chexbench::dataset {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class PassedOverTest : public testing::Test {
 protected:
  void files(const std::vector<std::string>& names, std::string_view text = "1") {
    for (const std::string& name : names) write_text(root_ / name, text);
  }
  void dangling(const std::string& name) { std::filesystem::create_symlink("gone/away", root_ / name); }
  // Returns "kind: name, name" for each kind of the report.
  std::vector<std::string> passed() {
    const IndexReport report = report_index(root_.path());
    std::vector<std::string> kinds;
    for (const auto& [kind, of_kind] : report.passed.kinds()) {
      EXPECT_EQ(of_kind.count, of_kind.names.size());
      std::string line = std::string(to_string(kind)) + ":";
      for (const std::string& name : of_kind.names) line += " " + name;
      kinds.push_back(line);
    }
    return kinds;
  }
  ScratchFolder root_;
};

TEST_F(PassedOverTest, AreImagesInOtherFormatsAndTheirClasses) {
  files({"benign/a.png", "benign/b.BMP", "benign/c.webp", "malignant/d.tif", "malignant/deep/e.nii.gz"});
  testing::internal::CaptureStderr();
  EXPECT_THAT(passed(),
              ElementsAre("other_formats: benign/b.BMP benign/c.webp malignant/d.tif malignant/deep/e.nii.gz"));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("no image of class malignant can be read"));
  EXPECT_THAT(
      index_report_text(report_index(root_.path()), 1),
      AllOf(HasSubstr("\npassed_over: 4\n"), HasSubstr("\npassed_over.other_formats: 4 (benign/b.BMP, ...)\n")));
  EXPECT_THAT(index_report_json(report_index(root_.path())), HasSubstr(R"("kind": "other_formats")"));
}

TEST_F(PassedOverTest, AreLinksThatLeadNowhereWhichCheckingCallsProblems) {
  files({"cat/a.png"});
  dangling("cat/b.png");
  dangling("cat/readme");
  dangling("cat/.#lock");
  std::filesystem::create_symlink("d.png", root_ / "cat/d.png");
  EXPECT_THAT(passed(), ElementsAre("broken_links: cat/b.png cat/d.png cat/readme", "hidden: cat/.#lock"));
  std::filesystem::remove(root_ / "cat/a.png");
  write_text(root_ / "cat/a.png", read_text(CHEXBENCH_TEST_DATA "/images/00000003_000.png"));
  const CheckReport report = check_data_set(root_.path(), 1);
  ASSERT_THAT(report.problems, SizeIs(3));
  EXPECT_THAT(report.problems[0], AllOf(HasSubstr("cat/b.png"), HasSubstr("leads nowhere")));
  EXPECT_THAT(check_text(report, {root_.path()}), AllOf(HasSubstr("broken links 3 (cat/b.png"), HasSubstr("hidden 1")));
  EXPECT_THAT(check_json(report, {root_.path()}), HasSubstr(R"("broken_links": 3)"));
}

TEST_F(PassedOverTest, AreDicomFilesWithoutAnEnding) {
  const std::string dicom = std::string(128, '\0') + "DICM";
  files({"cat/a.png", "cat/LICENSE"});
  files({"cat/1.2.840.113", "cat/IM0001"}, dicom);
  EXPECT_THAT(passed(), ElementsAre("dicom_without_ending: cat/1.2.840.113 cat/IM0001", "others: cat/LICENSE"));
}

TEST_F(PassedOverTest, AreAllOtherFilesByTheirKind) {
  files({"cat/a.png", "cat/notes.CSV", "dog/b.png", "dog/._b.png", ".DS_Store", ".git/config", "a.tar", "b.tfrec",
         "train.zip", "readme.md", "stray.png", "sheet.xlsx", "chexbench-data.json", "cached/c.png",
         "answer/evaluation.json", "answer/roc.csv", "answer/cam.png"});
  write_text(root_ / "chexbench-data.json", R"({"data": {"layout": "folders"}})");
  EXPECT_THAT(passed(), ElementsAre("not_in_a_class: cached/c.png stray.png", "tables: cat/notes.CSV sheet.xlsx",
                                    "shards: a.tar b.tfrec", "archives: train.zip", "results: answer/",
                                    "hidden: .DS_Store .git/ dog/._b.png", "others: readme.md"));
}

TEST_F(PassedOverTest, AreNoFilesThatTheIndexCameFrom) {
  files({"images/a.png", "images_001/a.png", "deep/er/b.jpg"});
  write_text(root_ / "Data_Entry_2017.csv", "Image Index,Finding Labels,Patient ID\na.png,Mass,1\nb.png,Mass,1\n");
  files({"train_val_list.txt", "test_list.txt"}, "");
  files({"BBox_List_2017.csv"}, "a,b,\n");
  EXPECT_THAT(passed(), ElementsAre("not_in_a_class: deep/er/b.jpg", "second_copies: images_001/a.png",
                                    "tables: BBox_List_2017.csv"));
}

TEST_F(PassedOverTest, DoNotStandForImagesThatAreMissing) {
  files({"images/a.png", "thumbs/a.png", "thumbs/b.png"});
  write_text(root_ / "Data_Entry_2017.csv", "Image Index,Finding Labels,Patient ID\na.png,Mass,1\nb.png,Mass,1\n");
  files({"train_val_list.txt", "test_list.txt"}, "");
  EXPECT_THAT(passed(), ElementsAre("not_in_a_class: thumbs/a.png thumbs/b.png"));
}

// Returns where each row's image of a ChestX-ray14 is found, or "NAME: no file".
std::vector<std::string> places(const ScratchFolder& root) {
  const storage::DataRoot data(root.path());
  const Index index = read_index(data);
  NameArena names;
  std::map<std::string_view, std::string> path_of;
  for (const ImageFile& file : find_files(data, index, names, nullptr))
    path_of[file.name] = file.path.substr(root.path().size() + 1);
  std::vector<std::string> places;
  for (const IndexRow& row : index.rows)
    places.push_back(path_of.contains(row.name) ? path_of[row.name] : std::string(row.name) + ": no file");
  return places;
}

TEST_F(PassedOverTest, AreNoImagesOfChestXRay14InItsOtherForms) {
  using FileNames = std::vector<std::string>;
  const std::pair<FileNames, FileNames> forms[] = {
      {{"a.png", "b.png"}, {"a.png", "b.png"}},
      {{"images-224/images-224/a.png", "images-224/images-224/b.png"},
       {"images-224/images-224/a.png", "images-224/images-224/b.png"}},
      {{"images_001/images/a.png", "images_012/images/b.png"}, {"images_001/images/a.png", "images_012/images/b.png"}},
      {{"images_01/a.png", "images_12/b.png"}, {"images_01/a.png", "images_12/b.png"}},
      {{"images/a.PNG", "images/b.Png"}, {"images/a.PNG", "images/b.Png"}},
      {{"images/a.jpg", "images/b.JPEG"}, {"images/a.jpg", "images/b.JPEG"}},
      {{"resized/a.jpg", "b.PNG"}, {"resized/a.jpg", "b.PNG"}},
      {{"images/a.png", "images/B.png"}, {"images/a.png", "b.png: no file"}}};
  for (const auto& [names, found] : forms) {
    const ScratchFolder root;
    for (const std::string& name : names) write_text(root / name, "1");
    write_text(root / "Data_Entry_2017.csv", "Image Index,Finding Labels,Patient ID\na.png,Mass,1\nb.png,Mass,1\n");
    EXPECT_EQ(places(root), found) << names.front();
  }
}

TEST_F(PassedOverTest, AreNoClassesOfTheirOwn) {
  files({"cat/a.png", "stray.png", "logo.bmp"});
  testing::internal::CaptureStderr();
  read_index(root_.path());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::Not(HasSubstr("of class")));
}

TEST_F(PassedOverTest, AreNoFoldersThatOnlyHaveAFileOfTheirName) {
  files({"cat/a.png", "cat/evaluation.json", "dog/b.png", "dog/csv-metadata.json"});
  EXPECT_THAT(read_index(root_.path()).label_names, ElementsAre("cat", "dog"));
}

// The listing of an object store's bucket.
class OddBucket : public storage::Store {
 public:
  std::vector<storage::StoreEntry> list(const std::string& folder) const override {
    using Kind = storage::StoreEntry::Kind;
    if (folder == "s3://b") return {{.name = "cat", .kind = Kind::folder}, {.name = "", .kind = Kind::other}};
    return {{.name = "a.png", .kind = Kind::file}, {.name = "..", .kind = Kind::other}};
  }
  std::optional<std::uint64_t> size(const std::string&) const override { return {}; }
  std::span<const std::byte> read(const std::string& path, storage::ByteBuffer&) const override {
    throw DataError(path);
  }
  std::unique_ptr<storage::ByteStream> stream(const std::string& path, std::stop_token) const override {
    throw DataError(path);
  }
  bool is_local() const override { return false; }
};

TEST(PassedOver, AreKeysWithEmptyParts) {
  PassedOver passed;
  NameArena names;
  EXPECT_THAT(list_images(OddBucket(), "s3://b", names, &passed), SizeIs(1));
  EXPECT_THAT(passed.kinds().at(PassedKind::empty_parts).names, ElementsAre("/", "cat/../"));
}

TEST(PassedOver, KeepTheFirstNamesOfMany) {
  PassedOver passed;
  passed.use("a0500");
  for (int i = 1999; i >= 0; --i) passed.add(PassedKind::others, fmt::format("a{:04}", i));
  const PassedOver::Files& others = passed.kinds().at(PassedKind::others);
  EXPECT_EQ(others.count, 1999u);
  EXPECT_EQ(others.names.size(), PassedOver::kMostNames);
  EXPECT_EQ(*others.names.rbegin(), "a1000");
  EXPECT_THAT(passed_images_text(passed), IsEmpty());
  passed.add(PassedKind::broken_links, "x\x1b.png");
  EXPECT_EQ(passed_images_text(passed), "1 link that leads nowhere (x\\x1b.png)");
}

}  // namespace
}  // namespace chexbench::dataset

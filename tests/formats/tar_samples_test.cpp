#include "formats/tar_samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "dataset/dataset.hpp"
#include "formats/record.hpp"
#include "storage/store.hpp"

namespace chexbench::formats {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string text_in(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string member(std::string_view name, std::string_view contents) {
  return tar_header(name, contents.size()).append(contents).append(tar_padding(contents.size()), '\0');
}

std::string sample(const std::string& key) {
  return member(key + ".json", R"({"label": ["Mass"]})") + member(key + ".png", "pixels of " + key);
}

const std::string kEnd(kTarEndBytes, '\0');

// A stream that returns a copy of a tar's bytes at each take, like the stream of a distant file.
class CopyingStream final : public storage::ByteStream {
 public:
  explicit CopyingStream(std::string bytes) : bytes_(std::move(bytes)) {}
  const std::string& path() const override { return path_; }
  std::uint64_t size() const override { return bytes_.size(); }
  storage::SharedBytes take(std::size_t bytes) override {
    const auto copy = std::make_shared<std::string>(bytes_.substr(taken_, bytes));
    taken_ += bytes;
    return {as_bytes(*copy), copy};
  }

 private:
  const std::string path_ = "distant";
  const std::string bytes_;
  std::size_t taken_ = 0;
};

class TarSamples : public testing::Test {
 protected:
  TarSampleReader open(std::string_view contents) {
    write_text(folder_ / "shard.tar", contents);
    return TarSampleReader(storage::stream_mapped(storage::MappedFile::open(folder_ / "shard.tar")));
  }
  static RecordView view(const ShardRecord& record) {
    return parse_sample(record.data, {.file = "shard.tar", .offset = record.offset}, dataset::nih_label_names());
  }
  // Returns the message of the DataError that the only sample of a tar causes.
  std::string failure_of(const std::string& contents) {
    TarSampleReader reader = open(contents + kEnd);
    const std::optional<ShardRecord> record = reader.next();
    if (!record) return "no sample";
    EXPECT_FALSE(reader.next()) << "one sample";
    return message_of<DataError>([&] { view(*record); });
  }
  ScratchFolder folder_;
};

TEST_F(TarSamples, OfPythonsTarFormatsAreRead) {
  for (const std::string format : {"ustar", "gnu", "pax"}) {
    SCOPED_TRACE(format);
    TarSampleReader reader(
        storage::stream_mapped(storage::MappedFile::open(CHEXBENCH_GOLDEN "/samples-" + format + ".tar")));
    const auto first = reader.next();
    ASSERT_TRUE(first);
    const RecordView a = view(*first);
    EXPECT_EQ(text_in(a.encoded), "image a");
    EXPECT_EQ(a.filename, "other.png");
    EXPECT_EQ(a.labels, LabelBits(2));
    EXPECT_EQ(a.patient, 7);
    const auto second = reader.next();
    ASSERT_TRUE(second);
    const RecordView b = view(*second);
    EXPECT_EQ(text_in(b.encoded), std::string(1000, 'x'));
    EXPECT_EQ(b.filename, std::string(format == "ustar" ? 90 : 180, 'b') + ".jpg");
    EXPECT_EQ(b.labels, LabelBits(8));
    EXPECT_FALSE(reader.next());
  }
}

TEST_F(TarSamples, ComeBackAsTheyWereWrittenWhateverTheirNames) {
  const std::vector<std::string> names{
      "a.png", "a.jpg", "a.b.png", "100%.png", "d.e/f.jpeg", "__skipped__/g.png", std::string(180, 'n') + ".png"};
  OutputFile file(folder_ / "written.tar");
  const auto writer = make_record_writer(spec::DataFormat::webdataset);
  for (const std::string& name : names) {
    writer->write({.filename = name, .labels = 5, .patient = 9}, as_bytes("image " + name), file);
  }
  writer->finish(file);
  file.commit(OutputFile::Durability::renamed);
  TarSampleReader reader(storage::stream_mapped(storage::MappedFile::open(folder_ / "written.tar")));
  for (const std::string& name : names) {
    const auto record = reader.next();
    ASSERT_TRUE(record) << name;
    const RecordView read = view(*record);
    EXPECT_EQ(read.filename, name);
    EXPECT_EQ(text_in(read.encoded), "image " + name);
    EXPECT_EQ(read.labels, LabelBits(5));
    EXPECT_EQ(read.patient, 9);
  }
  EXPECT_FALSE(reader.next());
}

TEST_F(TarSamples, AreViewsOfAMappedFile) {
  const std::string contents = sample("a") + sample("b") + kEnd;
  write_text(folder_ / "shard.tar", contents);
  const auto file = storage::MappedFile::open(folder_ / "shard.tar");
  TarSampleReader reader(storage::stream_mapped(file));
  EXPECT_EQ(reader.next()->data.data(), file->bytes().data());
  const auto second = reader.next();
  EXPECT_EQ(second->offset, sample("a").size());
  EXPECT_EQ(second->data.data(), file->bytes().data() + second->offset);
  EXPECT_EQ(second->data.size(), sample("b").size());
}

TEST_F(TarSamples, OfADistantFileAreCopiesAndTheSame) {
  TarSampleReader reader(std::make_unique<CopyingStream>(sample("a") + sample("b") + kEnd));
  for (const std::string key : {"a", "b"}) {
    const auto record = reader.next();
    EXPECT_EQ(text_in(record->data), sample(key));
    EXPECT_EQ(text_in(view(*record).encoded), "pixels of " + key);
  }
  EXPECT_FALSE(reader.next());
}

TEST_F(TarSamples, NeedNoEndMark) {
  TarSampleReader reader = open(sample("a"));
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
}

TEST_F(TarSamples, WithoutAnImageOrLabelsAreNamedAndTheNextOneFollows) {
  TarSampleReader reader = open(member("d/a.json", R"({"label": []})") + member("b.png", "x") + sample("c") + kEnd);
  EXPECT_THAT(message_of<DataError>([&] { view(*reader.next()); }),
              AllOf(HasSubstr("shard.tar: record at offset 0: sample 'd/a' has no image")));
  EXPECT_THAT(message_of<DataError>([&] { view(*reader.next()); }),
              AllOf(HasSubstr("offset 1024"), HasSubstr("sample 'b' has no labels (.json or .cls)")));
  EXPECT_EQ(view(*reader.next()).filename, "c.png");
}

TEST_F(TarSamples, WithLabelsThatCannotBeReadAreNamed) {
  const auto with_json = [&](const std::string& json) {
    return failure_of(member("a.json", json) + member("a.png", "x"));
  };
  EXPECT_THAT(with_json("{"), HasSubstr("sample 'a' has a damaged .json"));
  EXPECT_THAT(with_json("[]"), HasSubstr("not an object"));
  EXPECT_THAT(with_json("{}"), HasSubstr("without a list \"label\""));
  EXPECT_THAT(with_json(R"({"label": [1, 0]})"), HasSubstr("2 values in \"label\", expected 14"));
  EXPECT_THAT(with_json(R"({"label": [0,0,0,0,0,0,0,0,0,0,0,0,0,2]})"), HasSubstr("as label[13], expected 0 or 1"));
  EXPECT_THAT(with_json(R"({"label": ["Mass", "Mess"]})"), HasSubstr("unknown label, the text \"Mess\""));
  for (const std::string text : {"14", "-1", "", "3 4", "cat"}) {
    EXPECT_THAT(failure_of(member("a.cls", text) + member("a.png", "x")), HasSubstr("expected a number from 0 to 13"))
        << text;
  }
  EXPECT_THAT(failure_of(member("a.cls", "1") + member("a.jpg", "x") + member("a.png", "x")),
              HasSubstr("has both 'a.jpg' and 'a.png'"));
}

TEST_F(TarSamples, OfOtherProgramsHaveOneLabelAsNumberOrName) {
  const std::vector<std::string> names{"Mass", "1", "Edema"};
  const auto labels_of = [&](const std::string& json, const std::string& cls) {
    TarSampleReader reader = open(member("a.jpg", "x") + (json.empty() ? "" : member("a.json", json)) +
                                  (cls.empty() ? "" : member("a.cls", cls)) + kEnd);
    return parse_sample(reader.next()->data, {}, names).labels;
  };
  for (const char* json : {R"({"label": 7, "filename": "b.jpg"})", R"({"width": 5})", "[1, 2]", R"({"label": null})"})
    EXPECT_EQ(labels_of(json, "2\n"), LabelBits(0b100)) << json;
  EXPECT_EQ(labels_of(R"({"label": ["Mass"]})", "2"), LabelBits(0b001)) << "a list is the whole truth";
  EXPECT_EQ(labels_of(R"({"label": 2})", ""), LabelBits(0b100));
  EXPECT_EQ(labels_of(R"({"label": "Edema"})", ""), LabelBits(0b100));
  EXPECT_EQ(labels_of("", " Mass\r\n"), LabelBits(0b001));
  EXPECT_EQ(labels_of("", "1"), LabelBits(0b010)) << "an index";
  for (const char* json : {R"({"label": 3})", R"({"label": -1})", R"({"label": "Hernia"})", R"({"label": 1.5})",
                           R"({"label": {}})", R"({"label": null})", "[]", "{}"})
    EXPECT_THROW(labels_of(json, ""), DataError) << json;
  EXPECT_THROW(labels_of(R"({"label": )", "2"), DataError) << "a damaged .json";
}

TEST_F(TarSamples, HaveTheLabelsOfTheirDataSet) {
  std::vector<std::string> names;
  for (int f = 0; f < 100; ++f) names.push_back("class " + std::to_string(f));
  const auto labels_of = [&](const std::string& kind, const std::string& contents) {
    TarSampleReader reader = open(member("a." + kind, contents) + member("a.jpg", "x") + kEnd);
    return parse_sample(reader.next()->data, {}, names).labels;
  };
  LabelBits expected;
  expected.set(97);
  EXPECT_EQ(labels_of("cls", "97"), expected);
  EXPECT_EQ(labels_of("json", R"({"label": ["class 97"]})"), expected);
  EXPECT_THAT(message_of<DataError>([&] { labels_of("cls", "100"); }), HasSubstr("expected a number from 0 to 99"));
  EXPECT_THAT(message_of<DataError>([&] { labels_of("json", R"({"label": [1, 0]})"); }), HasSubstr("expected 100"));
}

TEST_F(TarSamples, AreLostFromADamagedHeaderOnWithTheOffsetNamed) {
  std::string contents = sample("a") + sample("b") + kEnd;
  contents[sample("a").size() + 3] ^= 1;
  TarSampleReader reader = open(contents);
  EXPECT_EQ(view(*reader.next()).filename, "a.png") << "what came before is whole";
  EXPECT_THAT(message_of<DataError>([&] { reader.next(); }),
              AllOf(HasSubstr("shard.tar: tar member at offset 2048"), HasSubstr("checksum")));
  EXPECT_FALSE(reader.next());
}

TEST_F(TarSamples, ThatAreCutShortAreNamed) {
  const std::string whole = sample("a") + sample("b");
  for (const std::size_t kept : {std::size_t{2048 + 512 + 5}, std::size_t{2048 + 1024 + 100}, whole.size() - 1}) {
    TarSampleReader reader = open(whole.substr(0, kept));
    reader.next();
    const std::string message = kept == 2048 + 1024 + 100
                                    ? (reader.next(), message_of<DataError>([&] { reader.next(); }))
                                    : message_of<DataError>([&] { reader.next(); });
    EXPECT_THAT(message, AllOf(HasSubstr("shard.tar: tar member at offset"), HasSubstr("truncated")));
    EXPECT_FALSE(reader.next());
  }
}

TEST_F(TarSamples, BehindAHoleOfZerosAreNotLostInSilence) {
  TarSampleReader reader = open(sample("a") + kEnd + sample("b") + kEnd);
  EXPECT_TRUE(reader.next());
  EXPECT_THAT(message_of<DataError>([&] { reader.next(); }), HasSubstr("marks the end, but data follow"));
}

TEST_F(TarSamples, WithAnAbsurdSizeTakeNoMemory) {
  std::string header = tar_header("a.png", 0);
  header.replace(124, 12, std::string("\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12));
  std::uint64_t sum = 8 * ' ';
  for (std::size_t i = 0; i < 512; ++i) sum += i >= 148 && i < 156 ? 0 : static_cast<unsigned char>(header[i]);
  char checksum[8];
  std::snprintf(checksum, sizeof checksum, "%06o", static_cast<unsigned>(sum));
  header.replace(148, 8, std::string(checksum, 7) + " ");
  TarSampleReader reader = open(header + kEnd);
  EXPECT_THAT(message_of<DataError>([&] { reader.next(); }), HasSubstr("absurd size of 9223372036854775807 bytes"));
}

}  // namespace
}  // namespace chexbench::formats

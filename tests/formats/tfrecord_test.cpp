#include "formats/tfrecord.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "formats/crc32c.hpp"
#include "storage/store.hpp"

namespace chexbench::formats {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string framed(std::string_view data) {
  const TfRecordFrame frame = frame_record(as_bytes(data));
  std::string text(reinterpret_cast<const char*>(frame.header.data()), frame.header.size());
  text += data;
  return text.append(reinterpret_cast<const char*>(frame.footer.data()), frame.footer.size());
}

// Returns a header that claims `length`, with the right CRC.
std::string header_of(std::uint64_t length) {
  std::string text(reinterpret_cast<const char*>(&length), sizeof length);
  const std::uint32_t crc = mask_crc(crc32c(as_bytes(text)));
  return text.append(reinterpret_cast<const char*>(&crc), sizeof crc);
}

class TfRecordReaderTest : public testing::Test {
 protected:
  TfRecordReader open(std::string_view contents) {
    write_text(folder_ / "shard", contents);
    return TfRecordReader(storage::MappedFile::open(folder_ / "shard"));
  }
  std::vector<std::string> rest_of(TfRecordReader& reader) {
    std::vector<std::string> records;
    while (const auto record = reader.next()) {
      records.emplace_back(reinterpret_cast<const char*>(record->data.data()), record->data.size());
    }
    return records;
  }
  std::string failure_of(TfRecordReader& reader) {
    return message_of<DataError>([&] { reader.next(); });
  }
  ScratchFolder folder_;
};

TEST(TfRecordFrame, OfAnEmptyRecordIsThePublishedOne) {
  const std::string expected("\0\0\0\0\0\0\0\0\x29\x03\x98\x07\xd8\xea\x82\xa2", 16);
  EXPECT_EQ(framed(""), expected);
}

TEST_F(TfRecordReaderTest, GivesRecordsInOrderWithTheirOffsets) {
  TfRecordReader reader = open(framed("one") + framed("") + framed("three"));
  EXPECT_EQ(reader.next()->offset, 0u);
  EXPECT_EQ(reader.next()->offset, 19u);
  EXPECT_THAT(rest_of(reader), ElementsAre("three"));
  EXPECT_FALSE(reader.next());
}

TEST_F(TfRecordReaderTest, FindsNothingInAnEmptyFile) {
  TfRecordReader reader = open("");
  EXPECT_FALSE(reader.next());
}

TEST_F(TfRecordReaderTest, DoesNotCopy) {
  write_text(folder_ / "shard", framed("one"));
  const auto file = storage::MappedFile::open(folder_ / "shard");
  EXPECT_EQ(TfRecordReader(file).next()->data.data(), file->bytes().data() + kRecordHeaderBytes);
}

TEST_F(TfRecordReaderTest, NamesTheRecordWhoseDataWasFlippedAndGoesOnBehindIt) {
  std::string contents = framed("one") + framed("two") + framed("three");
  contents[19 + 12] ^= 1;
  TfRecordReader reader = open(contents);
  reader.next();
  EXPECT_THAT(failure_of(reader), AllOf(HasSubstr("shard: record at offset 19"), HasSubstr("CRC of its data")));
  EXPECT_THAT(rest_of(reader), ElementsAre("three"));
}

TEST_F(TfRecordReaderTest, LeavesTheCheckOfDataToItsCallerWhoSaysTheSame) {
  std::string contents = framed("one") + framed("two") + framed("three");
  contents[19 + 12] ^= 1;
  TfRecordReader checking = open(contents);
  checking.next();
  TfRecordReader reader(storage::stream_mapped(storage::MappedFile::open(folder_ / "shard")), DataCheck::later);
  const auto check = [this](const ShardRecord& record) {
    check_data(record.data, {folder_ / "shard", record.offset}, record.unchecked_crc.value());
  };
  check(reader.next().value());
  const ShardRecord damaged = reader.next().value();
  EXPECT_EQ(message_of<DataError>([&] { check(damaged); }), failure_of(checking));
  check(reader.next().value());
  EXPECT_FALSE(reader.next());
}

TEST_F(TfRecordReaderTest, LeavesNothingToCheckWhereItChecks) {
  TfRecordReader reader = open(framed("one"));
  EXPECT_FALSE(reader.next()->unchecked_crc);
}

TEST_F(TfRecordReaderTest, StopsAtALengthThatWasFlipped) {
  std::string contents = framed("one") + framed("two");
  contents[0] ^= 1;
  TfRecordReader reader = open(contents);
  EXPECT_THAT(failure_of(reader), AllOf(HasSubstr("offset 0"), HasSubstr("CRC of its length")));
  EXPECT_FALSE(reader.next());
}

TEST_F(TfRecordReaderTest, RefusesAnAbsurdLengthWithARightChecksum) {
  for (const std::uint64_t length : {kMaxRecordBytes + 1, ~std::uint64_t{0}, ~std::uint64_t{0} - 15}) {
    TfRecordReader reader = open(header_of(length) + std::string(100, 'x'));
    EXPECT_THAT(failure_of(reader), HasSubstr("absurd length"));
    EXPECT_FALSE(reader.next());
  }
}

TEST_F(TfRecordReaderTest, FindsATailThatWasCutAtAnyByte) {
  const std::string first = framed("one"), second = framed("a longer record");
  for (std::size_t kept = 1; kept < second.size(); ++kept) {
    TfRecordReader reader = open(first + second.substr(0, kept));
    reader.next();
    EXPECT_THAT(failure_of(reader), AllOf(HasSubstr("offset 19"), HasSubstr("truncated"))) << kept;
    EXPECT_FALSE(reader.next());
  }
}

TEST_F(TfRecordReaderTest, FindsAFileThatWasCutWhileItWasOpen) {
  TfRecordReader reader = open(framed("one") + framed(std::string(100000, 'x')));
  reader.next();
  std::filesystem::resize_file(folder_ / "shard", 100);
  EXPECT_THAT(failure_of(reader), HasSubstr("became shorter"));
  EXPECT_FALSE(reader.next());
}

TEST_F(TfRecordReaderTest, ReadsWhatTensorFlowWrote) {
  TfRecordReader reader(storage::MappedFile::open(CHEXBENCH_GOLDEN "/sample.tfrecord"));
  EXPECT_EQ(rest_of(reader).size(), 3u);
}

// A stream that only records what its reader expects.
class Listener final : public storage::ByteStream {
 public:
  explicit Listener(storage::PieceFinder& heard) : heard_(heard) {}
  const std::string& path() const override { return path_; }
  std::uint64_t size() const override { return 0; }
  void expect(const storage::PieceFinder& finder) override { heard_ = finder; }
  storage::SharedBytes take(std::size_t) override { return {}; }

 private:
  storage::PieceFinder& heard_;
  const std::string path_ = "shard";
};

TEST(TfRecordFinder, FindsTheFirstRecordInAnyBytes) {
  storage::PieceFinder finder;
  const TfRecordReader reader(std::make_unique<Listener>(finder));
  ASSERT_EQ(finder.head_bytes, kRecordHeaderBytes);
  const std::string record = framed(std::string(1000, 'x'));
  for (std::size_t before = 0; before < 20; ++before) {
    for (const char filler : {'\0', 'a'}) {
      const std::string text = std::string(before, filler) + record + record;
      const auto found = finder.find(as_bytes(text));
      ASSERT_TRUE(found) << before;
      EXPECT_EQ(found->at, before);
      EXPECT_EQ(found->bytes, record.size());
    }
  }
  EXPECT_FALSE(finder.find(as_bytes(record.substr(1))));
  EXPECT_FALSE(finder.find(as_bytes(record.substr(0, kRecordHeaderBytes - 1))));
  EXPECT_FALSE(finder.find(as_bytes(header_of(kMaxRecordBytes + 1)))) << "no reader takes as much";
  EXPECT_FALSE(finder.find(as_bytes(std::string(1000, '\0'))));
}

}  // namespace
}  // namespace chexbench::formats

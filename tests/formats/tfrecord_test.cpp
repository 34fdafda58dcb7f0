#include "formats/tfrecord.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

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

constexpr int kGzip = 16 + MAX_WBITS;
constexpr int kZlib = MAX_WBITS;

std::string packed(std::string_view text, int window_bits) {
  z_stream zlib{};
  deflateInit2(&zlib, 1, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&zlib, text.size()) + 32, '\0');
  zlib.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
  zlib.avail_in = static_cast<unsigned>(text.size());
  zlib.next_out = reinterpret_cast<unsigned char*>(out.data());
  zlib.avail_out = static_cast<unsigned>(out.size());
  deflate(&zlib, Z_FINISH);
  out.resize(zlib.total_out);
  deflateEnd(&zlib);
  return out;
}

// Returns record i of the golden files; tests/golden/README.md describes them.
std::string golden_record(int i) {
  std::string record;
  for (int j = 0; j < i * i * 97 % 1999; ++j) {
    record += static_cast<char>((i * 131 + j * 7 + (j * j >> 9) * (j % 5)) & 255);
  }
  return record;
}

// Returns bytes that cannot be compressed.
std::string noise(std::size_t bytes, std::uint32_t seed) {
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
  return text;
}

std::string frame_of(std::string_view data) {
  const TfRecordFrame frame = frame_record(as_bytes(data));
  return std::string(reinterpret_cast<const char*>(frame.header.data()), frame.header.size())
      .append(data)
      .append(reinterpret_cast<const char*>(frame.footer.data()), frame.footer.size());
}

std::string text_of(const ShardRecord& record) {
  return {reinterpret_cast<const char*>(record.data.data()), record.data.size()};
}

class CompressedTfRecordFile : public testing::Test {
 protected:
  TfRecordReader open(std::string_view contents) {
    write_text(folder_ / "shard", contents);
    return TfRecordReader(storage::MappedFile::open(folder_ / "shard"));
  }
  // Returns the message of the failure that ends the shard, after the records before it have been read.
  std::string failure_of(std::string_view contents) {
    TfRecordReader reader = open(contents);
    const std::string message = message_of<DataError>([&] {
      while (reader.next()) {
      }
    });
    EXPECT_FALSE(reader.next()) << "nothing follows";
    return message;
  }
  ScratchFolder folder_;
};
class CompressedTfRecord : public CompressedTfRecordFile, public testing::WithParamInterface<int> {};

TEST(TensorFlowsCompressedShards, GiveTheirRecords) {
  for (const std::string kind : {"gzip", "zlib"}) {
    TfRecordReader reader(storage::MappedFile::open(CHEXBENCH_GOLDEN "/records-" + kind + ".tfrecord"));
    for (int i = 0; i < 40; ++i) {
      const auto record = reader.next();
      ASSERT_TRUE(record) << kind << i;
      EXPECT_EQ(text_of(*record), golden_record(i)) << kind << i;
    }
    EXPECT_FALSE(reader.next());
  }
}

TEST_P(CompressedTfRecord, IsReadAcrossThePiecesOfTheFile) {
  std::string contents;
  std::vector<std::string> records;
  for (std::uint32_t i = 0; i < 7; ++i) contents += frame_of(records.emplace_back(noise(300'000 + i, i)));
  const std::string file = packed(contents, GetParam());
  TfRecordReader reader = open(file);
  std::uint64_t offset = 0, stored = 0;
  for (const std::string& record : records) {
    const auto read = reader.next();
    ASSERT_TRUE(read);
    EXPECT_EQ(text_of(*read), record);
    EXPECT_EQ(read->offset, offset);
    offset += record.size() + 16;
    stored += read->stored_bytes;
  }
  EXPECT_FALSE(reader.next());
  EXPECT_NEAR(static_cast<double>(stored), static_cast<double>(file.size()), 100);
}

TEST_P(CompressedTfRecord, OfNothingHasNoRecords) { EXPECT_FALSE(open(packed("", GetParam())).next()); }

TEST_P(CompressedTfRecord, ThatEndsEarlyIsNamedWithTheByte) {
  const std::string whole = packed(frame_of(noise(2000, 1)) + frame_of(noise(3000, 2)), GetParam());
  for (const std::size_t kept : {whole.size() - 1, whole.size() / 2, std::size_t{30}}) {
    EXPECT_THAT(
        failure_of(whole.substr(0, kept)),
        AllOf(HasSubstr("shard: byte " + std::to_string(kept) + " of the compressed file"), HasSubstr("truncated")));
  }
}

TEST_P(CompressedTfRecord, WithAFlippedBitIsNamed) {
  std::string file = packed(frame_of(std::string(5000, 'a') + noise(5000, 1)), GetParam());
  file[file.size() - 2] ^= 1;  // a byte of the checksum at the end
  EXPECT_THAT(failure_of(file), AllOf(HasSubstr("of the compressed file"), HasSubstr("incorrect")));
}

TEST_P(CompressedTfRecord, ThatHoldsATruncatedRecordSaysSo) {
  EXPECT_THAT(failure_of(packed(frame_of("one") + frame_of("two").substr(0, 14), GetParam())),
              AllOf(HasSubstr("record at offset 19"), HasSubstr("truncated: it needs 19 bytes, 14 are left")));
}

TEST_P(CompressedTfRecord, GoesOnBehindARecordWhoseDataWasFlipped) {
  std::string contents = frame_of("one") + frame_of("two");
  contents[12] ^= 1;
  TfRecordReader reader = open(packed(contents, GetParam()));
  EXPECT_THAT(message_of<DataError>([&] { reader.next(); }), HasSubstr("offset 0: the CRC of its data"));
  EXPECT_EQ(text_of(*reader.next()), "two");
}

// A file of 1 MB could otherwise take 1 GB of memory.
TEST_P(CompressedTfRecord, WithARecordThatWouldTakeMuchMemoryIsRefused) {
  const auto failure_at = [&](std::uint64_t length) {
    std::string head(reinterpret_cast<const char*>(&length), sizeof length);
    const std::uint32_t crc = mask_crc(crc32c(as_bytes(head)));
    return failure_of(packed(head.append(reinterpret_cast<const char*>(&crc), sizeof crc), GetParam()));
  };
  EXPECT_THAT(failure_at(kMaxInflatedRecordBytes + 1),
              HasSubstr("absurd length of 268435457 bytes (at most 268435456 are accepted in a compressed shard)"));
  EXPECT_THAT(failure_at(kMaxInflatedRecordBytes), HasSubstr("truncated: it needs 268435472 bytes"));
}

TEST_P(CompressedTfRecord, KeepsNoMemoryOfARecordThatIsGone) {
  TfRecordReader reader = open(packed(frame_of(std::string(1'000'000, 'a')) + frame_of("two"), GetParam()));
  std::optional<ShardRecord> record = reader.next();
  const std::weak_ptr<const void> memory = record->owner;
  ASSERT_FALSE(memory.expired());
  record.reset();
  EXPECT_TRUE(memory.expired());
  EXPECT_EQ(text_of(*reader.next()), "two");
}

INSTANTIATE_TEST_SUITE_P(Kinds, CompressedTfRecord, testing::Values(kGzip, kZlib),
                         [](const auto& kind) { return kind.param == kGzip ? "gzip" : "zlib"; });

TEST_F(CompressedTfRecordFile, OfSeveralGzipMembersIsOne) {
  const std::string contents = frame_of(noise(1000, 1)) + frame_of("two");
  TfRecordReader reader =
      open(packed(contents.substr(0, 700), kGzip) + packed("", kGzip) + packed(contents.substr(700), kGzip));
  EXPECT_EQ(text_of(*reader.next()), noise(1000, 1));
  EXPECT_EQ(text_of(*reader.next()), "two");
  EXPECT_FALSE(reader.next());
}

TEST_F(CompressedTfRecordFile, WithSomethingBehindItsEndIsRefused) {
  EXPECT_THAT(failure_of(packed(frame_of("one"), kGzip) + "xx"), HasSubstr("incorrect header check"));
  EXPECT_THAT(failure_of(packed(frame_of("one"), kZlib) + "xx"), HasSubstr("bytes follow the end of the ZLIB stream"));
}

// A shard whose first record has 559,903 bytes begins like a GZIP file.
TEST_F(CompressedTfRecordFile, IsNotAPlainOneWhoseFirstLengthLooksLikeItsHeader) {
  const std::string record = noise(0x088b1f, 3);
  const std::string contents = frame_of(record);
  ASSERT_TRUE(looks_compressed(as_bytes(contents)));
  EXPECT_EQ(text_of(*open(contents).next()), record);
}

}  // namespace
}  // namespace chexbench::formats

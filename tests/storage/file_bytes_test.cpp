#include "storage/file_bytes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "storage/http/fake_http.hpp"
#include "storage/store.hpp"
#include "storage/untrusted.hpp"

namespace chexbench::storage {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::HasSubstr;

using test::text_of;

TEST(ReadFile, GivesTheWholeFile) {
  const ScratchFolder folder;
  write_text(folder / "a", "hello");
  ByteBuffer buffer;
  EXPECT_EQ(text_of(read_file(folder / "a", buffer)), "hello");
}

TEST(ReadFile, LargerThanAnImageMayBeIsRefusedUnread) {
  const ScratchFolder folder;
  write_text(folder / "huge.png", "");
  std::filesystem::resize_file(folder / "huge.png", kMostObjectBytes + 1);  // sparse: it takes no room
  ByteBuffer buffer;
  EXPECT_THAT(message_of<DataError>([&] { read_file(folder / "huge.png", buffer); }),
              AllOf(HasSubstr("huge.png"), HasSubstr("537 MB")));
  EXPECT_EQ(buffer.capacity(), 0U);
}

TEST(ByteBuffer, TakesMemoryFromItsPoolAndGivesItBack) {
  const auto blocks = std::make_shared<BlockPool>();
  const std::byte* first = nullptr;
  {
    ByteBuffer buffer(blocks);
    first = buffer.reserve(300'000);
    EXPECT_EQ(room_behind(buffer, 0, 200'000, 1'000'000), first) << "there is room already";
    const std::byte* const larger = room_behind(buffer, 300'000, 500'000, 1'000'000);
    EXPECT_NE(larger, first);
  }
  EXPECT_GT(blocks->idle_bytes(), 1'000'000u) << "also what it grew to came from there";
  EXPECT_EQ(ByteBuffer(blocks).reserve(300'000), first);
}

TEST(ReadFile, KeepsItsMemoryForTheNextFile) {
  const ScratchFolder folder;
  write_text(folder / "large", std::string(10000, 'x'));
  write_text(folder / "small", "y");
  ByteBuffer buffer;
  const std::byte* const first = read_file(folder / "large", buffer).data();
  const std::span<const std::byte> second = read_file(folder / "small", buffer);
  EXPECT_EQ(second.data(), first);
  EXPECT_EQ(text_of(second), "y");
}

TEST(ReadAndMappedFiles, MustBeRegularFilesThatAreThere) {
  const ScratchFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  ByteBuffer buffer;
  for (const auto& [path, reason] : {std::pair("/nowhere/x.png"s, "No such file"),
                                     {folder.path(), "not a regular file"},
                                     {folder / "fifo", "not a regular file"}}) {  // no wait for its writer
    EXPECT_THAT(message_of<DataError>([&] { read_file(path, buffer); }), AllOf(HasSubstr(path), HasSubstr(reason)));
    EXPECT_THAT(message_of<DataError>([&] { MappedFile::open(path); }), AllOf(HasSubstr(path), HasSubstr(reason)));
  }
}

TEST(MappedFile, KeepsItsBytesWhileSomebodyHoldsIt) {
  const ScratchFolder folder;
  write_text(folder / "a", "mapped");
  std::shared_ptr<const MappedFile> file = MappedFile::open(folder / "a");
  const std::shared_ptr<const MappedFile> other = file;
  file.reset();
  std::filesystem::remove(folder / "a");
  EXPECT_EQ(text_of(other->bytes()), "mapped");
}

TEST(ReadAndMappedFiles, MayBeEmpty) {
  const ScratchFolder folder;
  write_text(folder / "empty", "");
  ByteBuffer buffer;
  EXPECT_TRUE(read_file(folder / "empty", buffer).empty());
  EXPECT_TRUE(MappedFile::open(folder / "empty")->bytes().empty());
}

TEST(MappedFile, NoticesThatTheFileBecameShorter) {
  const ScratchFolder folder;
  write_text(folder / "a", "0123456789");
  const auto file = MappedFile::open(folder / "a");
  std::filesystem::resize_file(folder / "a", 20);
  EXPECT_NO_THROW(file->check_length());
  std::filesystem::resize_file(folder / "a", 4);
  EXPECT_THAT(message_of<DataError>([&] { file->check_length(); }), HasSubstr("a: the file became shorter"));
  EXPECT_EQ(file->bytes().size(), 10u);
}

TEST(CopiedFile, ReadsAnyPart) {
  const ScratchFolder folder;
  write_text(folder / "a", "0123456789");
  const CopiedFile file(folder / "a");
  std::array<std::byte, 3> part;
  file.read(4, part);
  EXPECT_EQ(text_of(part), "456");
  EXPECT_EQ(file.size(), 10u);
}

TEST(CopiedFile, NamesAFileThatBecameShorter) {
  const ScratchFolder folder;
  write_text(folder / "a", "0123456789");
  const CopiedFile file(folder / "a");
  std::filesystem::resize_file(folder / "a", 5);
  std::array<std::byte, 3> part;
  EXPECT_THAT(message_of<DataError>([&] { file.read(4, part); }),
              AllOf(HasSubstr("/a: the file became shorter"), HasSubstr("it ended at byte 5 of 10")));
}

TEST(FileRanges, AreTheSameBytesHoweverTheyAreRead) {
  const ScratchFolder folder;
  const std::string text = "0123456789";
  write_text(folder / "a", text);
  for (const auto& file : {open_ranges(folder / "a", spec::FileReading::map),
                           open_ranges(folder / "a", spec::FileReading::copy), ranges_of(as_bytes(text), "a")}) {
    ByteBuffer buffer;
    EXPECT_EQ(file->size(), 10u);
    EXPECT_EQ(text_of(file->range(2, 5, buffer)), "23456");
    EXPECT_TRUE(file->range(10, 0, buffer).empty());
    EXPECT_TRUE(file->path().ends_with("a"));
  }
}

TEST(FileRanges, OfAFileThatWasCutAreAnError) {
  const ScratchFolder folder;
  for (const auto reading : {spec::FileReading::map, spec::FileReading::copy}) {
    write_text(folder / "a", "0123456789");
    const auto file = open_ranges(folder / "a", reading);
    std::filesystem::resize_file(folder / "a", 0);
    ByteBuffer buffer;
    EXPECT_THAT(message_of<DataError>([&] { file->range(2, 5, buffer); }), HasSubstr("/a: the file became shorter"));
  }
}

TEST(LocalStore, StreamsTheSameBytesHoweverItReads) {
  const ScratchFolder folder;
  write_text(folder / "a", "0123456789");
  for (const auto reading : {spec::FileReading::map, spec::FileReading::copy}) {
    const auto& store = local_store(reading);
    EXPECT_EQ(store->gives_views(), reading == spec::FileReading::map);
    const auto stream = store->stream(folder / "a", {});
    EXPECT_EQ(stream->size(), 10u);
    const SharedBytes first = stream->take(4);
    EXPECT_EQ(text_of(stream->take(6).bytes), "456789");
    EXPECT_EQ(text_of(first.bytes), "0123");
  }
}

}  // namespace
}  // namespace chexbench::storage

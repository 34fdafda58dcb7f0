// Tests event files. tests/system/tensorboard_test.py has TensorBoard read those of trainings.
#include "formats/event_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <limits>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "formats/tfrecord.hpp"
#include "formats/wire.hpp"

namespace chexbench::formats {
namespace {

using namespace std::string_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::string> records_of(const std::string& path) {
  TfRecordReader reader(storage::MappedFile::open(path));
  std::vector<std::string> records;
  while (const auto record = reader.next()) records.push_back(text_of(record->data));
  return records;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

// The bytes are those that tensorboard 2.21 writes by SerializeToString().
TEST(Event, HasTheBytesThatTensorBoardWrites) {
  const std::string time = "\x09\0\0\0\0\0\0\xf8\x3f"s;  // 1.5
  EXPECT_EQ(text_of(version_event(1.5)), time + "\x1a\x0d" + "brain.Event:2");
  EXPECT_EQ(text_of(start_event(1.5, 300)), time + "\x10\xac\x02" + "\x3a\x02\x08\x01");
  const std::vector<Scalar> scalars{{"a/b", 0.25}, {"c", -2}};
  EXPECT_EQ(text_of(scalars_event(1.5, 3, scalars)), time + "\x10\x03" + "\x2a\x16" + "\x0a\x0a\x0a\x03" + "a/b" +
                                                         "\x15\0\0\x80\x3e"s + "\x0a\x08\x0a\x01" + "c" +
                                                         "\x15\0\0\0\xc0"s);
}

TEST(Event, WithATagThatIsNoUtf8StaysReadable) {
  const std::vector<Scalar> scalars{{"a\xff\n", 1}};
  EXPECT_THAT(text_of(scalars_event(0, 1, scalars)), HasSubstr("a\\xff\\x0a"));
}

TEST(EventFile, BeginsWithItsVersionAndStep) {
  const ScratchFolder scratch;
  EventFile file(scratch / "run", "node1", 1700000000.5, 7);
  EXPECT_THAT(records_of(scratch / "run/events.out.tfevents.1700000000.node1"),
              ElementsAre(text_of(version_event(1700000000.5)), text_of(start_event(1700000000.5, 7))));
}

TEST(EventFile, HasWhatWasAddedOnceItIsWritten) {
  const ScratchFolder scratch;
  EventFile file(scratch.path(), "node1", 1, 1);
  const std::string path = scratch / "events.out.tfevents.0000000001.node1";
  const std::vector<Scalar> scalars{{"loss", 0.5}};
  file.add(2, 1, scalars);
  EXPECT_EQ(records_of(path).size(), 2u);
  file.write();
  file.add(3, 2, scalars);
  file.sync();
  const std::vector<std::string> records = records_of(path);
  ASSERT_EQ(records.size(), 4u);
  EXPECT_EQ(records[2], text_of(scalars_event(2, 1, scalars)));
  EXPECT_EQ(records[3], text_of(scalars_event(3, 2, scalars)));
}

TEST(EventFile, NeverWritesToOneThatIsThereAndComesAfterIt) {
  const ScratchFolder scratch;
  std::filesystem::create_symlink(scratch / "elsewhere", scratch / "events.out.tfevents.0000000009.node1");
  const EventFile first(scratch.path(), "node1", 9, 1);
  const EventFile second(scratch.path(), "node1", 9, 5);
  EXPECT_THAT(names_in(scratch.path()),
              ElementsAre("events.out.tfevents.0000000009.node1", "events.out.tfevents.0000000010.node1",
                          "events.out.tfevents.0000000011.node1"));
}

TEST(EventFile, ThatCannotBeMadeSaysWhere) {
  EXPECT_THAT(message_of<OutputError>([] { EventFile("/proc/nowhere", "node1", 1, 1); }),
              AllOf(HasSubstr("/proc/nowhere"), HasSubstr("No such file")));
}

TEST(EventFile, EndsWithAWholeRecordWhereTheDiskIsFull) {
  const ScratchFolder scratch;
  EventFile file(scratch.path(), "node1", 1, 1);
  const std::string path = scratch / "events.out.tfevents.0000000001.node1";
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit limited = before;
  limited.rlim_cur = std::filesystem::file_size(path) + 20;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limited);
  const std::vector<Scalar> scalars{{"loss", 0.5}};
  file.add(2, 1, scalars);
  const std::string message = message_of<OutputError>([&] { file.write(); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(message, HasSubstr("cannot write " + path));
  EXPECT_EQ(records_of(path).size(), 2u);
}

}  // namespace
}  // namespace chexbench::formats

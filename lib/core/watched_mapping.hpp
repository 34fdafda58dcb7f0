// Turns the signal of a mapped file that lost its pages into an error that names the file.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <thread>

namespace chexbench {

struct MappingSlot;  // an entry of the table that the handler reads

// While an object of this class exists, a SIGBUS in `bytes` (another program cut the mapped file short, or its storage
// failed) ends the process with ExitCode::data and one line on stderr that names `path`, instead of a signal. Nothing
// can be repaired at that point, because any code may be reading the bytes; data that must survive has to be on storage
// already, like journal lines. A SIGBUS elsewhere goes to the former handler. Thread-safe.
class WatchedMapping {
 public:
  // `descriptor` is the open file; the handler reads the file's size from it. It must stay open for the lifetime of
  // this object.
  // @throws std::bad_alloc if the system has no memory left
  WatchedMapping(std::span<const std::byte> bytes, int descriptor, const std::string& path);
  ~WatchedMapping();
  WatchedMapping(const WatchedMapping&) = delete;
  WatchedMapping& operator=(const WatchedMapping&) = delete;

 private:
  const std::string path_;  // printable
  MappingSlot* const slot_;
};

// While an object of this class exists, such a SIGBUS first makes a waiting thread call `end`. Unlike a signal handler,
// it may for example end the other ranks of a job, and it need not return. The process ends after 10 s anyway. There is
// one at a time; making and destroying it is not thread-safe.
class LostMappingWatch {
 public:
  explicit LostMappingWatch(std::function<void()> end);
  ~LostMappingWatch();
  LostMappingWatch(const LostMappingWatch&) = delete;
  LostMappingWatch& operator=(const LostMappingWatch&) = delete;

 private:
  std::thread thread_;
};

}  // namespace chexbench

// Turns the signal of a mapped file that lost its pages into an error that names the file.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <thread>

namespace chexbench {

struct MappingSlot;  // an entry of the table that the handler reads

// While an object of this class lives, a SIGBUS in `bytes` (another program cut the mapped file short, or its storage
// failed) ends the process with ExitCode::data and one line on stderr that names `path`, instead of a signal. Nothing
// can be repaired there, because any code may be reading the bytes; what must outlive the run has to be on storage
// before, as journal lines are. A SIGBUS elsewhere goes to the handler that was there before. Thread-safe.
class WatchedMapping {
 public:
  // `descriptor` is the open file; the handler asks it for the file's size. It must stay open as long as this object.
  // @throws std::bad_alloc if the system has no memory left
  WatchedMapping(std::span<const std::byte> bytes, int descriptor, const std::string& path);
  ~WatchedMapping();
  WatchedMapping(const WatchedMapping&) = delete;
  WatchedMapping& operator=(const WatchedMapping&) = delete;

 private:
  const std::string path_;  // as a terminal can show it
  MappingSlot* const slot_;
};

// While an object of this class lives, such a SIGBUS first has `end` called in a thread that waits for it. It can do
// what a signal handler may not, such as ending the other ranks of a job, and need not return. The process ends after
// 10 s even so. There is one at a time; making and destroying it is not thread-safe.
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

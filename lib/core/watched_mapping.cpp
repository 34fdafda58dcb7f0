#include "core/watched_mapping.hpp"

#include <semaphore.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/printable.hpp"

namespace chexbench {

// The handler may run at any moment, so it only loads atomics: `begin` is 0 while the entry is free or being changed.
struct MappingSlot {
  std::atomic<std::uintptr_t> begin = 0;
  std::atomic<std::uintptr_t> bytes = 0;
  std::atomic<int> descriptor = -1;
  std::atomic<const char*> path = nullptr;
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free);

namespace {

// A part of the table. Parts are added and never removed, so the handler can walk over them.
struct Slots {
  std::array<MappingSlot, 128> slots;
  std::atomic<Slots*> next = nullptr;
};
Slots table;
std::mutex table_mutex;  // held to change the table
// The former action: never changed or freed once set, because the handler may be reading it.
std::atomic<const struct sigaction*> former = nullptr;
std::atomic<bool> is_ending = false;   // a thread is writing the message
std::atomic<bool> is_passing = false;  // the former handler has the signal

constexpr timespec kPatience{.tv_sec = 10, .tv_nsec = 0};  // for LostMappingWatch
std::atomic<bool> is_watched = false;
// A handler may post a semaphore, but not use a condition variable. It is never destroyed: a handler may be posting it.
sem_t mapping_lost;
std::once_flag mapping_lost_made;

const MappingSlot* find_slot(std::uintptr_t address) {
  for (const Slots* part = &table; part != nullptr; part = part->next) {
    for (const MappingSlot& slot : part->slots) {
      const std::uintptr_t begin = slot.begin;
      if (begin != 0 && address >= begin && address - begin < slot.bytes) return &slot;
    }
  }
  return nullptr;
}

void put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(STDERR_FILENO, text.data(), text.size());
    if (done <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
}

[[noreturn]] void end(const MappingSlot& slot) {
  while (is_ending.exchange(true)) ::pause();  // another thread hit the same hole
  struct stat status {};
  const bool is_short =
      ::fstat(slot.descriptor, &status) == 0 && static_cast<std::uintptr_t>(status.st_size) < slot.bytes;
  put("error: cannot read ");
  put(slot.path.load());
  put(is_short
          ? ": the file became shorter while it was being read: put it back whole; where other programs may change "
            "files, set store.read to \"copy\"\n"
          : ": its storage failed while it was being read: mapped pages could not be loaded\n");
  if (is_watched) {
    ::sem_post(&mapping_lost);
    ::nanosleep(&kPatience, nullptr);
  }
  ::_exit(static_cast<int>(ExitCode::data));
}

// Passes other signals to the former action. Under the default action the signal is raised again, because returning
// repeats an access but not a kill().
void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = *former.load();
  const bool has_handler = before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN;
  if (!has_handler || is_passing.exchange(true)) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  } else if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(signal, info, context);
  } else {
    before.sa_handler(signal);
  }
  is_passing = false;
}

// Only BUS_ADRERR means that pages of a file are gone. Other codes mean misaligned accesses or broken memory, and a
// signal from kill() has no address.
void on_bus_error(int signal, siginfo_t* info, void* context) {
  const bool is_page = info->si_code == BUS_ADRERR;
  const MappingSlot* const slot = is_page ? find_slot(reinterpret_cast<std::uintptr_t>(info->si_addr)) : nullptr;
  if (slot != nullptr) end(*slot);
  pass_on(signal, info, context);
}

// Called before each mapping, because libraries that are initialized later (UCX, for MPI) install their own handlers.
void install_handler() {
  struct sigaction now {};
  ::sigaction(SIGBUS, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_bus_error) return;
  former = new struct sigaction(now);
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGBUS, &action, nullptr);
}

MappingSlot& free_slot() {
  for (Slots* part = &table;; part = part->next) {
    for (MappingSlot& slot : part->slots) {
      if (slot.path.load() == nullptr) return slot;
    }
    if (part->next == nullptr) part->next = new Slots;
  }
}

MappingSlot* take_slot(std::span<const std::byte> bytes, int descriptor, const char* path) {
  const std::scoped_lock lock(table_mutex);
  MappingSlot& slot = free_slot();
  slot.path = path;
  slot.descriptor = descriptor;
  slot.bytes = bytes.size();
  slot.begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  install_handler();
  return &slot;
}

}  // namespace

WatchedMapping::WatchedMapping(std::span<const std::byte> bytes, int descriptor, const std::string& path)
    : path_(printable(path, PATH_MAX)), slot_(take_slot(bytes, descriptor, path_.c_str())) {}

LostMappingWatch::LostMappingWatch(std::function<void()> end) {
  std::call_once(mapping_lost_made, [] { ::sem_init(&mapping_lost, 0, 0); });
  is_watched = true;
  thread_ = std::thread([end = std::move(end)] {
    while (::sem_wait(&mapping_lost) != 0 && errno == EINTR) continue;
    if (is_watched) end();
  });
}

LostMappingWatch::~LostMappingWatch() {
  is_watched = false;
  ::sem_post(&mapping_lost);
  thread_.join();
}

WatchedMapping::~WatchedMapping() {
  const std::scoped_lock lock(table_mutex);
  slot_->begin = 0;
  slot_->path = nullptr;
}

}  // namespace chexbench

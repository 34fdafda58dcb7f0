#include "core/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "core/interrupt.hpp"
#include "core/log.hpp"

namespace chexbench {

FolderLock::FolderLock(const std::string& folder)
    : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  constexpr std::chrono::milliseconds kBetweenTries{100};
  if (descriptor_ < 0) return;
  for (bool is_told = false; ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; is_told = true) {
    if (!is_told) log::info("another chexbench writes to {}: waiting until it ends", folder);
    try {
      throw_if_interrupted();
    } catch (...) {
      ::close(descriptor_);
      throw;
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace chexbench

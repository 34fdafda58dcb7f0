// A storage on which another program empties a file in place, at the worst moment: right after a reader has asked how
// long it still is. The file is the one whose name ends in CUT_FILE; it happens once CUT_AFTER is a file that is not
// empty. To be loaded before libc (LD_PRELOAD).
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

namespace {

// A reader asks repeatedly by the same descriptor. Code that only inspects the file asks once.
constexpr int kQuestionsOfAReader = 3;

bool is_meant(const char* path) {
  const char* const victim = std::getenv("CUT_FILE");
  const char* const sign = std::getenv("CUT_AFTER");
  struct stat status {};
  return victim != nullptr && std::string_view(path).ends_with(victim) && sign != nullptr &&
         ::stat(sign, &status) == 0 && status.st_size > 0;
}

bool is_of_a_reader(int descriptor) {
  static std::mutex mutex;
  static int last = -1, questions = 0;
  const std::scoped_lock lock(mutex);
  questions = descriptor == last ? questions + 1 : 1;
  last = descriptor;
  return questions == kQuestionsOfAReader;
}

}  // namespace

extern "C" int fstat(int descriptor, struct stat* status) noexcept {
  using Fstat = int (*)(int, struct stat*);
  static const auto next = reinterpret_cast<Fstat>(dlsym(RTLD_NEXT, "fstat"));
  const int result = next(descriptor, status);
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const bool is_known = ::readlink(link.c_str(), path.data(), path.size() - 1) > 0;
  if (is_known && is_meant(path.data()) && is_of_a_reader(descriptor) && ::truncate(path.data(), 0) != 0) std::abort();
  return result;
}

// Runs targets over files, without libFuzzer and under any compiler: seeds, kept crashers, a corpus. Each input may
// take a second of CPU time and leave the process below 512 MB.
//   fuzz_replay_test [--target NAME] [--mutations N] [--unlimited] FOLDER...
//     FOLDER/NAME/* are the inputs of the target NAME. Each is also run N times with changes, the same ones each time.
//     --unlimited   time and memory have no limit, as under Valgrind, which takes 50 times as much
//   fuzz_replay_test --list    prints each target, a tab, and the files of its parsers
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/log.hpp"
#include "core/random.hpp"
#include "fuzz/fuzz.hpp"

namespace chexbench::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int kMostCpuS = 1;
constexpr long kMostMemoryKb = 512 * 1024;
constexpr std::size_t kMostMutatedBytes = 16384;

std::string current;  // the current input, for the messages of signals

void die(int signal) {
  const char* const what = signal == SIGPROF ? ": took more than 1 s of CPU time\n" : ": crashed\n";
  static_cast<void>(::write(STDERR_FILENO, current.data(), current.size()) >= 0);
  static_cast<void>(::write(STDERR_FILENO, what, std::strlen(what)) >= 0);
  ::_exit(1);
}

// On a separate stack, because a recursion may have used up the other one.
void handle_signals() {
  static std::array<char, 1 << 16> memory;
  const stack_t stack{.ss_sp = memory.data(), .ss_flags = 0, .ss_size = memory.size()};
  ::sigaltstack(&stack, nullptr);
  for (const int signal : {SIGPROF, SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) {
    struct sigaction action {};
    action.sa_handler = die;
    action.sa_flags = SA_ONSTACK;
    ::sigaction(signal, &action, nullptr);
  }
}

// Allows the current input so many seconds of CPU time, which a busy machine does not change; 0 ends the limit.
void limit_cpu(int seconds) {
  const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
}

long peak_memory_kb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Makes one to four changes: flips a bit, replaces a byte, removes or doubles some bytes, or cuts off the end.
void scramble_simply(RandomStream& random, Buffer& bytes, std::size_t most) {
  for (std::uint64_t changes = 1 + random.below(4); changes > 0 && !bytes.empty(); --changes) {
    const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(random.below(bytes.size()));
    const auto end = at + std::min<std::ptrdiff_t>(bytes.end() - at, 1 + static_cast<std::ptrdiff_t>(random.below(8)));
    const Buffer copy(at, end);
    const std::uint64_t way = random.below(16);
    if (way == 0) bytes.erase(at, bytes.end());
    if (way == 1) bytes.erase(at, end);
    if (way == 2) bytes.insert(at, copy.begin(), copy.end());
    if (way >= 3 && way < 8) *at = static_cast<std::byte>(random.below(256));
    if (way >= 8) *at ^= static_cast<std::byte>(1u << random.below(8));
  }
  bytes.resize(std::min(bytes.size(), most));
}

class Replay {
 public:
  Replay(std::uint64_t mutations, bool is_limited) : mutations_(mutations), is_limited_(is_limited) {}

  // Runs the target over every file in the folder, in the order of their names, and over mutations of each.
  void run(const Target& target, const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) files.push_back(entry.path());
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      std::ifstream stream(file, std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(stream), {}};
      const auto bytes = std::as_bytes(std::span(text));
      run_one(target, bytes, file.string());
      mutate(target, Buffer(bytes.begin(), bytes.end()), file.string());
    }
  }
  std::uint64_t inputs() const { return inputs_; }
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  void run_one(const Target& target, Bytes bytes, std::string name) {
    ++inputs_;
    current = std::move(name);
    if (is_limited_) limit_cpu(kMostCpuS);
    try {
      target.run(bytes);
    } catch (const std::exception& error) {
      fail(error.what());
    }
    limit_cpu(0);
    if (is_limited_ && !told_memory_ && peak_memory_kb() > kMostMemoryKb) {
      told_memory_ = true;  // the peak never falls again
      fail(fmt::format("the process has had {} MB", peak_memory_kb() / 1024));
    }
  }

  void mutate(const Target& target, const Buffer& seed, const std::string& name) {
    if (seed.size() > kMostMutatedBytes) return;
    RandomStream random(derive_seed(fnv1a64(target.name), fnv1a64(fs::path(name).filename().string())));
    const Scramble scramble = [&random](Buffer& bytes, std::size_t most) { scramble_simply(random, bytes, most); };
    for (std::uint64_t i = 0; i < mutations_; ++i) {
      Buffer bytes = seed;
      target.mutate == nullptr ? scramble(bytes, kMostMutatedBytes)
                               : target.mutate(bytes, kMostMutatedBytes, random.next(), scramble);
      run_one(target, bytes, fmt::format("{}, mutation {}", name, i));
    }
  }

  void fail(std::string_view reason) { failures_.push_back(fmt::format("{}: {}", current, reason)); }

  const std::uint64_t mutations_;
  const bool is_limited_;
  std::uint64_t inputs_ = 0;
  std::vector<std::string> failures_;
  bool told_memory_ = false;
};

int list() {
  for (const Target& target : targets()) fmt::print("{}\t{}\n", target.name, target.parsers);
  return 0;
}

int run_all(Replay replay, std::string_view only, const std::vector<std::string>& folders) {
  log::configure(log::Level::off);
  handle_signals();
  for (const Target& target : targets()) {
    if (!only.empty() && target.name != only) continue;
    const std::uint64_t before = replay.inputs();
    for (const std::string& folder : folders) replay.run(target, fs::path(folder) / target.name);
    if (replay.inputs() > before) continue;
    fmt::print(stderr, "{}: there is no input in any FOLDER/{}\n", target.name, target.name);
    return 1;
  }
  for (const std::string& failure : replay.failures()) fmt::print("{}\n", failure);  // after libpng's output
  fmt::print("{} inputs, {} failures, peak memory {} MB\n", replay.inputs(), replay.failures().size(),
             peak_memory_kb() / 1024);
  return replay.failures().empty() && replay.inputs() > 0 ? 0 : 1;
}

}  // namespace
}  // namespace chexbench::fuzz

int main(int count, char** values) {
  using namespace chexbench::fuzz;
  std::string only;
  std::uint64_t mutations = 0;
  bool is_limited = true;
  std::vector<std::string> folders;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = values[i];
    if (argument == "--list") return list();
    if (argument == "--target" && i + 1 < count) {
      only = values[++i];
    } else if (argument == "--unlimited") {
      is_limited = false;
    } else if (argument == "--mutations" && i + 1 < count) {
      mutations = std::strtoull(values[++i], nullptr, 10);
    } else {
      folders.emplace_back(argument);
    }
  }
  return run_all(Replay(mutations, is_limited), only, folders);
}

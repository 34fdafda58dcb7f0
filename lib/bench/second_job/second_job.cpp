#include "bench/second_job/second_job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <set>
#include <string_view>
#include <utility>

#include "bench/second_job/work.hpp"
#include "comm/launcher.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/printable.hpp"
#include "measure/system_files.hpp"
#include "spec/key_lists.hpp"
#include "spec/resolved.hpp"

namespace chexbench::bench {
namespace {

constexpr double kNap_s = 0.005;
constexpr double kGoodbye_s = 2;         // for the job to end by itself
constexpr int kFirstOwnDescriptor = 10;  // above the job's initial ones

[[noreturn]] void fail(const char* what) {
  throw DeviceError(fmt::format("the second job cannot be started: {}: {}", what, std::strerror(errno)));
}

// An open file that child processes do not inherit.
class PrivateFile {
 public:
  // Takes over `opened`, and moves it away from the descriptor numbers that the job starts with.
  PrivateFile(int opened, const char* what) {
    if (opened < 0) fail(what);
    number_ = fcntl(opened, F_DUPFD_CLOEXEC, kFirstOwnDescriptor);
    ::close(opened);
    if (number_ < 0) fail(what);
  }
  ~PrivateFile() { close(); }
  PrivateFile(const PrivateFile&) = delete;
  PrivateFile& operator=(const PrivateFile&) = delete;

  int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

// Returns an in-memory file with `text`, positioned at the beginning.
int memory_file(const char* name, const std::string& text) {
  const int file = memfd_create(name, MFD_CLOEXEC);
  if (file < 0) fail("memfd_create");
  if (write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()) || lseek(file, 0, SEEK_SET) != 0) {
    ::close(file);
    fail("write");
  }
  return file;
}

// The two ends of a pipe.
struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
  }
};

// Returns this process's environment without the variables that make a program a rank of an MPI job: the second job is
// not a rank, and its end must not end the MPI job.
std::vector<char*> environment_without_launcher() {
  std::vector<char*> kept;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!comm::is_launcher_variable(*variable)) kept.push_back(*variable);
  }
  kept.push_back(nullptr);
  return kept;
}

// The open files of the new process.
struct Streams {
  int spec, words, counters, control;
};

pid_t spawn(const std::string& program, const std::vector<int>& cores, const Streams& streams) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, streams.spec, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, streams.words, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&files, streams.counters, kCountersDescriptor);
  posix_spawn_file_actions_adddup2(&files, streams.control, kControlDescriptor);
  posix_spawn_file_actions_addclosefrom_np(&files, kControlDescriptor + 1);
  // A separate process group: Ctrl-C reaches only this process, which ends the job in an orderly way.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);

  std::string words[] = {"chexbench", "second-job", "--cores", fmt::format("{}", fmt::join(cores, ","))};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  pid_t process = -1;
  const int error =
      posix_spawn(&process, program.c_str(), &files, &attributes, arguments, environment_without_launcher().data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  errno = error;
  if (error != 0) fail("posix_spawn");
  return process;
}

// Returns the job's last log message, without time and level.
std::string last_words(int file) {
  constexpr off_t kMostBytes = 4000;
  const off_t end = lseek(file, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::min(end, kMostBytes)), '\0');
  const ssize_t read = pread(file, text.data(), text.size(), end - static_cast<off_t>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(read, 0)));
  while (text.ends_with('\n')) text.pop_back();
  std::string line = text.substr(text.rfind('\n') + 1);
  constexpr std::string_view kLevel = "error: ";
  if (const std::size_t level = line.find(kLevel); level != std::string::npos) line.erase(0, level + kLevel.size());
  return line.empty() ? "it said nothing" : printable(line, kMostBytes);
}

// Returns "with exit code 3", or "by signal 9 (Killed), ...".
std::string way_of_end(int status) {
  if (WIFEXITED(status)) return fmt::format("with exit code {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  return fmt::format("by signal {} ({}{})", signal, strsignal(signal),
                     signal == SIGKILL ? ", as the kernel does if memory runs out" : "");
}

class Process final : public SecondJob {
 public:
  Process(const SecondJobRequest& request, const std::string& program)
      : name_(fmt::format("the second job (kind {}, CPUs {})", to_string(request.trial.second_job.kind),
                          measure::cpu_list_text(request.cores))),
        words_(memory_file("chexbench-words", ""), "memfd_create"),
        counters_file_(memory_file("chexbench-counters", std::string(sizeof(SecondJobCounters), '\0')), "memfd_create"),
        counters_(counters_file_.number()) {
    const PrivateFile spec(memory_file("chexbench-spec", spec::to_json(request.trial)), "memfd_create");
    const Pipe pipe;
    const PrivateFile control(pipe.ends[0], "pipe");
    own_end_.emplace(pipe.ends[1], "pipe");
    process_ = spawn(program, request.cores,
                     {.spec = spec.number(),
                      .words = words_.number(),
                      .counters = counters_file_.number(),
                      .control = control.number()});
  }

  ~Process() override {
    own_end_.reset();
    const double give_up_s = now_s() + kGoodbye_s;
    while (!ended_ && now_s() < give_up_s && !has_ended()) sleep_until_s(now_s() + kNap_s);
    if (ended_) return;
    kill(-process_, SIGKILL);
    waitpid(process_, &status_, 0);
  }

  void wait_until_ready() override {
    while (!counters_->ready) {
      throw_if_interrupted();
      throw_if_ended("before it was ready");
      sleep_until_s(now_s() + kNap_s);
    }
  }

  SecondJobSample sample() override {
    throw_if_ended("while it was measured");
    clockid_t clock{};
    timespec cpu{};
    if (clock_getcpuclockid(process_, &clock) == 0) clock_gettime(clock, &cpu);
    return {.time_s = now_s(),
            .images = counters_->images,
            .bytes = counters_->bytes,
            .cpu_s = static_cast<double>(cpu.tv_sec) + 1e-9 * static_cast<double>(cpu.tv_nsec)};
  }

 private:
  bool has_ended() {
    if (!ended_) ended_ = waitpid(process_, &status_, WNOHANG) == process_;
    return ended_;
  }

  void throw_if_ended(const char* when) {
    if (!has_ended()) return;
    const std::string message =
        fmt::format("{} ended {}, {}: {}", name_, when, way_of_end(status_), last_words(words_.number()));
    const int code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 0;
    if (code == static_cast<int>(ExitCode::spec)) throw SpecError(message);
    if (code == static_cast<int>(ExitCode::data)) throw DataError(message);
    throw DeviceError(message);
  }

  const std::string name_;
  const PrivateFile words_, counters_file_;
  const SharedCounters counters_;
  std::optional<PrivateFile> own_end_;  // of the pipe: the job ends when it closes
  pid_t process_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

std::vector<int> checked(const std::vector<int>& asked, const std::string& text, const std::vector<int>& existing) {
  for (const int cpu : asked) {
    if (std::ranges::find(existing, cpu) != existing.end()) continue;
    throw SpecError(fmt::format("second_job.cores is {}, but this process may not use CPU {}: it has CPUs {}", text,
                                cpu, measure::cpu_list_text(existing)));
  }
  return asked;
}

// The window alone has this minimum length, because a job delivers whole batches: a few of them give no rate.
constexpr double kShortestAlone_s = 0.5;
// For remaining work of the trial's threads after its last step.
constexpr double kSettle_s = 0.1;

struct Rates {
  std::optional<double> images_per_s, bytes_per_s;
};

Rates rates(const spec::TrialSpec& trial, const SecondJobSample& begin, const SecondJobSample& end) {
  const double span_s = end.time_s - begin.time_s;
  Rates rates;
  if (span_s <= 0) return rates;
  const std::uint64_t images = end.images - begin.images;
  const auto fewest =
      static_cast<std::uint64_t>(kFewestSecondBatches) * static_cast<std::uint64_t>(trial.training.batch_size);
  if (images >= fewest) rates.images_per_s = static_cast<double>(images) / span_s;
  if (end.bytes > 0) rates.bytes_per_s = static_cast<double>(end.bytes - begin.bytes) / span_s;
  return rates;
}

class SecondJobObserver final : public StepObserver {
 public:
  SecondJobObserver(SecondJob& job, const spec::TrialSpec& trial) : job_(job), trial_(trial) {}

  void begin_steps() override { begin_ = job_.sample(); }
  void after_step(std::int64_t step, Recorder&) override {
    const SecondJobSample sample = job_.sample();  // also notices its end
    if (step + 1 == trial_.measure.warmup_steps) begin_ = sample;
  }
  void end_repeat(results::RepeatResult& result) override {
    const SecondJobSample end = job_.sample();
    const Rates beside = rates(trial_, begin_, end);
    result.second_job.images_per_s = beside.images_per_s;
    result.second_job.bytes_per_s = beside.bytes_per_s;
    result.second_job.cpu_s = end.cpu_s - begin_.cpu_s;
    result.second_job.span_s = end.time_s - begin_.time_s;
  }

 private:
  SecondJob& job_;
  const spec::TrialSpec& trial_;
  SecondJobSample begin_;
};

void sleep_interruptibly(double seconds) {
  constexpr double kDoze_s = 0.05;
  for (const double end_s = now_s() + seconds; now_s() < end_s;) {
    throw_if_interrupted();
    sleep_until_s(std::min(end_s, now_s() + kDoze_s));
  }
}

}  // namespace

std::unique_ptr<SecondJob> start_second_job(const SecondJobRequest& request, const std::string& program) {
  return std::make_unique<Process>(request, program);
}

std::vector<int> second_job_cores(const std::vector<RankCores>& rank_cores, std::size_t rank,
                                  const spec::TrialSpec& spec, int ranks, const std::vector<int>& existing) {
  const std::string& asked = spec.second_job.cores;
  const std::vector<int> listed = spec::second_job_cpus(asked);
  if (!listed.empty()) return checked(listed, asked, existing);
  std::set<int> all, used;
  for (std::size_t other = 0; other < rank_cores.size(); ++other) {
    if (rank_cores[other].host != rank_cores[rank].host) continue;
    all.insert(rank_cores[other].cores.begin(), rank_cores[other].cores.end());
    if (other >= static_cast<std::size_t>(ranks)) continue;
    const CoreShare share = share_cores(host_cores_of(rank_cores, other), spec, ranks);
    used.insert(share.cores.begin(), share.cores.end());
  }
  if (asked == "shared") return {used.begin(), used.end()};
  std::vector<int> apart;
  std::ranges::set_difference(all, used, std::back_inserter(apart));
  if (!apart.empty()) return apart;
  throw SpecError(
      fmt::format("second_job.cores is apart, but the ranks use all {} cores of {}: leave it some by cores_per_rank, "
                  "or let the two share cores (second_job.cores shared)",
                  all.size(), rank_cores[rank].host));
}

std::unique_ptr<StepObserver> measure_second_job(SecondJob& job, const spec::TrialSpec& trial) {
  return std::make_unique<SecondJobObserver>(job, trial);
}

void measure_alone(SecondJob& job, const spec::TrialSpec& trial, results::RepeatResult& result) {
  if (trial.second_job.kind == spec::SecondJobKind::page_cache) return;  // it has no rate to lose
  sleep_interruptibly(kSettle_s);
  const SecondJobSample begin = job.sample();
  sleep_interruptibly(std::max(result.second_job.span_s, kShortestAlone_s));
  const Rates alone = rates(trial, begin, job.sample());
  result.second_job.alone_images_per_s = alone.images_per_s;
  result.second_job.alone_bytes_per_s = alone.bytes_per_s;
}

}  // namespace chexbench::bench

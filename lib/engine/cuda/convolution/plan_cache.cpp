#include "engine/cuda/convolution/plan_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/numbers.hpp"
#include "core/output_file.hpp"
#include "spec/document.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr std::string_view kHeader = "chexbench convolution plans, version 1\n";

using Lines = std::map<std::string, CachedPlan>;

// Returns the text up to the next `mark`, or all of it if there is none, and removes text and mark from `text`.
std::string_view take_until(char mark, std::string_view& text) {
  const std::size_t at = std::min(text.find(mark), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

// Parses a line: key, engine, workspace in bytes and seconds, separated by tabs. Ignores damaged lines.
void add_line(std::string_view line, Lines& lines) {
  const std::string_view key = take_until('\t', line), engine = take_until('\t', line);
  const auto workspace_bytes = parse_number<std::int64_t>(take_until('\t', line));
  const auto seconds = parse_number<double>(line);
  if (key.empty() || engine.empty() || !workspace_bytes || *workspace_bytes < 0) return;
  if (!seconds || !std::isfinite(*seconds) || *seconds <= 0) return;
  lines.insert_or_assign(std::string(key), CachedPlan{std::string(engine), *workspace_bytes, *seconds});
}

// @throws SpecError if the file exists but cannot be read
Lines read(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return {};
  const std::string text = spec::read_text_file(file, "cache of convolution plans");
  std::string_view rest = text;
  if (!rest.starts_with(kHeader)) return {};
  rest.remove_prefix(kHeader.size());
  Lines lines;
  // A last line without a line end was cut short, even if it looks complete.
  while (rest.find('\n') != std::string_view::npos) add_line(take_until('\n', rest), lines);
  return lines;
}

std::string text(const Lines& lines) {
  std::string text(kHeader);
  for (const auto& [key, plan] : lines)
    text += fmt::format("{}\t{}\t{}\t{}\n", key, plan.engine, plan.workspace_bytes, plan.seconds);
  return text;
}

// @throws OutputError if the folder cannot be made
void make_folder_of(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) throw OutputError(fmt::format("{}: cannot make the folder: {}", folder.string(), error.message()));
}

// Holds an exclusive lock on a file during its lifetime: against other processes, and against other FileLocks of the
// same process. The file is created if needed; it stays empty and is not deleted. On a file system without locks, every
// process gets the lock.
class FileLock {
 public:
  // Waits until the lock is free. @throws OutputError if `path` cannot be opened for writing
  explicit FileLock(const std::string& path) : descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) throw OutputError(fmt::format("{}: cannot write it: {}", path, std::strerror(errno)));
    while (flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FileLock() { close(descriptor_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace

std::string plan_key(const PlanMachine& machine, const PlanRequest& request) {
  const ConvShape& shape = request.shape;
  std::string key =
      fmt::format("{} | {} | cuDNN {} | CUDA {} | {} | n{} {}/{}x{}x{} -> {}/{} k{} s{} p{}{} | {} | {} | {}",
                  machine.device, machine.compute_capability, machine.cudnn_version, machine.cuda_runtime_version,
                  to_string(request.pattern), shape.images, shape.in_channels, shape.in_pixel_stride, shape.height,
                  shape.width, shape.out_channels, shape.out_pixel_stride, shape.kernel, shape.stride, shape.padding,
                  shape.groups > 1 ? fmt::format(" g{}", shape.groups) : "", spec::to_string(request.precision),
                  request.deterministic ? "deterministic" : "any order", request.workspace_limit_bytes);
  std::ranges::replace_if(
      key, [](unsigned char c) { return c < ' '; }, ' ');  // tabs and line ends separate the fields of the file
  return key;
}

PlanCache::PlanCache(std::string file) : file_(std::move(file)) {
  if (file_.empty()) return;
  try {
    known_ = read(file_);
  } catch (const SpecError& error) {
    log::warning("{}; convolutions are timed again", error.what());
    file_.clear();
  }
}

const CachedPlan* PlanCache::find(const std::string& key) const {
  const auto found = known_.find(key);
  return found == known_.end() ? nullptr : &found->second;
}

void PlanCache::add(const std::string& key, const CachedPlan& plan) {
  known_.insert_or_assign(key, plan);
  added_.insert_or_assign(key, plan);
}

void PlanCache::save() {
  if (file_.empty() || added_.empty()) return;
  try {
    make_folder_of(file_);
    const FileLock lock(file_ + ".lock");
    known_ = read(file_);
    for (const auto& [key, plan] : added_) known_.insert_or_assign(key, plan);
    write_file_atomically(file_, text(known_));
    added_.clear();
  } catch (const Error& error) {
    log::warning("{}; the timings of convolutions are not kept", error.what());
    file_.clear();
  }
}

std::string default_plan_cache_file(const Environment& environment) {
  constexpr std::string_view kFile = "chexbench/convolution-plans.txt";
  constexpr std::array<std::pair<const char*, std::string_view>, 2> kFolders{
      {{"XDG_CACHE_HOME", "/"}, {"HOME", "/.cache/"}}};
  for (const auto& [variable, below] : kFolders) {
    const char* const folder = environment(variable);
    // The XDG Base Directory Specification of freedesktop.org requires relative paths to be ignored.
    if (folder != nullptr && folder[0] == '/') return fmt::format("{}{}{}", folder, below, kFile);
  }
  return {};
}

}  // namespace chexbench::engine::cuda

#include "core/module.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <glob.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "core/errors.hpp"

namespace chexbench {
namespace {

std::filesystem::path program_folder() { return std::filesystem::path(program_path()).parent_path(); }

std::string without_wildcards(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("*?[\\").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// Where pip puts NVIDIA's libraries if it also installed the program. The path contains Python's version, so it cannot
// be a RUNPATH.
std::string package_pattern() {
  return without_wildcards(program_folder().parent_path()) + "/lib*/python3*/*-packages/nvidia/*/lib/";
}

// Loads the library `name` from those folders, and returns whether that worked.
bool load_from_packages(const std::string& name) {
  glob_t found{};
  bool is_loaded = false;
  if (::glob((package_pattern() + without_wildcards(name)).c_str(), 0, nullptr, &found) == 0) {
    is_loaded = ::dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_LOCAL) != nullptr;
  }
  ::globfree(&found);
  return is_loaded;
}

// The loader's messages begin with the missing or unsuitable library.
std::string blamed_library(const std::string& reason) { return reason.substr(0, reason.find(':')); }

// NVIDIA's libraries are the ones most likely to be missing.
std::string way_out(const std::string& reason) {
  const std::string library = blamed_library(reason);
  if (!library.starts_with("libcu") && !library.starts_with("libnv") && !library.starts_with("libnccl")) return {};
  return fmt::format(
      "; it is neither where the loader looks nor in {}: install it there, or by `pip install 'chexbench[cuda]'` if "
      "pip installed chexbench",
      package_pattern());
}

void* open_module(const std::string& owner, const char* file) {
  const auto folder = program_folder();
  std::string reasons;
  for (const auto& path : {folder / file, folder.parent_path() / CHEXBENCH_MODULE_FOLDER / file}) {
    std::string reason;
    if (void* module = open_library(path, reason); module != nullptr) return module;
    reasons += (reasons.empty() ? "" : "; ") + reason + way_out(reason);
  }
  throw DeviceError(owner + ": its module cannot be loaded: " + reasons);
}

}  // namespace

std::string program_path(const std::string& proc) {
  std::error_code none;
  const std::filesystem::path link = std::filesystem::read_symlink(proc + "/self/exe", none);
  if (!link.empty()) return link;
  const auto started_as = ::getauxval(AT_EXECFN);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives the address as a number
  return std::filesystem::weakly_canonical(reinterpret_cast<const char*>(started_as));
}

void* open_library(const std::string& file, std::string& reason) {
  std::set<std::string> tried;
  for (;;) {
    if (void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    reason = ::dlerror();
    const std::string missing = blamed_library(reason);
    if (!tried.insert(missing).second || !load_from_packages(missing)) return nullptr;
  }
}

void* module_symbol(const std::string& owner, const char* file, const char* symbol) {
  void* const found = dlsym(open_module(owner, file), symbol);
  if (found == nullptr) throw DeviceError(owner + ": its module is of another build: " + dlerror());
  return found;
}

namespace {

std::atomic<bool> is_own = false;
std::atomic<const std::string*> expected = nullptr;

// Allocates nothing, because there may be no memory.
void on_library_exit(int status, void*) {
  const std::string* const line = expected;
  if ((status != EXIT_FAILURE && line == nullptr) || is_own) return;
  constexpr std::string_view kMessage =
      "error: a library ended the process; its message, if any, is above. As a rule it got no memory or no thread: "
      "lower training.batch_size, the pipeline's parallel_calls or the number of ranks, or raise `ulimit -v` or "
      "`ulimit -u`\n";
  std::fflush(nullptr);
  const std::string_view said = line != nullptr ? std::string_view(*line) : kMessage;
  static_cast<void>(!::write(STDERR_FILENO, said.data(), said.size()));
  ::_exit(static_cast<int>(ExitCode::device));
}

}  // namespace

void watch_library_exits() { ::on_exit(on_library_exit, nullptr); }

LibraryExitMessage::LibraryExitMessage(std::string message) : line_("error: " + std::move(message) + "\n") {
  expected = &line_;
}

LibraryExitMessage::~LibraryExitMessage() { expected = nullptr; }

void exit_is_own() { is_own = true; }

}  // namespace chexbench

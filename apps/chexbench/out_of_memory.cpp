#include "out_of_memory.hpp"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "bench/ranks.hpp"
#include "core/errors.hpp"

namespace chexbench::app {
namespace {

// Neither allocates nor runs destructors, which may allocate.
[[noreturn]] void end() {
  constexpr std::string_view kBefore = "error: ", kAfter = "\n";
  for (const std::string_view text : {kBefore, std::string_view(kOutOfMemory), kAfter}) {
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0) break;
  }
  bench::abort_ranks(static_cast<int>(ExitCode::device));
  ::_exit(static_cast<int>(ExitCode::device));
}

std::terminate_handler otherwise = nullptr;

[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    end();
  } catch (...) {  // the default handler names it
    otherwise();
  }
  // GCC 12 calls this handler before the exception is caught, if it leaves a noexcept function that catches other
  // types. Its type is then unknown; in practice it is std::bad_alloc, inside oneDNN.
  if (std::uncaught_exceptions() > 0) end();
  std::abort();
}

}  // namespace

void install_out_of_memory_handler() { otherwise = std::set_terminate(on_terminate); }

}  // namespace chexbench::app

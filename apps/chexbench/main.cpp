// The program chexbench: parses the command line, runs the verb, and turns errors into exit codes. This is the only
// place that catches all errors.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "bench/ranks.hpp"
#include "command_line.hpp"
#include "core/allocator.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/module.hpp"
#include "out_of_memory.hpp"
#include "output.hpp"

namespace {

using chexbench::ExitCode;

int fail(ExitCode code, const std::string& message) {
  chexbench::log::error("{}", message);
  return static_cast<int>(code);
}

// @throws OutputError if the output of --help or --version cannot be written
int report_usage_error(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    std::ostringstream asked_for;
    app.exit(error, asked_for, asked_for);
    chexbench::app::print(asked_for.str());
    return 0;
  }
  return fail(ExitCode::spec, chexbench::app::explain(app, error));
}

// Returns whether even a single thread is forbidden.
bool forbids_threads() {
  try {
    std::thread([] {}).join();
    return false;
  } catch (const std::system_error& error) {
    return error.code() == std::errc::operation_not_permitted;
  }
}

int report_system_error(const std::system_error& error) {
  if (error.code() == std::errc::operation_not_permitted && forbids_threads()) {
    return fail(ExitCode::device,
                "the system forbids threads: as a rule a container's seccomp filter that refuses clone3 because it is "
                "older than that call. Update the container runtime (docker 20.10.10 or newer), or start the container "
                "with --security-opt seccomp=unconfined");
  }
  if (error.code() != std::errc::resource_unavailable_try_again) {
    return fail(ExitCode::internal, fmt::format("internal error: {}", error.what()));
  }
  return fail(ExitCode::device,
              "the system grants no more threads: lower the pipeline's parallel_calls, cycle_length "
              "or the number of ranks, or raise `ulimit -u`");
}

// Parsing runs the verb. @throws the verb's errors
int parse(CLI::App& app, const std::vector<std::string>& command_line) {
  try {
    chexbench::app::parse(app, command_line);
    return 0;
  } catch (const CLI::ParseError& error) {
    return report_usage_error(app, error);
  }
}

int run(int argc, char** argv, chexbench::bench::Session& session) {
  try {
    CLI::App app;
    const std::vector<std::string> command_line(argv, argv + argc);
    chexbench::app::describe(app, session, command_line);
    return parse(app, command_line);
  } catch (const chexbench::app::ReaderGone&) {
    return chexbench::app::kReaderGoneExitCode;
  } catch (const chexbench::Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::device, chexbench::app::kOutOfMemory);
  } catch (const std::system_error& error) {
    return report_system_error(error);
  } catch (const std::exception& error) {
    return fail(ExitCode::internal, fmt::format("internal error: {}", error.what()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  chexbench::limit_malloc_arenas();
  chexbench::watch_library_exits();
  chexbench::app::install_out_of_memory_handler();
  chexbench::app::fill_standard_streams();
  chexbench::install_interrupt_handlers();
  // Other ranks may wait for this one in a collective, so an error of this rank must also end them.
  chexbench::bench::Session session;
  const int code = run(argc, argv, session);
  chexbench::exit_is_own();
  return session.leave(code);
}

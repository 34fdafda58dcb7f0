// chexbench: parses the command line, runs what it asks for, and turns errors into exit codes. The only catch.
#include <CLI/CLI.hpp>
#include <exception>

#include "bench/session.hpp"
#include "command_line.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"

namespace {

using chexbench::ExitCode;

int report_usage_error(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  chexbench::log::error("{}", chexbench::app::explain(app, error));
  return static_cast<int>(ExitCode::spec);
}

int run(int argc, char** argv, chexbench::bench::Session& session) {
  CLI::App app;
  chexbench::app::describe(app, session, {argv, argv + argc});
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return report_usage_error(app, error);
  } catch (const chexbench::Error& error) {
    chexbench::log::error("{}", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    chexbench::log::error("internal error: {}", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}

}  // namespace

int main(int argc, char** argv) {
  chexbench::install_interrupt_handlers();
  // Other ranks may wait for this one in a collective: its error has to end them, too.
  chexbench::bench::Session session;
  return session.leave(run(argc, argv, session));
}

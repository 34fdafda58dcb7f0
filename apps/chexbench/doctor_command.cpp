#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "bench/ranks.hpp"
#include "command_line.hpp"
#include "core/errors.hpp"
#include "options.hpp"
#include "output.hpp"
#include "verbs/doctor/doctor.hpp"

namespace chexbench::app {
namespace {

struct DoctorArguments {
  std::string format = "table";
  std::string data_root;
  bool explain = false;
};

void run(const DoctorArguments& arguments, bench::Session& session) {
  comm::World& world = session.world();
  const verbs::Doctor doctor = verbs::examine({.data_root = arguments.data_root, .roots = {}}, world);
  if (world.communicator().rank() != 0) return;
  print(arguments.format == "json" ? verbs::doctor_json(doctor)
                                   : verbs::doctor_table(doctor, stdout_width(), !arguments.explain),
        arguments.format);
  if (verbs::needs_mending(doctor)) {
    throw DeviceError(fmt::format("doctor: {} conflict{} between installed components, listed above",
                                  doctor.misfits.size(), doctor.misfits.size() == 1 ? "" : "s"));
  }
}

}  // namespace

void add_doctor_command(CLI::App& app, bench::Session& session) {
  const auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* const verb =
      app.add_subcommand("doctor", "Shows what distorts measurements, and libraries that conflict (exit code 4).");
  verb->add_option("--data", arguments->data_root,
                   "Also show where this folder or URL is stored, how much of it is cached, or how fast its server is.")
      ->type_name("ROOT");
  verb->add_flag("--explain", arguments->explain, "Also show limits, memory, cores of ranks, and libraries.");
  add_format_option(*verb, arguments->format, {"table", "json"});
  verb->callback([arguments, &session] { run(*arguments, session); });
}

}  // namespace chexbench::app

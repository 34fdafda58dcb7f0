#include "doctor_command.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "bench/doctor.hpp"
#include "core/errors.hpp"
#include "output.hpp"
#include "report/doctor.hpp"

namespace chexbench::app {
namespace {

void run(const std::string& format) {
  report::Doctor doctor = bench::examine();
  doctor.chexbench_version = CHEXBENCH_VERSION;
  print(format == "json" ? report::doctor_json(doctor) : report::doctor_table(doctor));
  if (bench::needs_mending(doctor)) {
    throw DeviceError(fmt::format("doctor: {} thing{} do{} not fit, listed above", doctor.misfits.size(),
                                  doctor.misfits.size() == 1 ? "" : "s", doctor.misfits.size() == 1 ? "es" : ""));
  }
}

}  // namespace

void add_doctor_command(CLI::App& app) {
  const auto format = std::make_shared<std::string>("table");
  CLI::App* const verb = app.add_subcommand(
      "doctor", "Tell of this machine, its GPUs and their libraries, and what does not fit; exit code 4 if so");
  verb->add_option("--format", *format, "What stdout gets")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  verb->callback([format] { run(*format); });
}

}  // namespace chexbench::app

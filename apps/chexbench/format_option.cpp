#include "format_option.hpp"

namespace chexbench::app {

void add_format_option(CLI::App& verb, std::string& format, const std::vector<std::string>& formats) {
  verb.add_option("--format", format, "Write the result to stdout in this format.")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
}

}  // namespace chexbench::app

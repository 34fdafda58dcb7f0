#include "ranks_option.hpp"

namespace chexbench::app {

CLI::Option* add_ranks_list(CLI::App& verb, std::vector<int>& ranks, const std::string& description) {
  return verb.add_option("--ranks", ranks, description)->delimiter(',')->type_name("N,...");
}

CLI::Option* add_rank_count(CLI::App& verb, const std::string& name, std::optional<int>& ranks, int most,
                            const std::string& description, const std::string& instead) {
  const auto refuse_list = [instead](const std::string& text) {
    return text.find(',') == std::string::npos ? "" : "it is one number, not the list " + text + "; " + instead;
  };
  return verb.add_option(name, ranks, description)
      ->check(CLI::Validator(refuse_list, ""))
      ->check(CLI::Range(1, most).description(""))
      ->type_name("N");
}

}  // namespace chexbench::app

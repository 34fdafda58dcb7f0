#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "commands.hpp"
#include "completion.hpp"
#include "man_page.hpp"
#include "output.hpp"

namespace chexbench::app {
namespace {

std::string script_for(const std::string& shell, const CommandInfo& root) {
  if (shell == "bash") return bash_completion(root);
  return shell == "zsh" ? zsh_completion(root) : fish_completion(root);
}

}  // namespace

void add_completion_command(CLI::App& app) {
  CLI::App* const verb =
      app.add_subcommand("completion",
                         "Print a script that completes commands, options and values in a shell, e.g. source "
                         "<(chexbench completion bash).");
  verb->group(kOtherCommands);
  const auto shell = std::make_shared<std::string>();
  verb->add_option("SHELL", *shell, "Write it for this shell.")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  verb->callback([&app, shell] { print(script_for(*shell, command_tree(app)), "script"); });
  CLI::App* const page = app.add_subcommand("man-page", "Print the manual page as roff.");
  page->group("");  // an installation includes the page
  page->callback([&app] { print(man_page(command_tree(app), CHEXBENCH_VERSION), "roff"); });
}

}  // namespace chexbench::app

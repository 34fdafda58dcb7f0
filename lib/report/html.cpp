#include "report/html.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "core/printable.hpp"
#include "report/html_data.hpp"

namespace chexbench::report {
namespace {

std::string escaped_for_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '&')
      escaped += "&amp;";
    else
      escaped += c;
  }
  return escaped;
}

using Parts = std::vector<std::pair<std::string_view, std::string>>;

// Replaces each "{{name}}" in `page` with the part of that name. The parts themselves are not searched.
std::string fill(std::string_view page, const Parts& parts) {
  std::string text;
  while (!page.empty()) {
    const std::size_t begin = page.find("{{");
    text += page.substr(0, begin);
    if (begin == std::string_view::npos) break;
    const std::size_t end = page.find("}}", begin);
    const std::string_view name = page.substr(begin + 2, end - begin - 2);
    for (const auto& [known, part] : parts) {
      if (known == name) text += part;
    }
    page.remove_prefix(end + 2);
  }
  return text;
}

// A browser ends a script at "</script", and parses it differently after "<!--", even inside strings. So every '<' is
// escaped.
std::string escaped_for_script(const std::string& json) {
  std::string text;
  for (const char c : json) c == '<' ? text += "\\u003c" : text += c;
  return text;
}

struct Page {
  std::string_view title;
  std::string_view numbers;  // the files next to the page with its numbers
  std::string data;          // JSON, for the scripts
  const Embedded& scripts;
};

std::string filled(const PageFiles& files, const Page& page) {
  const Embedded charts = chart_library();
  return fill(files.html, {{"title", escaped_for_html(printable(page.title))},
                           {"script_sources", fmt::format("{} {}", page.scripts.policy_source, charts.policy_source)},
                           {"style_source", std::string(files.css.policy_source)},
                           {"css", std::string(files.css.text)},
                           {"numbers", std::string(page.numbers)},
                           {"data", escaped_for_script(page.data)},
                           {"chart_library", std::string(charts.text)},
                           {"scripts", std::string(page.scripts.text)}});
}

}  // namespace

std::string html_page(const analysis::Evaluation& evaluation) {
  const PageFiles files = page_files();
  return filled(files, {.title = evaluation.report.experiment,
                        .numbers = "report.json and trials.csv",
                        .data = page_data(evaluation),
                        .scripts = files.report});
}

std::string evaluation_page(std::string_view name, const std::string& json) {
  const PageFiles files = page_files();
  return filled(
      files, {.title = name, .numbers = "evaluation.json and scores.csv", .data = json, .scripts = files.evaluation});
}

}  // namespace chexbench::report

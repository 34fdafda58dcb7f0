# chexbench_embed_page(<variable>) writes a source that defines page_files() of html.hpp with the texts of html/,
# and puts the path of the source into <variable>. chexbench_embed_charts(<variable> <file>) does the same for
# chart_library(), with Chart.js at <file> and its license. Both sources are written again when a file changes.

# Puts the file at `path` as a C++ literal into <variable>, and as it is into <variable>_text.
function(chexbench_read_embedded variable path)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} text)
  set(${variable} "R\"embedded(${text})embedded\"" PARENT_SCOPE)
  set(${variable}_text "${text}" PARENT_SCOPE)
endfunction()

# Puts the source that allows a content security policy to run `text` into <variable>: 'sha256-BASE64'.
function(chexbench_policy_source variable text)
  string(SHA256 hash "${text}")
  set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(base64)
  # Three digits of base 16 are two of base 64; a byte 0 behind the 32 bytes fills the last ones.
  foreach(at RANGE 0 63 3)
    string(SUBSTRING ${hash}00 ${at} 3 group)
    math(EXPR high "0x${group} >> 6")
    math(EXPR low "0x${group} & 63")
    string(SUBSTRING ${digits} ${high} 1 high)
    string(SUBSTRING ${digits} ${low} 1 low)
    string(APPEND base64 ${high}${low})
  endforeach()
  string(SUBSTRING ${base64} 0 43 base64)
  set(${variable} "\"'sha256-${base64}='\"" PARENT_SCOPE)
endfunction()

# Puts the scripts of html/ of these names, one after the other, as C++ literals into <variable>, and the source that
# allows them into <variable>_source.
function(chexbench_read_scripts variable)
  set(scripts)
  set(scripts_text)
  foreach(name ${ARGN})
    chexbench_read_embedded(script ${CMAKE_CURRENT_SOURCE_DIR}/html/${name}.js)
    string(APPEND scripts "${script} ")
    string(APPEND scripts_text "${script_text}")
  endforeach()
  chexbench_policy_source(source "${scripts_text}")
  set(${variable} "${scripts}" PARENT_SCOPE)
  set(${variable}_source "${source}" PARENT_SCOPE)
endfunction()

function(chexbench_embed_page variable)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/html)
  chexbench_read_embedded(html ${folder}/page.html)
  chexbench_read_embedded(css ${folder}/page.css)
  chexbench_policy_source(css_source "${css_text}")
  set(shared elements marks charts table judged)
  chexbench_read_scripts(report ${shared} report columns answer findings ablations second_jobs curves learning specs
    page)
  chexbench_read_scripts(evaluation ${shared} findings_judged classes_judged evaluation)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_page.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[#include "report/html.hpp"

namespace chexbench::report {

PageFiles page_files() {
  return {.html = @html@,
          .css = {.text = @css@, .policy_source = @css_source@},
          .report = {.text = @report@, .policy_source = @report_source@},
          .evaluation = {.text = @evaluation@, .policy_source = @evaluation_source@}};
}

}  // namespace chexbench::report
]])
  set(${variable} ${source} PARENT_SCOPE)
endfunction()

function(chexbench_embed_charts variable file)
  chexbench_read_embedded(license ${CMAKE_CURRENT_SOURCE_DIR}/html/chart-license.txt)
  chexbench_read_embedded(library ${file})
  chexbench_policy_source(library_source "${license_text}${library_text}")
  set(source ${CMAKE_CURRENT_BINARY_DIR}/chart_library.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[#include "report/html.hpp"

namespace chexbench::report {

Embedded chart_library() { return {.text = @license@ @library@, .policy_source = @library_source@}; }

}  // namespace chexbench::report
]])
  set(${variable} ${source} PARENT_SCOPE)
endfunction()

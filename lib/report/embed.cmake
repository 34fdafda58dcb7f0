# chexbench_embed_page(<variable>) writes a source that defines page_files() of html_files.hpp with the texts of html/,
# and puts the path of the source into <variable>. chexbench_embed_charts(<variable> <file>) does the same for
# chart_library(), with Chart.js at <file> and its license. Both sources are written again when a file changes.
function(chexbench_read_embedded variable path)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} text)
  set(${variable} "R\"embedded(${text})embedded\"" PARENT_SCOPE)
endfunction()

function(chexbench_embed_page variable)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/html)
  chexbench_read_embedded(html ${folder}/page.html)
  chexbench_read_embedded(css ${folder}/page.css)
  set(scripts)
  foreach(name charts tables steps curves learning specs page)
    chexbench_read_embedded(script ${folder}/${name}.js)
    string(APPEND scripts "${script} ")
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_page.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[#include "report/html_files.hpp"

namespace chexbench::report {

PageFiles page_files() {
  return {.html = @html@,
          .css = @css@,
          .scripts = @scripts@};
}

}  // namespace chexbench::report
]])
  set(${variable} ${source} PARENT_SCOPE)
endfunction()

function(chexbench_embed_charts variable file)
  chexbench_read_embedded(license ${CMAKE_CURRENT_SOURCE_DIR}/html/chart-license.txt)
  chexbench_read_embedded(library ${file})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/chart_library.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[#include "report/html_files.hpp"

namespace chexbench::report {

std::string_view chart_library() { return @license@ @library@; }

}  // namespace chexbench::report
]])
  set(${variable} ${source} PARENT_SCOPE)
endfunction()

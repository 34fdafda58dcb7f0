# chexbench_embed(<variable> <folder of configs/>): writes a source that defines chexbench::spec::embedded_<folder>()
# over the *.json files of configs/<folder>, and puts its path into <variable>. Written again when a file changes.
function(chexbench_embed variable folder)
  file(GLOB paths CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/configs/${folder}/*.json)
  list(SORT paths)
  set(entries "")
  foreach(path IN LISTS paths)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    get_filename_component(name ${path} NAME_WE)
    file(READ ${path} text)
    string(APPEND entries "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_${folder}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [[#include "spec/shipped.hpp"

namespace chexbench::spec {

std::span<const EmbeddedFile> embedded_@folder@() {
  static constexpr EmbeddedFile kFiles[] = {
@entries@  };
  return kFiles;
}

}  // namespace chexbench::spec
]])
  set(${variable} ${source} PARENT_SCOPE)
endfunction()

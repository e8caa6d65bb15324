# SPDX-License-Identifier: Apache-2.0
# What a wheel holds beside the Python sources (pyproject.toml): libraries under anynpu/lib,
# programs under anynpu/bin, headers under anynpu/include. Everything finds its libraries relative
# to itself, so the package works wherever it is installed.
function(anynpu_package)
  get_property(acl_libraries GLOBAL PROPERTY ANYNPU_ACL_LIBRARIES)
  get_property(other_names GLOBAL PROPERTY ANYNPU_OTHER_NAMES)
  get_property(plugins GLOBAL PROPERTY ANYNPU_PLUGINS)
  foreach(library anynpu ${plugins} ${acl_libraries} ${other_names} fmk_onnx_parser hpert profiler_stc tracer_stc anynpu_os_calls anynpu_check)
    if(TARGET ${library})
      set_target_properties(${library} PROPERTIES INSTALL_RPATH "$ORIGIN")
      install(TARGETS ${library} LIBRARY DESTINATION anynpu/lib COMPONENT wheel)
    endif()
  endforeach()
  foreach(program atc)
    if(TARGET ${program})
      set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
      install(TARGETS ${program} RUNTIME DESTINATION anynpu/bin COMPONENT wheel)
    endif()
  endforeach()
  if(EXISTS ${CMAKE_SOURCE_DIR}/include)
    install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/ DESTINATION anynpu/include COMPONENT wheel)
  endif()
endfunction()

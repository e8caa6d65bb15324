# SPDX-License-Identifier: Apache-2.0
# anynpu_for_other_pythons(target): the extension module `target` once more for each interpreter of
# ANYNPU_WHEEL_PYTHONS, with its own suffix, in build/wheel-modules. One wheel then serves them all:
# Python loads the file with its suffix. Built by the target wheel_modules.
set(ANYNPU_WHEEL_PYTHONS "" CACHE STRING "Interpreters beside the build's own that a wheel serves")
add_custom_target(wheel_modules)

function(anynpu_for_other_pythons target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(includes ${target} INCLUDE_DIRECTORIES)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  get_target_property(options ${target} COMPILE_OPTIONS)
  get_target_property(name ${target} OUTPUT_NAME)
  get_target_property(rpath ${target} INSTALL_RPATH)
  get_target_property(folder ${target} LIBRARY_OUTPUT_DIRECTORY)
  get_filename_component(package ${folder} NAME)
  list(FILTER libraries EXCLUDE REGEX "Python::")
  foreach(python ${ANYNPU_WHEEL_PYTHONS})
    execute_process(COMMAND ${python} -c "import sysconfig as s; print(s.get_paths()['include'], s.get_config_var('EXT_SUFFIX'), sep=';')"
                    OUTPUT_VARIABLE facts OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    list(GET facts 0 headers)
    list(GET facts 1 suffix)
    if(suffix STREQUAL ".${Python_SOABI}.so")
      continue()  # the build's own
    endif()
    string(MAKE_C_IDENTIFIER "${target}${suffix}" other)
    add_library(${other} MODULE EXCLUDE_FROM_ALL ${sources})
    target_include_directories(${other} PRIVATE ${includes} ${headers})
    target_compile_options(${other} PRIVATE ${options})
    target_link_libraries(${other} PRIVATE ${libraries})
    add_dependencies(${other} ${target})  # generated sources
    add_dependencies(wheel_modules ${other})
    set_target_properties(${other} PROPERTIES PREFIX "" OUTPUT_NAME ${name} SUFFIX ${suffix}
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/wheel-modules/${package}
      BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${rpath}")
  endforeach()
endfunction()

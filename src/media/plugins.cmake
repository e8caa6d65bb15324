# SPDX-License-Identifier: Apache-2.0
# The codecs: libanynpu_image.so and libanynpu_video.so, each built where its packages are there, and
# opened by libanynpu.so on first use.
find_package(JPEG)
find_package(PNG)
find_package(PkgConfig)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(FFMPEG IMPORTED_TARGET libavcodec libavutil libswscale)
endif()

function(anynpu_plugin name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/media/plugin_${name}/*.cpp)
  add_library(anynpu_${name} SHARED ${sources})
  target_link_libraries(anynpu_${name} PRIVATE anynpu ${ARGN})
  target_link_options(anynpu_${name} PRIVATE -Wl,-Bsymbolic -Wl,-z,defs
                      -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/plugin.map)
  set_target_properties(anynpu_${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN")
  set_property(GLOBAL APPEND PROPERTY ANYNPU_PLUGINS anynpu_${name})
endfunction()

if(JPEG_FOUND AND PNG_FOUND)
  set(png PNG::PNG)
  if(ANYNPU_GLIBC)
    # The shared library asks for a newer pow. The archive is for programs: but for the address of stderr,
    # its code can stand in a shared library too.
    find_library(PNG_ARCHIVE libpng16.a REQUIRED)
    set(png ${CMAKE_BINARY_DIR}/glibc-${ANYNPU_GLIBC}/libpng16.a)
    execute_process(COMMAND ${CMAKE_OBJCOPY} --redefine-sym stderr=anynpu_stderr ${PNG_ARCHIVE} ${png}
                    COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND png ZLIB::ZLIB m)
  endif()
  anynpu_plugin(image JPEG::JPEG ${png})
endif()
if(FFMPEG_FOUND)
  anynpu_plugin(video PkgConfig::FFMPEG)
endif()

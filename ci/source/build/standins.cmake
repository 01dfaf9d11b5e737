# Comes before the text of a repository's own CMakeLists.txt: what the toolkit, the network and the
# compiler would give, so that the build can be read to its end where none of them is.

# Languages are not enabled: nothing is compiled, and no compiler is asked what it can.
macro(project standin_name)
  _project(${standin_name} NONE)
  set(CMAKE_C_COMPILER /usr/bin/cc)
  set(CMAKE_CXX_COMPILER /usr/bin/c++)
endmacro()

macro(enable_language)
endmacro()

# A build that asks for another version of cmake, or says that something is missing, goes on.
macro(cmake_minimum_required)
endmacro()

function(message)
  if(ARGC GREATER 1 AND ARGV0 MATCHES "^(FATAL_ERROR|SEND_ERROR)$")
    list(REMOVE_AT ARGV 0)
    string(REPLACE "\n" " " standin_text "${ARGV}")
    file(APPEND "${CMAKE_BINARY_DIR}/standin_errors.txt" "${standin_text}\n")
  endif()
endfunction()

macro(find_package standin_name)
  set(${standin_name}_FOUND TRUE)
  set(${standin_name}_EXECUTABLE /usr/bin/false)
  set(${standin_name}_VERSION 99)
endmacro()

function(standin_find standin_name standin_result)
  foreach(standin_folder IN LISTS CMAKE_MODULE_PATH)
    if(EXISTS "${standin_folder}/${standin_name}.cmake")
      set(${standin_result} "${standin_folder}/${standin_name}.cmake" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${standin_result} "" PARENT_SCOPE)
endfunction()

# Files that a toolkit would bring are passed over.
macro(include standin_file)
  if(EXISTS "${standin_file}"
      OR EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${standin_file}"
      OR EXISTS "${CMAKE_ROOT}/Modules/${standin_file}.cmake")
    _include(${ARGV})
  else()
    standin_find("${standin_file}" standin_found)
    if(standin_found)
      _include(${standin_found})
    endif()
  endif()
endmacro()

# No other program runs, nothing is installed, and no order of work is wanted.
macro(execute_process)
endmacro()

macro(install)
endmacro()

macro(add_dependencies)
endmacro()

# A target that the toolkit's functions would make is there when it is first spoken of.
foreach(standin_command target_sources target_include_directories target_compile_definitions
    target_compile_options target_compile_features target_link_libraries target_link_options
    target_link_directories set_target_properties)
  cmake_language(EVAL CODE "
    macro(${standin_command} standin_target)
      if(NOT TARGET \${standin_target})
        add_library(\${standin_target} OBJECT)
      endif()
      _${standin_command}(\${standin_target} \${ARGN})
    endmacro()")
endforeach()

# The toolkit's own functions for kernels that a program launches.
macro(ascendc_library standin_target standin_kind)
  add_library(${standin_target} OBJECT ${ARGN})
endmacro()

macro(ascendc_fatbin_library standin_target)
  add_library(${standin_target} OBJECT ${ARGN})
endmacro()

macro(ascendc_compile_definitions)
  target_compile_definitions(${ARGV})
endmacro()

macro(ascendc_compile_options)
  target_compile_options(${ARGV})
endmacro()

macro(ascendc_include_directories)
  target_include_directories(${ARGV})
endmacro()

function(standin_folders standin_folder)
  set_property(GLOBAL APPEND PROPERTY standin_seen "${standin_folder}")
  get_property(standin_below DIRECTORY "${standin_folder}" PROPERTY SUBDIRECTORIES)
  foreach(standin_one IN LISTS standin_below)
    standin_folders("${standin_one}")
  endforeach()
endfunction()

function(standin_targets standin_folder)
  get_property(standin_all DIRECTORY "${standin_folder}" PROPERTY BUILDSYSTEM_TARGETS)
  # What add_definitions gives stands in the folder only.
  get_property(standin_given DIRECTORY "${standin_folder}" PROPERTY COMPILE_DEFINITIONS)
  foreach(standin_target IN LISTS standin_all)
    foreach(standin_property SOURCES INCLUDE_DIRECTORIES INTERFACE_INCLUDE_DIRECTORIES
        COMPILE_DEFINITIONS COMPILE_OPTIONS LINK_LIBRARIES)
      get_property(standin_value TARGET ${standin_target} PROPERTY ${standin_property})
      if(standin_property STREQUAL "COMPILE_DEFINITIONS")
        list(PREPEND standin_value ${standin_given})
      endif()
      if(standin_value)
        string(REPLACE "\n" " " standin_value "${standin_value}")
        file(APPEND "${CMAKE_BINARY_DIR}/standin_targets.txt"
          "${standin_target}\t${standin_property}\t${standin_folder}\t${standin_value}\n")
      endif()
    endforeach()
  endforeach()
endfunction()

# Whether a folder belongs to a project below that this build does not read.
function(standin_elsewhere standin_folder standin_result)
  set(${standin_result} FALSE PARENT_SCOPE)
  get_property(standin_before GLOBAL PROPERTY standin_seen)
  foreach(standin_project IN LISTS STANDIN_PROJECTS)
    cmake_path(IS_PREFIX standin_project "${standin_folder}" standin_below)
    if(standin_below AND NOT "${CMAKE_SOURCE_DIR}/${standin_project}" IN_LIST standin_before)
      set(${standin_result} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# Operators that this configuration leaves out are read as well.
macro(standin_operators)
  standin_folders("${CMAKE_SOURCE_DIR}")
  get_property(standin_before GLOBAL PROPERTY standin_seen)
  string(REPLACE ";" "\n" standin_lines "${standin_before}")
  file(WRITE "${CMAKE_BINARY_DIR}/standin_folders.txt" "${standin_lines}\n")
  foreach(standin_folder IN LISTS STANDIN_OPERATORS)
    standin_elsewhere("${standin_folder}" standin_other)
    if(NOT standin_other AND NOT "${CMAKE_SOURCE_DIR}/${standin_folder}" IN_LIST standin_before)
      string(MAKE_C_IDENTIFIER "${standin_folder}" standin_name)
      add_subdirectory("${CMAKE_SOURCE_DIR}/${standin_folder}"
        "${CMAKE_BINARY_DIR}/standin/${standin_name}")
    endif()
  endforeach()
endmacro()

# At the end all targets are written.
function(standin_end)
  set_property(GLOBAL PROPERTY standin_seen "")
  standin_folders("${CMAKE_SOURCE_DIR}")
  get_property(standin_now GLOBAL PROPERTY standin_seen)
  foreach(standin_folder IN LISTS standin_now)
    standin_targets("${standin_folder}")
  endforeach()
  file(APPEND "${CMAKE_BINARY_DIR}/standin_targets.txt" "standin end\n")
  _message(FATAL_ERROR "The build has been read.")
endfunction()

# cmake -DROOT=... -DOUT=... -P commit.cmake: writes the commit that is built, empty outside a repository; touches the
# file only when it changes.
find_package(Git QUIET)
set(commit "")
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12 --exclude=*
                  WORKING_DIRECTORY ${ROOT} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "${commit}" @ONLY)

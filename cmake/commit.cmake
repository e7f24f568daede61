# cmake -DROOT=... -DOUT=... -DHEADER=... -DVERSION=... -P commit.cmake: writes the commit that is built, empty outside a
# repository, and a header with version and commit; touches the files only when they change.
find_package(Git QUIET)
set(commit "")
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=12 --exclude=*
                  WORKING_DIRECTORY ${ROOT} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
                  ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "${commit}" @ONLY)
file(CONFIGURE OUTPUT ${HEADER} CONTENT "#define KINDRED_BUILD \"${VERSION} ${commit}\"\n" @ONLY)

# embed_files(TARGET NAME PATH NAME PATH ...): puts the files into the target, to be read by
# EmbeddedFile(NAME) of base/embedded.h.
function(embed_files target)
  set(assembly "    .section .rodata\n")
  set(declarations "")
  set(entries "")
  set(files ${ARGN})
  set(paths "")
  set(count 0)
  while(files)
    list(POP_FRONT files name path)
    list(APPEND paths ${path})
    string(APPEND assembly
      "    .global kindred_file_${count}\n    .global kindred_file_${count}_end\n"
      "kindred_file_${count}:\n    .incbin \"${path}\"\nkindred_file_${count}_end:\n    .byte 0\n")
    string(APPEND declarations
      "extern const char kindred_file_${count}[], kindred_file_${count}_end[];\n")
    string(APPEND entries
      "    {\"${name}\", kindred_file_${count}, kindred_file_${count}_end},\n")
    math(EXPR count "${count} + 1")
  endwhile()
  string(APPEND assembly "    .section .note.GNU-stack,\"\",%progbits\n")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  file(CONFIGURE OUTPUT ${folder}/files.S CONTENT "${assembly}" @ONLY)
  file(CONFIGURE OUTPUT ${folder}/table.cc CONTENT
    "#include <cstddef>\nextern \"C\" {\n${declarations}}\nnamespace kindred {\nstruct Embedded {\n  const char* name;\n  const char *begin, *end;\n};\nextern const Embedded kEmbedded[] = {\n${entries}};\nextern const size_t kEmbeddedCount = ${count};\n}  // namespace kindred\n"
    @ONLY)
  set_source_files_properties(${folder}/files.S PROPERTIES OBJECT_DEPENDS "${paths}" SKIP_UNITY_BUILD_INCLUSION ON)
  set_source_files_properties(${folder}/table.cc PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${folder}/files.S ${folder}/table.cc)
endfunction()

(function_def (function_command (argument_list . (argument) @name))) @d.function
(macro_def (macro_command (argument_list . (argument) @name))) @d.macro
((normal_command (identifier) @_c (argument_list . (argument) @name)) @d.target
  (#any-of? @_c "add_library" "add_executable" "add_custom_target" "project" "ADD_LIBRARY" "ADD_EXECUTABLE"))
((normal_command (identifier) @_c (argument_list . (argument) @name)) @d.variable (#any-of? @_c "option"))
(normal_command (identifier) @r.call)
((normal_command (identifier) @_c) @import (#any-of? @_c "include" "find_package" "add_subdirectory"))
[(line_comment) (bracket_comment)] @comment

(module (module_statement (name) @name)) @d.module
(submodule (submodule_statement (name) @name)) @d.module
(program (program_statement (name) @name)) @d.module
(subroutine (subroutine_statement name: (name) @name)) @d.function
(function (function_statement name: (name) @name)) @d.function
(derived_type_definition (derived_type_statement (type_name) @name)) @d.struct
(subroutine_call subroutine: (identifier) @r.call)
(call_expression . (identifier) @r.call)
(use_statement) @import
(comment) @comment

(function_declaration name: (identifier) @name) @d.declaration
(function_declaration name: (identifier) @name body: (_)) @d.function
(variable_declaration . (identifier) @name (struct_declaration)) @d.struct
(variable_declaration . (identifier) @name (enum_declaration)) @d.enum
(variable_declaration . (identifier) @name (union_declaration)) @d.union
(variable_declaration . (identifier) @name (error_set_declaration)) @d.enum
(variable_declaration . (identifier) @name (opaque_declaration)) @d.type
(struct_declaration (variable_declaration "const" . (identifier) @name) @d.constant)
(test_declaration [(string (string_content) @name) (identifier) @name]) @d.function
(call_expression function: [(identifier) @r.call (field_expression member: (identifier) @r.call)])
(parameter type: [(identifier) @r.type (field_expression member: (identifier) @r.type)
  (pointer_type (identifier) @r.type) (nullable_type (identifier) @r.type)])
(call_expression (identifier) @r.read)
((builtin_function (builtin_identifier) @_b) @import (#any-of? @_b "@import" "@cImport" "@embedFile"))
(comment) @comment

; top
(source_file (variable_declaration "var" . (identifier) @name) @d.variable)
(source_file (variable_declaration "const" . (identifier) @name) @d.constant)

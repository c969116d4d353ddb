(preproc_def name: (identifier) @name) @d.macro
(preproc_function_def name: (identifier) @name) @d.macro
(struct_specifier name: (type_identifier) @name body: (_)) @d.struct
(union_specifier name: (type_identifier) @name body: (_)) @d.union
(enum_specifier name: (type_identifier) @name body: (_)) @d.enum
(enumerator name: (identifier) @name) @d.constant
(type_definition declarator: [
  (type_identifier) @name
  (pointer_declarator declarator: (type_identifier) @name)
  (array_declarator declarator: (type_identifier) @name)
  (function_declarator declarator: [(type_identifier) @name
    (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name))])]) @d.type
(type_definition type: (struct_specifier !name body: (_)) declarator: (type_identifier) @name) @d.struct
(type_definition type: (enum_specifier !name body: (_)) declarator: (type_identifier) @name) @d.enum
(type_definition type: (union_specifier !name body: (_)) declarator: (type_identifier) @name) @d.union
(function_definition declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))])]) @d.function
(call_expression function: [(identifier) @r.call (field_expression field: (field_identifier) @r.call)])
(type_identifier) @r.type
(argument_list (identifier) @r.read)
(init_declarator value: (identifier) @r.read)
(initializer_list (identifier) @r.read)
(initializer_pair value: (identifier) @r.read)
(preproc_include) @import
(comment) @comment

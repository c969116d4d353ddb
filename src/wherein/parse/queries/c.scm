[(preproc_ifdef) (preproc_if) (preproc_else) (declaration_list)] @inside

; top
(translation_unit) @inside
(translation_unit [(struct_specifier name: (type_identifier) @name !body) (union_specifier name: (type_identifier) @name !body)] @d.declaration)

; inside
(declaration declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))])]) @d.declaration
(declaration declarator: [
  (identifier) @name
  (init_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name)
    (array_declarator declarator: (identifier) @name)])
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (identifier) @name)]) @d.variable

(preproc_ifdef (declaration declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))])]) @d.declaration)
(preproc_ifdef (declaration declarator: [
  (identifier) @name
  (init_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name)
    (array_declarator declarator: (identifier) @name)])
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (identifier) @name)]) @d.variable)
(preproc_if (declaration declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))])]) @d.declaration)
(preproc_if (declaration declarator: [
  (identifier) @name
  (init_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name)
    (array_declarator declarator: (identifier) @name)])
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (identifier) @name)]) @d.variable)
(preproc_else (declaration declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))])]) @d.declaration)
(preproc_else (declaration declarator: [
  (identifier) @name
  (init_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name)
    (array_declarator declarator: (identifier) @name)])
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (identifier) @name)]) @d.variable)
(declaration_list (declaration declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))])]) @d.declaration)
(declaration_list (declaration declarator: [
  (identifier) @name
  (init_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name)
    (array_declarator declarator: (identifier) @name)])
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (identifier) @name)]) @d.variable)

; top
(translation_unit (declaration declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))])]) @d.declaration)
(translation_unit (declaration declarator: [
  (identifier) @name
  (init_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name)
    (array_declarator declarator: (identifier) @name)])
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (identifier) @name)]) @d.variable)
(translation_unit [(struct_specifier name: (type_identifier) @name !body) (union_specifier name: (type_identifier) @name !body)] @d.declaration)

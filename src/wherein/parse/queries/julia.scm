(module_definition name: (identifier) @name) @d.module
(function_definition (signature [
  (call_expression . [(identifier) @name (field_expression) @qualified])
  (typed_expression . (call_expression . [(identifier) @name (field_expression) @qualified]))
  (where_expression . [(call_expression . [(identifier) @name (field_expression) @qualified])
    (typed_expression . (call_expression . [(identifier) @name (field_expression) @qualified]))])
  (identifier) @name])) @d.function
(assignment . [
  (call_expression . [(identifier) @name (field_expression) @qualified])
  (typed_expression . (call_expression . [(identifier) @name (field_expression) @qualified]))
  (where_expression . (call_expression . [(identifier) @name (field_expression) @qualified]))]) @d.function
(macro_definition (signature (call_expression . (identifier) @name))) @d.macro
(struct_definition (type_head [(identifier) @name
  (parametrized_type_expression . (identifier) @name)
  (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])])) @d.struct
(abstract_definition (type_head [(identifier) @name
  (parametrized_type_expression . (identifier) @name)
  (binary_expression . [(identifier) @name (parametrized_type_expression . (identifier) @name)])])) @d.type
(primitive_definition (type_head [(identifier) @name (binary_expression . (identifier) @name)])) @d.type
(const_statement (assignment . (identifier) @name)) @d.constant
(type_head (binary_expression (operator) [(identifier) @r.inherit (parametrized_type_expression . (identifier) @r.inherit)]))
(call_expression . [(identifier) @r.call (field_expression (identifier) @r.call .)])
(broadcast_call_expression . [(identifier) @r.call (field_expression (identifier) @r.call .)])
(macrocall_expression (macro_identifier (identifier) @r.call))
(typed_expression (_) [(identifier) @r.type (parametrized_type_expression . (identifier) @r.type)] .)
(argument_list (identifier) @r.read)
[(using_statement) (import_statement)] @import
((call_expression . (identifier) @_i) @import (#eq? @_i "include"))
(block (string_literal) @doc . [(function_definition) (struct_definition) (assignment) (macro_definition) (abstract_definition) (const_statement)])
[(line_comment) (block_comment)] @comment

; top
(source_file (string_literal) @doc . [(function_definition) (struct_definition) (assignment) (macro_definition) (module_definition) (abstract_definition) (const_statement)])

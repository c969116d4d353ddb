[(preproc_ifdef) (preproc_if) (preproc_else) (declaration_list)] @inside
(namespace_definition name: [(namespace_identifier) @name (nested_namespace_specifier) @qualified]) @d.namespace
(class_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name) (qualified_identifier) @qualified] body: (_)) @d.class
(struct_specifier name: [(template_type name: (type_identifier) @name) (qualified_identifier) @qualified] body: (_)) @d.struct
(concept_definition name: (identifier) @name) @d.type
(alias_declaration name: (type_identifier) @name) @d.type
(function_definition declarator: [
  (function_declarator declarator: [
    (field_identifier) @name (destructor_name) @name (operator_name) @name (qualified_identifier) @qualified])
  (reference_declarator (function_declarator declarator: [
    (identifier) @name (field_identifier) @name (operator_name) @name (qualified_identifier) @qualified]))
  (pointer_declarator declarator: (function_declarator declarator: [
    (field_identifier) @name (operator_name) @name (qualified_identifier) @qualified]))
  (pointer_declarator declarator: (reference_declarator (function_declarator declarator: (qualified_identifier) @qualified)))
  (operator_cast type: (_) @name)
  (qualified_identifier name: (operator_cast)) @qualified]) @d.function
(field_declaration_list [(field_declaration declarator: [
  (function_declarator declarator: [(field_identifier) @name (operator_name) @name (destructor_name) @name])
  (pointer_declarator declarator: (function_declarator declarator: [(field_identifier) @name (operator_name) @name]))
  (reference_declarator (function_declarator declarator: [(field_identifier) @name (operator_name) @name]))]) @d.declaration
  (declaration declarator: (function_declarator declarator: [(identifier) @name (destructor_name) @name])) @d.declaration
  (template_declaration (declaration declarator: (function_declarator declarator: (identifier) @name)) @d.declaration)])
(base_class_clause [(type_identifier) @r.inherit (template_type name: (type_identifier) @r.inherit)
  (qualified_identifier name: [(type_identifier) @r.inherit (template_type name: (type_identifier) @r.inherit)])])
(call_expression function: [
  (qualified_identifier name: [(identifier) @r.call (template_function name: (identifier) @r.call)
    (qualified_identifier name: [(identifier) @r.call (template_function name: (identifier) @r.call)
      (qualified_identifier name: (identifier) @r.call)])])
  (template_function name: (identifier) @r.call)
  (field_expression field: (template_method name: (field_identifier) @r.call))])
(new_expression type: [(type_identifier) @r.call (template_type name: (type_identifier) @r.call)
  (qualified_identifier name: (type_identifier) @r.call)])
(declaration_list [(class_specifier name: (type_identifier) @name !body) (struct_specifier name: (type_identifier) @name !body)] @d.declaration)
(template_parameter_list) @leading

; top
(translation_unit) @inside
(translation_unit [(class_specifier name: (type_identifier) @name !body) (struct_specifier name: (type_identifier) @name !body)] @d.declaration)

; inside
(declaration declarator: [
  (function_declarator declarator: [(identifier) @name (qualified_identifier) @qualified (operator_name) @name])
  (pointer_declarator declarator: [
    (function_declarator declarator: [(identifier) @name (qualified_identifier) @qualified (operator_name) @name])
    (pointer_declarator declarator: (function_declarator declarator: [(identifier) @name (qualified_identifier) @qualified (operator_name) @name]))])
  (reference_declarator (function_declarator declarator: [(identifier) @name (qualified_identifier) @qualified (operator_name) @name]))]) @d.declaration
(declaration declarator: [
  (identifier) @name
  (init_declarator declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name)
    (array_declarator declarator: (identifier) @name)])
  (array_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (identifier) @name)]) @d.variable

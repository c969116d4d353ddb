(package_clause (package_identifier) @name) @d.package
(function_declaration name: (identifier) @name) @d.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner
    (generic_type type: (type_identifier) @owner)
    (pointer_type [(type_identifier) @owner (generic_type type: (type_identifier) @owner)])]))
  name: (field_identifier) @name) @d.method
(type_spec name: (type_identifier) @name) @d.type
(type_spec name: (type_identifier) @name type: (struct_type)) @d.struct
(type_spec name: (type_identifier) @name type: (interface_type)) @d.interface
(type_alias name: (type_identifier) @name) @d.type
(interface_type (method_elem name: (field_identifier) @name) @d.declaration)
(call_expression function: [(identifier) @r.call (selector_expression field: (field_identifier) @r.call)
  (type_instantiation_expression type: (type_identifier) @r.call)])
(struct_type (field_declaration_list (field_declaration !name type: [(type_identifier) @r.inherit
  (qualified_type name: (type_identifier) @r.inherit)
  (pointer_type [(type_identifier) @r.inherit (qualified_type name: (type_identifier) @r.inherit)])])))
(type_identifier) @r.type
(argument_list (identifier) @r.read)
(import_declaration) @import
(comment) @comment

; top
(source_file (const_declaration (const_spec name: (identifier) @name) @d.constant))
(source_file (var_declaration (var_spec name: (identifier) @name) @d.variable))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @d.variable)))

(abstract_class_declaration name: (_) @name) @d.class
(interface_declaration name: (_) @name) @d.interface
(type_alias_declaration name: (_) @name) @d.type
(enum_declaration name: (_) @name) @d.enum
(enum_body [name: (property_identifier) @name (enum_assignment name: (property_identifier) @name)] @d.constant)
(module name: [(identifier) @name (nested_identifier) @qualified (string) @name]) @d.namespace
(internal_module name: [(identifier) @name (nested_identifier) @qualified (string) @name]) @d.namespace
(function_signature name: (identifier) @name) @d.declaration
(method_signature name: (property_identifier) @name) @d.declaration
(abstract_method_signature name: (property_identifier) @name) @d.declaration
(interface_body (property_signature name: (property_identifier) @name) @d.field)
(public_field_definition name: [(property_identifier) (private_property_identifier)] @name) @d.field
(public_field_definition name: [(property_identifier) (private_property_identifier)] @name
  value: [(arrow_function) (function_expression)]) @d.method
(ambient_declaration [(variable_declaration (variable_declarator name: (identifier) @name) @d.declaration)
  (lexical_declaration (variable_declarator name: (identifier) @name) @d.declaration)])
(class_heritage (extends_clause value: [(identifier) @r.inherit (member_expression property: (property_identifier) @r.inherit)]))
(implements_clause [(type_identifier) @r.inherit (generic_type name: (type_identifier) @r.inherit)])
(extends_type_clause [(type_identifier) @r.inherit (generic_type name: (type_identifier) @r.inherit)])
(type_annotation [(type_identifier) @r.type (generic_type name: (type_identifier) @r.type)])
(generic_type name: (type_identifier) @r.type)
(type_arguments (type_identifier) @r.type)
(union_type (type_identifier) @r.type)
(array_type (type_identifier) @r.type)
(import_alias) @import
(import_statement (import_require_clause)) @import
(type_alias_declaration value: (type_identifier) @r.type)
(intersection_type (type_identifier) @r.type)
(index_signature type: (type_annotation (type_identifier) @r.type))

(package_declaration (_) @name) @d.package
(class_declaration name: (identifier) @name) @d.class
(record_declaration name: (identifier) @name) @d.class
(interface_declaration name: (identifier) @name) @d.interface
(annotation_type_declaration name: (identifier) @name) @d.interface
(enum_declaration name: (identifier) @name) @d.enum
(method_declaration name: (identifier) @name) @d.declaration
(method_declaration name: (identifier) @name body: (_)) @d.method
(enum_constant name: (identifier) @name) @d.constant
(annotation_type_element_declaration name: (identifier) @name) @d.declaration
(constructor_declaration name: (identifier) @name) @d.constructor
(compact_constructor_declaration name: (identifier) @name) @d.constructor
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @d.field
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @d.constant
(method_invocation name: (identifier) @r.call)
(object_creation_expression type: [
  (type_identifier) @r.call
  (generic_type (type_identifier) @r.call)
  (scoped_type_identifier (type_identifier) @r.call .)])
(method_reference (identifier) @r.read .)
(superclass [(type_identifier) @r.inherit (generic_type . (type_identifier) @r.inherit)
  (scoped_type_identifier (type_identifier) @r.inherit .)])
(type_list [(type_identifier) @r.inherit (generic_type . (type_identifier) @r.inherit)
  (scoped_type_identifier (type_identifier) @r.inherit .)])
(type_identifier) @r.type
(marker_annotation name: (identifier) @r.call)
(annotation name: (identifier) @r.call)
(argument_list (identifier) @r.read)
(import_declaration) @import
[(line_comment) (block_comment)] @comment

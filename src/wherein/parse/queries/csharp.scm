(namespace_declaration name: [(identifier) @name (qualified_name) @qualified]) @d.namespace
(file_scoped_namespace_declaration name: [(identifier) @name (qualified_name) @qualified]) @d.namespace
(class_declaration name: (identifier) @name) @d.class
(record_declaration name: (identifier) @name) @d.class
(interface_declaration name: (identifier) @name) @d.interface
(struct_declaration name: (identifier) @name) @d.struct
(enum_declaration name: (identifier) @name) @d.enum
(enum_member_declaration name: (identifier) @name) @d.constant
(delegate_declaration name: (identifier) @name) @d.type
(method_declaration name: (identifier) @name) @d.declaration
(method_declaration name: (identifier) @name body: (_)) @d.method
(local_function_statement name: (identifier) @name) @d.function
(constructor_declaration name: (identifier) @name) @d.constructor
(property_declaration name: (identifier) @name) @d.field
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @d.event
(event_declaration name: (identifier) @name) @d.event
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @d.field
(field_declaration (modifier "const") (variable_declaration (variable_declarator name: (identifier) @name))) @d.constant
(base_list [(identifier) @r.inherit (generic_name . (identifier) @r.inherit) (qualified_name name: (identifier) @r.inherit)])
(invocation_expression function: [
  (identifier) @r.call
  (generic_name . (identifier) @r.call)
  (member_access_expression name: [(identifier) @r.call (generic_name . (identifier) @r.call)])
  (conditional_access_expression (member_binding_expression name: [(identifier) @r.call (generic_name . (identifier) @r.call)]))])
(object_creation_expression type: [(identifier) @r.call (generic_name . (identifier) @r.call) (qualified_name name: (identifier) @r.call)])
(attribute name: (identifier) @r.call)
(parameter type: [(identifier) @r.type (generic_name . (identifier) @r.type) (nullable_type (identifier) @r.type)])
(variable_declaration type: [(identifier) @r.type (generic_name . (identifier) @r.type) (nullable_type (identifier) @r.type)])
(method_declaration returns: [(identifier) @r.type (generic_name . (identifier) @r.type)])
(property_declaration type: [(identifier) @r.type (generic_name . (identifier) @r.type) (nullable_type (identifier) @r.type)])
(type_argument_list (identifier) @r.type)
(argument (identifier) @r.read)
(using_directive) @import
(comment) @comment

(class_declaration declaration_kind: "class" name: (type_identifier) @name) @d.class
(class_declaration declaration_kind: "actor" name: (type_identifier) @name) @d.class
(class_declaration declaration_kind: "struct" name: (type_identifier) @name) @d.struct
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @d.enum
(class_declaration declaration_kind: "extension" name: (user_type) @qualified) @scope
(protocol_declaration name: (type_identifier) @name) @d.interface
(function_declaration name: (simple_identifier) @name) @d.function
(protocol_function_declaration name: (simple_identifier) @name) @d.declaration
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @d.declaration
(init_declaration name: "init" @name) @d.constructor
(subscript_declaration "subscript" @name) @d.method
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @d.field)
(enum_class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @d.field)
(enum_entry name: (simple_identifier) @name) @d.constant
(typealias_declaration name: (type_identifier) @name) @d.type
(associatedtype_declaration name: (type_identifier) @name) @d.type
(inheritance_specifier inherits_from: (user_type (type_identifier) @r.inherit))
(call_expression . [(simple_identifier) @r.call (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @r.call))])
(user_type (type_identifier) @r.type)
(value_argument value: (simple_identifier) @r.read)
(attribute (user_type (type_identifier) @r.call))
(import_declaration) @import
[(comment) (multiline_comment)] @comment

; top
(source_file (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @d.variable)

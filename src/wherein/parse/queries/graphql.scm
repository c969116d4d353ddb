(object_type_definition (name) @name) @d.type
(object_type_extension (name) @name) @d.type
(input_object_type_definition (name) @name) @d.type
(interface_type_definition (name) @name) @d.interface
(enum_type_definition (name) @name) @d.enum
(enum_value_definition (enum_value (name) @name)) @d.constant
(union_type_definition (name) @name) @d.union
(scalar_type_definition (name) @name) @d.type
(directive_definition (name) @name) @d.macro
(operation_definition (name) @name) @d.function
(fragment_definition (fragment_name (name) @name)) @d.function
(object_type_definition (fields_definition (field_definition (name) @name) @d.field))
(interface_type_definition (fields_definition (field_definition (name) @name) @d.field))
(implements_interfaces (named_type (name) @r.inherit))
(named_type (name) @r.type)
(fragment_spread (fragment_name (name) @r.read))
(comment) @comment
(description) @doc

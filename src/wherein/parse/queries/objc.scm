(class_interface . (identifier) @name) @d.interface
(class_interface . (identifier) category: (identifier)) @d.interface
(class_implementation . (identifier) @name) @d.class
(protocol_declaration . (identifier) @name) @d.trait
(method_declaration . (method_type) . (identifier) @name) @d.declaration
(method_definition . (method_type) . (identifier) @name) @d.method
(property_declaration (struct_declaration (struct_declarator [(identifier) @name (pointer_declarator declarator: (identifier) @name)]))) @d.field
(class_interface superclass: (identifier) @r.inherit)
(message_expression method: (identifier) @r.call)
(message_expression receiver: (identifier) @r.type)

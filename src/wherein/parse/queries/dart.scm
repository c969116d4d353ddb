(class_definition name: (identifier) @name) @d.class
(mixin_declaration (mixin) . (identifier) @name) @d.class
(enum_declaration name: (identifier) @name) @d.enum
(enum_constant name: (identifier) @name) @d.constant
(extension_declaration name: (identifier) @name) @d.extension
(type_alias . (type_identifier) @name) @d.type
(method_signature (function_signature name: (identifier) @name) @d.function)
(method_signature (getter_signature name: (identifier) @name) @d.function)
(method_signature (setter_signature name: (identifier) @name) @d.function)
(lambda_expression parameters: (function_signature name: (identifier) @name) @d.function)
(declaration (function_signature name: (identifier) @name) @d.declaration)
(declaration (getter_signature name: (identifier) @name) @d.declaration)
(constructor_signature name: (identifier) @name . parameters: (formal_parameter_list)) @d.constructor
(factory_constructor_signature (identifier) @name . (formal_parameter_list)) @d.constructor
(operator_signature [(binary_operator) (tilde_operator)] @name) @d.method
(declaration (static_final_declaration_list (static_final_declaration . (identifier) @name))) @d.field
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name))) @d.field
(function_body) @tail
(superclass (type_identifier) @r.inherit)
(mixins (type_identifier) @r.inherit)
(interfaces (type_identifier) @r.inherit)
(mixin_declaration "on" . (type_identifier) @r.inherit)
((identifier) @r.call . (selector (argument_part)))
((selector [(unconditional_assignable_selector (identifier) @r.call) (conditional_assignable_selector (identifier) @r.call)]) . (selector (argument_part)))
(new_expression (type_identifier) @r.call)
(const_object_expression (type_identifier) @r.call)
(annotation name: (identifier) @r.call)
(type_identifier) @r.type
(argument . (identifier) @r.read .)
[(import_or_export) (part_directive)] @import
(annotation) @leading
[(comment) (documentation_comment)] @comment

; top
(program (static_final_declaration_list (static_final_declaration . (identifier) @name) @d.variable))
(program (initialized_identifier_list (initialized_identifier . (identifier) @name) @d.variable))
(program (function_signature name: (identifier) @name) @d.function)
(program (getter_signature name: (identifier) @name) @d.function)
(program (setter_signature name: (identifier) @name) @d.function)

(package_header (qualified_identifier) @name) @d.package
(class_declaration name: (identifier) @name) @d.class
(class_declaration "interface" name: (identifier) @name) @d.interface
(class_declaration (modifiers (class_modifier "enum")) name: (identifier) @name) @d.enum
(object_declaration name: (identifier) @name) @d.object
(companion_object name: (identifier) @name) @d.object
(function_declaration name: (identifier) @name) @d.function
(function_declaration . (user_type (identifier) @owner .) name: (identifier) @name) @d.function
(function_declaration . (type_parameters) . (user_type (identifier) @owner) name: (identifier) @name) @d.function
(function_declaration . (modifiers) . (user_type (identifier) @owner) name: (identifier) @name) @d.function
(class_body (property_declaration (variable_declaration (identifier) @name)) @d.field)
(property_declaration (modifiers (property_modifier "const")) (variable_declaration (identifier) @name)) @d.constant
(enum_entry (identifier) @name) @d.constant
(type_alias type: (identifier) @name) @d.type
(delegation_specifier [
  (user_type (identifier) @r.inherit)
  (constructor_invocation (user_type (identifier) @r.inherit))])
(call_expression . [(identifier) @r.call (navigation_expression (identifier) @r.call .)])
(user_type (identifier) @r.type)
(value_argument (identifier) @r.read)
(annotation [(user_type (identifier) @r.call) (constructor_invocation (user_type (identifier) @r.call))])
(import) @import
[(line_comment) (block_comment)] @comment

; top
(source_file (property_declaration (variable_declaration (identifier) @name)) @d.variable)

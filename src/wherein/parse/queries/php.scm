(namespace_definition name: (namespace_name) @qualified) @d.namespace
(class_declaration name: (name) @name) @d.class
(interface_declaration name: (name) @name) @d.interface
(trait_declaration name: (name) @name) @d.trait
(enum_declaration name: (name) @name) @d.enum
(enum_case name: (name) @name) @d.constant
(method_declaration name: (name) @name) @d.declaration
(method_declaration name: (name) @name body: (_)) @d.method
(function_definition name: (name) @name) @d.function
(const_declaration (const_element . (name) @name)) @d.constant
(property_declaration (property_element name: (variable_name (name) @name))) @d.field
(property_promotion_parameter name: (variable_name (name) @name)) @d.field
((function_call_expression function: (name) @_f arguments: (arguments . (argument (string (string_content) @name)))) @d.constant
  (#eq? @_f "define"))
(base_clause [(name) @r.inherit (qualified_name (name) @r.inherit)])
(class_interface_clause [(name) @r.inherit (qualified_name (name) @r.inherit)])
(use_declaration [(name) @r.inherit (qualified_name (name) @r.inherit)])
(function_call_expression function: [(name) @r.call (qualified_name (name) @r.call)])
(member_call_expression name: (name) @r.call)
(nullsafe_member_call_expression name: (name) @r.call)
(scoped_call_expression name: (name) @r.call)
(scoped_call_expression scope: [(name) @r.type (qualified_name (name) @r.type)])
(class_constant_access_expression . [(name) @r.type (qualified_name (name) @r.type)])
(object_creation_expression [(name) @r.call (qualified_name (name) @r.call)])
(named_type [(name) @r.type (qualified_name (name) @r.type)])
(attribute (name) @r.call)
[(namespace_use_declaration) (include_expression) (include_once_expression) (require_expression) (require_once_expression)] @import
(comment) @comment

; top
(program (expression_statement (assignment_expression left: (variable_name (name) @name)
  right: [(anonymous_function) (arrow_function)]) @d.function))

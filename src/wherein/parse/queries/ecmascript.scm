(function_declaration name: (identifier) @name) @d.function
(generator_function_declaration name: (identifier) @name) @d.function
(class_declaration name: (_) @name) @d.class
(class name: (_) @name) @d.class
(method_definition name: [(property_identifier) (private_property_identifier) (string)] @name) @d.method
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @d.function
(variable_declarator name: (identifier) @name value: (class)) @d.class
(pair key: [(property_identifier) (string)] @name value: [(arrow_function) (function_expression)]) @d.method
(assignment_expression left: [(identifier) @name (member_expression) @qualified]
  right: [(arrow_function) (function_expression) (class)]) @d.function
(call_expression function: [(identifier) @r.call
  (member_expression property: [(property_identifier) (private_property_identifier)] @r.call)])
(call_expression function: (import) @r.call)
(new_expression constructor: [(identifier) @r.call (member_expression property: (property_identifier) @r.call)])
(arguments (identifier) @r.read)
[(import_statement) (export_statement source: (string))] @import
(comment) @comment
(decorator) @leading
(decorator [(identifier) @r.call (call_expression function: (identifier) @r.call)])

; top
(program [(lexical_declaration (variable_declarator name: (identifier) @name) @d.variable)
          (variable_declaration (variable_declarator name: (identifier) @name) @d.variable)
          (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name) @d.variable))])

(function_declaration name: [(identifier) @name (dot_index_expression) @qualified (method_index_expression) @qualified]) @d.function
((assignment_statement (variable_list . name: [(identifier) @name (dot_index_expression) @qualified] .)
  (expression_list . value: (function_definition))) @d.function)
(field name: (identifier) @name value: (function_definition)) @d.method
(function_call name: [
  (identifier) @r.call
  (dot_index_expression field: (identifier) @r.call)
  (method_index_expression method: (identifier) @r.call)])
(arguments (identifier) @r.read)
(comment) @comment

; top
(chunk (variable_declaration (assignment_statement (variable_list name: (identifier) @name)) @d.variable))
(chunk (assignment_statement (variable_list name: (identifier) @name)) @d.variable)
(chunk (assignment_statement (variable_list name: (dot_index_expression) @qualified)) @d.variable)

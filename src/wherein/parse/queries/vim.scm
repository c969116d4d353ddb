(function_definition (function_declaration name: [(identifier) @name (scoped_identifier (identifier) @name)])) @d.function
(command_statement name: (command_name) @name) @d.function
(call_expression function: [(identifier) @r.call (scoped_identifier (identifier) @r.call)])
(comment) @comment

; top
(script_file (let_statement . [(identifier) @name (scoped_identifier (identifier) @name)]) @d.variable)

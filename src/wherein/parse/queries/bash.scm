(function_definition name: (word) @name) @d.function
((command name: (command_name (word) @_n) argument: (concatenation . (word) @name)) @d.function (#eq? @_n "alias"))
(command name: (command_name (word) @r.call))
((command name: (command_name (word) @_n)) @import (#any-of? @_n "source" "."))
(comment) @comment

; top
(program (variable_assignment name: (variable_name) @name) @d.variable)
(program (declaration_command (variable_assignment name: (variable_name) @name) @d.variable))

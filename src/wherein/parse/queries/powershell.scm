(function_statement (function_name) @name) @d.function
(class_statement . (simple_name) @name) @d.class
(enum_statement . (simple_name) @name) @d.enum
(class_method_definition (simple_name) @name) @d.method
(class_property_definition (variable) @name) @d.field
(command command_name: (command_name) @r.call)
((command command_name: (command_name) @_c) @import (#any-of? @_c "Import-Module" "using"))
(comment) @comment

(package_statement (package_name) @qualified) @d.package
(function_definition name: (identifier) @name) @d.function
(function_definition_without_sub name: (identifier) @name) @d.function
(use_constant_statement constant: (identifier) @name) @d.constant
(call_expression_with_bareword function_name: (identifier) @r.call)
(method_invocation function_name: (identifier) @r.call)
(use_parent_statement (_) @r.inherit)
[(use_no_statement) (require_statement) (use_parent_statement)] @import
[(comments) (pod_statement)] @comment

; top
(source_file (binary_expression variable: (variable_declaration variable_name: (_) @name)) @d.variable)

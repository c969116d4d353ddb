(rule_set (selectors) @name) @d.selector
(keyframes_statement (keyframes_name) @name) @d.selector
(mixin_statement (name) @name) @d.macro
(function_statement (name) @name) @d.function
(placeholder (name) @name) @d.selector
(include_statement (identifier) @r.call)
(call_expression (function_name) @r.call)
[(import_statement) (use_statement) (forward_statement)] @import
(comment) @comment

; top
(stylesheet (declaration (variable_name) @name) @d.variable)

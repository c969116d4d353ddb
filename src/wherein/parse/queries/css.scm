(rule_set (selectors) @name) @d.selector
(keyframes_statement (keyframes_name) @name) @d.selector
(import_statement) @import
(comment) @comment

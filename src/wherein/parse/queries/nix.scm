(binding attrpath: (attrpath) @name expression: (function_expression)) @d.function
(binding attrpath: (attrpath) @name) @d.key
(apply_expression function: (variable_expression name: (identifier) @r.call))
(apply_expression function: (select_expression attrpath: (attrpath attr: (identifier) @r.call .)))
(comment) @comment

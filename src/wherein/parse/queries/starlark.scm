(function_definition name: (identifier) @name) @d.function
(call function: [(identifier) @r.call (attribute attribute: (identifier) @r.call)])
((call arguments: (argument_list (keyword_argument name: (identifier) @_n value: (string (string_content) @name)))) @d.target (#eq? @_n "name"))
(function_definition body: (block . (expression_statement (string) @doc)))
(comment) @comment

; top
(module (expression_statement (assignment left: (identifier) @name) @d.variable))

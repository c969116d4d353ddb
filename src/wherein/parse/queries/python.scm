(function_definition name: (identifier) @name) @d.function
(class_definition name: (identifier) @name) @d.class
(class_definition superclasses: (argument_list [
  (identifier) @r.inherit
  (attribute attribute: (identifier) @r.inherit)
  (subscript value: (identifier) @r.inherit)
  (subscript value: (attribute attribute: (identifier) @r.inherit))]))
(class_definition body: (block (expression_statement (assignment left: (identifier) @name) @d.field)))
(type_alias_statement left: (type (identifier) @name)) @d.type
(call function: [(identifier) @r.call (attribute attribute: (identifier) @r.call)])
(decorator [(identifier) @r.call (attribute attribute: (identifier) @r.call)]) @leading
(decorator) @leading
(type [(identifier) @r.type (attribute attribute: (identifier) @r.type)
       (generic_type (identifier) @r.type)
       (subscript value: (identifier) @r.type)
       (binary_operator (identifier) @r.type)])
(raise_statement (identifier) @r.read)
(except_clause value: (identifier) @r.read)
(argument_list (identifier) @r.read)
(keyword_argument value: (identifier) @r.read)
[(import_statement) (import_from_statement) (future_import_statement)] @import
(comment) @comment
(function_definition body: (block . (expression_statement (string) @doc)))
(class_definition body: (block . (expression_statement (string) @doc)))

; top
(module (expression_statement (assignment left: (identifier) @name) @d.variable))
(module (expression_statement (assignment left: (pattern_list (identifier) @name)) @d.variable))
(module . (expression_statement (string) @doc))
(module . (comment)* . (expression_statement (string) @doc))

(binary_operator lhs: [(identifier) @name (string) @name] operator: ["<-" "=" "<<-"] rhs: (function_definition)) @d.function
(binary_operator lhs: (extract_operator) @qualified operator: ["<-" "="] rhs: (function_definition)) @d.function
((binary_operator lhs: (identifier) @name operator: ["<-" "="] rhs: (call function: [(identifier) @_f (namespace_operator rhs: (identifier) @_f)])) @d.class
  (#any-of? @_f "R6Class" "setRefClass" "setClass" "new_class"))
(argument name: (identifier) @name value: (function_definition)) @d.function
((call function: (identifier) @_f arguments: (arguments . (argument value: (string (string_content) @name)))) @d.function
  (#any-of? @_f "setGeneric" "setMethod" "setReplaceMethod" "setValidity"))
((call function: (identifier) @_f arguments: (arguments . (argument value: (string (string_content) @name)))) @d.class
  (#any-of? @_f "setClass" "setRefClass" "setClassUnion"))
((call function: (identifier) @_f arguments: (arguments (argument name: (identifier) @_i value: [(identifier) @r.inherit (string (string_content) @r.inherit)]))) (#any-of? @_f "R6Class" "setClass") (#any-of? @_i "inherit" "contains"))
(call function: [(identifier) @r.call (namespace_operator rhs: (identifier) @r.call) (extract_operator rhs: (identifier) @r.call)])
(argument value: (identifier) @r.read)
(comment) @comment

; top
(program (binary_operator lhs: (identifier) @name operator: ["<-" "=" "<<-"]) @d.variable)

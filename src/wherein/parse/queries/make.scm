(variable_assignment name: (word) @name) @d.variable
(define_directive name: (word) @name) @d.macro
(rule (targets (word) @name)) @d.target
(prerequisites (word) @r.read)
(include_directive) @import
(comment) @comment

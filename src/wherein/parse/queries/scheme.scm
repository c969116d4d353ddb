((list . (symbol) @_k . (list . (symbol) @name)) @d.function (#any-of? @_k "define" "define*" "define-syntax-rule"))
((list . (symbol) @_k . (symbol) @name) @d.variable (#any-of? @_k "define" "define-public" "defvar"))
((list . (symbol) @_k . (symbol) @name) @d.macro (#any-of? @_k "define-syntax"))
((list . (symbol) @_k . [(symbol) @name (list . (symbol) @name)]) @d.struct (#any-of? @_k "struct" "define-struct" "define-record-type"))
(list . (symbol) @r.call)
(comment) @comment

((list_lit . value: (sym_lit) @_k . value: (sym_lit) @name) @d.function
  (#any-of? @_k "defn" "defn-" "defmulti" "defmethod" "deftest" "defun"))
((list_lit . value: (sym_lit) @_k . value: (sym_lit) @name) @d.macro (#any-of? @_k "defmacro"))
((list_lit . value: (sym_lit) @_k . value: (sym_lit) @name) @d.variable (#any-of? @_k "def" "defonce"))
((list_lit . value: (sym_lit) @_k . value: (sym_lit) @name) @d.interface (#any-of? @_k "defprotocol" "definterface"))
((list_lit . value: (sym_lit) @_k . value: (sym_lit) @name) @d.struct (#any-of? @_k "defrecord" "deftype" "defstruct"))
((list_lit . value: (sym_lit) @_k . value: (sym_lit) @name) @d.module (#any-of? @_k "ns"))
(list_lit . value: (sym_lit) @r.call)
((list_lit . value: (kwd_lit) @_k) @import (#any-of? @_k ":require" ":use" ":import"))
(comment) @comment

((call target: (identifier) @_k (arguments . (alias) @qualified)) @d.module (#any-of? @_k "defmodule"))
((call target: (identifier) @_k (arguments . (alias) @qualified)) @d.interface (#any-of? @_k "defprotocol"))
((call target: (identifier) @_k (arguments . (alias) @r.inherit (keywords (pair value: (alias) @qualified)))) @scope (#any-of? @_k "defimpl"))
((call target: (identifier) @_k (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name) operator: "when")
    (binary_operator left: (identifier) @name operator: "when")
    (binary_operator left: (identifier) operator: _ @name right: (identifier))
  ])) @d.function (#any-of? @_k "def" "defp" "defdelegate" "defguard" "defguardp" "defn" "defnp"))
((call target: (identifier) @_k (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name) operator: "when")
  ])) @d.macro (#any-of? @_k "defmacro" "defmacrop"))
((call target: (identifier) @_k (arguments . (string (quoted_content) @name))) @d.function (#any-of? @_k "test"))
((unary_operator operator: "@" operand: (call target: (identifier) @name (arguments))) @d.constant )
((unary_operator operator: "@" operand: (call target: (identifier) @_k (arguments (binary_operator left: [(identifier) @name (call target: (identifier) @name)])))) @d.type
  (#any-of? @_k "type" "typep" "opaque"))
((unary_operator operator: "@" operand: (call target: (identifier) @_k (arguments (binary_operator left: (call target: (identifier) @name))))) @d.declaration
  (#any-of? @_k "callback" "macrocallback"))
((unary_operator operator: "@" operand: (call target: (identifier) @_k (arguments [(string) (sigil)] @doc))) @leading
  (#any-of? @_k "doc" "moduledoc" "typedoc"))
((unary_operator operator: "@" operand: (call target: (identifier) @_k)) @leading (#any-of? @_k "spec" "impl" "doc" "deprecated"))
((unary_operator operator: "@" operand: (call target: (identifier) @_k (arguments (alias) @r.inherit))) (#any-of? @_k "behaviour"))
(call target: [(identifier) @r.call (dot right: (identifier) @r.call)])
(struct (alias) @r.type)
((call target: (identifier) @_k (arguments)) @import (#any-of? @_k "alias" "import" "require" "use"))
(comment) @comment

(module name: [(constant) @name (scope_resolution) @qualified]) @d.module
(class name: [(constant) @name (scope_resolution) @qualified]) @d.class
(method name: (_) @name) @d.method
(singleton_method name: (_) @name) @d.method
(assignment left: (constant) @name) @d.constant
(assignment left: (scope_resolution) @qualified) @d.constant
(alias name: (_) @name) @d.method
((call method: (identifier) @_m arguments: (argument_list (simple_symbol) @name)) @d.field
  (#any-of? @_m "attr_accessor" "attr_reader" "attr_writer"))
((call method: (identifier) @_m arguments: (argument_list . (simple_symbol) @name)) @d.method
  (#any-of? @_m "define_method" "define_singleton_method" "alias_method" "scope" "delegate"))
(superclass [(constant) @r.inherit (scope_resolution name: (constant) @r.inherit)])
((call method: (identifier) @_m arguments: (argument_list [(constant) @r.inherit (scope_resolution name: (constant) @r.inherit)]))
  (#any-of? @_m "include" "extend" "prepend"))
(call method: (identifier) @r.call)
(call receiver: [(constant) @r.type (scope_resolution name: (constant) @r.type)])
(body_statement (identifier) @r.read)
(argument_list [(identifier) @r.read (constant) @r.read])
(comment) @comment

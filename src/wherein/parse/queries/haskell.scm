(header module: (module) @name) @d.module
(declarations [
  (function name: [(variable) (prefix_id)] @name) @d.function
  (function (infix operator: (_) @name)) @d.function
  (bind name: [(variable) (prefix_id)] @name) @d.function
  (signature name: [(variable) (prefix_id)] @name) @d.declaration])
(class_declarations [
  (function name: (variable) @name) @d.method
  (bind name: (variable) @name) @d.method
  (signature name: [(variable) (prefix_id)] @name) @d.declaration])
(instance_declarations [
  (function name: (variable) @name) @d.method
  (function (infix operator: (_) @name)) @d.method
  (bind name: (variable) @name) @d.method])
(instance name: (_) @r.inherit patterns: (type_patterns . [(name) @name (parens (apply constructor: [(name) @name (apply constructor: [(name) @name (apply constructor: (name) @name)])])) (list (name) @name)])) @scope
(data_type name: (name) @name) @d.type
(newtype name: (name) @name) @d.type
(type_synomym name: (name) @name) @d.type
(type_family name: (name) @name) @d.type
(data_family name: (name) @name) @d.type
(class name: (name) @name) @d.trait
(pattern_synonym (equation synonym: (apply function: (constructor) @name))) @d.constant
(apply function: [(variable) @r.call (qualified id: (variable) @r.call) (constructor) @r.call])
(infix [(variable) @r.read (qualified id: (variable) @r.read)])
(infix operator: (operator) @r.call)
(signature type: (name) @r.type)
(function parameter: (name) @r.type)
(function result: (name) @r.type)
(apply constructor: (name) @r.type)
(import) @import
[(comment) (haddock)] @comment

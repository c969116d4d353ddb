(module_attribute name: (atom) @name) @d.module
(fun_decl clause: (function_clause name: (atom) @name)) @d.function
(record_decl name: (atom) @name) @d.struct
(pp_define lhs: (macro_lhs name: (_) @name)) @d.macro
(type_alias name: (type_name name: (atom) @name)) @d.type
(opaque name: (type_name name: (atom) @name)) @d.type
(callback fun: (atom) @name) @d.declaration
(call expr: (atom) @r.call)
(call expr: (remote fun: (atom) @r.call))
(remote fun: (call expr: (atom) @r.call))
(behaviour_attribute name: (atom) @r.inherit)
[(import_attribute) (pp_include) (pp_include_lib)] @import
(comment) @comment
(spec) @leading

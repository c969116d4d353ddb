(module_definition (module_binding . (module_name) @name)) @d.module
(module_type_definition (module_type_name) @name) @d.interface
(structure (value_definition (let_binding pattern: (value_name) @name (parameter)) @d.function))
(structure (value_definition (let_binding pattern: (value_name) @name) @d.variable))
(value_definition (let_binding pattern: (value_name) @name body: [(fun_expression) (function_expression)]) @d.function)
(value_specification (value_name) @name) @d.declaration
(external (value_name) @name) @d.declaration
(type_definition (type_binding name: (type_constructor) @name) @d.type)
(exception_definition (constructor_declaration (constructor_name) @name)) @d.type
(class_definition (class_binding (class_name) @name)) @d.class
(method_definition (method_name) @name) @d.method
(application_expression function: (value_path (value_name) @r.call))
(method_invocation (method_name) @r.call)
(type_constructor_path (type_constructor) @r.type)
(inheritance_definition (class_path (class_name) @r.inherit))
(application_expression argument: (value_path (value_name) @r.read))
(constructor_path (constructor_name) @r.read)
[(open_module) (include_module)] @import
(comment) @comment

; top
(compilation_unit (value_definition (let_binding pattern: (value_name) @name (parameter)) @d.function))
(compilation_unit (value_definition (let_binding pattern: (value_name) @name) @d.variable))

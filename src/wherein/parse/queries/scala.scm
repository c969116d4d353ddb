(package_clause name: (package_identifier) @name) @d.package
(package_object name: (identifier) @name) @d.object
(class_definition name: (identifier) @name) @d.class
(object_definition name: (identifier) @name) @d.object
(trait_definition name: (identifier) @name) @d.trait
(enum_definition name: (identifier) @name) @d.enum
(simple_enum_case name: (identifier) @name) @d.constant
(full_enum_case name: (identifier) @name) @d.constant
(function_definition name: (_) @name) @d.function
(function_declaration name: (_) @name) @d.declaration
(type_definition name: (type_identifier) @name) @d.type
(given_definition name: (identifier) @name) @d.variable
(extension_definition parameters: (parameters (parameter type: [(type_identifier) @name (generic_type type: (type_identifier) @name)]))) @scope
(template_body [(val_definition pattern: (identifier) @name) @d.field (var_definition pattern: (identifier) @name) @d.field
  (val_declaration name: (identifier) @name) @d.declaration])
(extends_clause [(type_identifier) @r.inherit (generic_type type: (type_identifier) @r.inherit)])
(call_expression function: [(identifier) @r.call (field_expression field: (identifier) @r.call)
  (generic_function function: [(identifier) @r.call (field_expression field: (identifier) @r.call)])])
(infix_expression operator: (identifier) @r.call)
(instance_expression [(type_identifier) @r.call (generic_type type: (type_identifier) @r.call)])
(annotation name: (type_identifier) @r.call)
(type_identifier) @r.type
(arguments (identifier) @r.read)
(import_declaration) @import
[(comment) (block_comment)] @comment

; top
(compilation_unit [(val_definition pattern: (identifier) @name) @d.variable (var_definition pattern: (identifier) @name) @d.variable])

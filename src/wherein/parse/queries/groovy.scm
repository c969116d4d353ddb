(groovy_package (qualified_name) @name) @d.package
(class_definition name: (identifier) @name) @d.class
(function_definition function: (identifier) @name) @d.function
(function_declaration function: (identifier) @name) @d.declaration
(class_definition body: (closure (declaration name: (identifier) @name) @d.field))
(class_definition superclass: (identifier) @r.inherit)
(function_call function: [(identifier) @r.call (dotted_identifier (identifier) @r.call .)])
(groovy_import) @import
[(comment) (groovy_doc)] @comment

(create_table . (_)* (object_reference) @qualified) @d.table
(create_view (object_reference) @qualified) @d.view
(create_materialized_view (object_reference) @qualified) @d.view
(create_function (object_reference) @qualified) @d.function
(create_type (object_reference) @qualified) @d.type
(create_trigger . (_)* (keyword_trigger) . (object_reference) @qualified) @d.function
(create_index column: (identifier) @name) @d.field
(create_schema (identifier) @name) @d.namespace
(create_sequence (object_reference) @qualified) @d.variable
(relation (object_reference name: (identifier) @r.read))
(invocation (object_reference name: (identifier) @r.call))
(column_definition (object_reference name: (identifier) @r.read))
(constraint (object_reference name: (identifier) @r.read))
(insert (object_reference name: (identifier) @r.read))
(update (relation (object_reference name: (identifier) @r.read)))
(alter_table (object_reference name: (identifier) @r.read))
(create_index (object_reference name: (identifier) @r.read))
(create_trigger (object_reference name: (identifier) @r.read))
[(comment) (marginalia)] @comment

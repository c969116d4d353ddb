(field_definition property: [(property_identifier) (private_property_identifier)] @name) @d.field
(field_definition property: [(property_identifier) (private_property_identifier)] @name
  value: [(arrow_function) (function_expression)]) @d.method
(class_heritage [(identifier) @r.inherit (member_expression property: (property_identifier) @r.inherit)])

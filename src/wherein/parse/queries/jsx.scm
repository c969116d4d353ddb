(jsx_opening_element name: [(identifier) @r.call (member_expression property: (property_identifier) @r.call)])
(jsx_self_closing_element name: [(identifier) @r.call (member_expression property: (property_identifier) @r.call)])
